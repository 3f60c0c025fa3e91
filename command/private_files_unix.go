//go:build unix

package command

import "syscall"

// privateFiles has files that the process makes from here on be readable by their owner alone: the engine below makes
// tables that everybody could read, and roles with their passwords are in them.
func (c *console) privateFiles() {
	if c.ends { // it is of the whole process
		syscall.Umask(0o077)
	}
}
