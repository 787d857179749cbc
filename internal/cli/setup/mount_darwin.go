package setup

import (
	"slices"

	"golang.org/x/sys/unix"
)

// networkMount names the kind of network mount that a folder is on, or "".
func networkMount(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	kind := unix.ByteSliceToString(st.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, kind) {
		return kind
	}
	return ""
}
