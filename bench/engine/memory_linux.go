package enginebench

import "syscall"

// MemoryFileSystem names the memory file system that a folder is on, or "".
func MemoryFileSystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	switch uint32(st.Type) {
	case 0x01021994:
		return "tmpfs"
	case 0x858458f6:
		return "ramfs"
	}
	return ""
}
