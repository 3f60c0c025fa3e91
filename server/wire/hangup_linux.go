package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// HungUp reports whether the client has closed a socket, even if there are bytes left to be read.
func HungUp(socket net.Conn) bool {
	got, ok := poll(socket, unix.POLLRDHUP)
	return ok && got&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// HasInput reports whether a socket has bytes that are not read yet.
func HasInput(socket net.Conn) bool {
	got, ok := poll(socket, unix.POLLIN)
	return ok && got&unix.POLLIN != 0
}

// poll asks for events of a socket. A socket that is closed on this side has POLLHUP. ok is false if the connection is
// no socket.
func poll(socket net.Conn, events int16) (got int16, ok bool) {
	raw, ok := socket.(syscall.Conn)
	if !ok {
		return 0, false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return unix.POLLHUP, true
	}
	err = control.Control(func(fd uintptr) {
		asked := []unix.PollFd{{Fd: int32(fd), Events: events}}
		if n, err := unix.Poll(asked, 0); n > 0 && err == nil {
			got = asked[0].Revents
		}
	})
	if err != nil {
		got = unix.POLLHUP
	}
	return got, true
}
