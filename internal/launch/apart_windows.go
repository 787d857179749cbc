package launch

import "syscall"

const detachedProcess = 0x00000008

// apart takes the daemon out of the starter's console: it lives on when the terminal or the agent ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
