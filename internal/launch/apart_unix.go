//go:build !windows

package launch

import "syscall"

// apart takes the daemon out of the starter's session: it lives on when the terminal or the agent ends.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
