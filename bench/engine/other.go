//go:build !linux

package enginebench

import "errors"

// memoryFileSystem is known on Linux only.
func memoryFileSystem(string) string { return "" }

// residentMB is known on Linux only.
func residentMB(int) (float64, error) {
	return 0, errors.New("the memory of a process is measured on Linux only")
}
