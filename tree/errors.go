package tree

import "errors"

var errNoFolder = errors.New("a file stands where a folder is needed: remove it or choose another name")
