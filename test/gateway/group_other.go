//go:build !linux

package gateway

import "syscall"

// ownGroup gives the child its own process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
