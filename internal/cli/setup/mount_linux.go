package setup

import "golang.org/x/sys/unix"

// The kinds of file systems that lie on another machine, by their numbers in statfs(2).
var networkKinds = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x5346414f: "AFS", 0x01021997: "9P", 0x00c36400: "Ceph",
}

// networkMount names the kind of network mount that a folder is on, or "".
func networkMount(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	return networkKinds[uint32(st.Type)] //nolint:unconvert // the type differs between machines
}
