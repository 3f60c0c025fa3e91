package main

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// arrived is how many bytes a socket has that nobody has read.
func arrived(socket net.Conn) (n int) {
	raw, ok := socket.(syscall.Conn)
	if !ok {
		return 0
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return 0 // it is closed
	}
	_ = control.Control(func(fd uintptr) {
		n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	})
	return n
}
