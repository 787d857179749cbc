package gateway

import "syscall"

// ownGroup gives the child its own process group, and ends it when this process dies without saying so.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
