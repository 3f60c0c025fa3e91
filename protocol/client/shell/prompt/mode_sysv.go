//go:build unix && !(darwin || dragonfly || freebsd || netbsd || openbsd)

package prompt

import "golang.org/x/sys/unix"

// The requests that read and set a terminal's mode.
const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)
