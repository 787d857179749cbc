//go:build !linux

package enginebench

import "errors"

// MemoryFileSystem is known on Linux only.
func MemoryFileSystem(string) string { return "" }

// ResidentMB is known on Linux only.
func ResidentMB(int) (float64, error) {
	return 0, errors.New("the memory of a process is measured on Linux only")
}
