package fleet

import "syscall"

// childAttributes make a child die with its parent, and keep a terminal's Ctrl-C
// from it: the fleet decides in which order things end.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
