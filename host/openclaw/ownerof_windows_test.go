package openclaw

import "testing"

func ownerOf(*testing.T, string) (uid, gid uint32) { return 65534, 65534 }
