package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hungUp reports whether the other side has closed a socket, also if there is something left to be read before its end.
func hungUp(socket net.Conn) bool {
	raw, ok := socket.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = control.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if n, err := unix.Poll(poll, 0); n > 0 && err == nil {
			gone = poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
		}
	})
	return gone || err != nil
}
