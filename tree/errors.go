package tree

import "errors"

var (
	errNoFolder = errors.New("a file stands where a folder is needed: remove it or choose another name")
	errOther    = errors.New("a file cannot take the place of a folder, nor a folder that of a file: remove it first")
)
