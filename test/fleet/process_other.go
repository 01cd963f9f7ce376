//go:build !linux

package fleet

import "syscall"

// childAttributes keep a terminal's Ctrl-C from children. They outlive a parent
// that is killed: only Linux can end them with it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
