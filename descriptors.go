//go:build unix

package main

import (
	"net"
	"syscall"

	"github.com/rs/zerolog"
)

// spareDescriptors are how many file descriptors clients leave to the data, at most a quarter of what the process may have.
const spareDescriptors = 256

// sparing is a listener that refuses connections when few file descriptors are left: the storage engine needs some for
// the files that it makes, whatever clients do.
type sparing struct {
	net.Listener
	log zerolog.Logger
}

// Accept closes connections whose descriptor is too large. The system gives the smallest that is free.
func (l *sparing) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !tooMany(c) {
			return c, err
		}
		l.log.Warn().Stringer("client", c.RemoteAddr()).Msg("a connection is refused, as few file descriptors are left")
		_ = c.Close() // nothing was sent
	}
}

// tooMany reports whether a connection has a descriptor that is to be left to the data.
func tooMany(c net.Conn) bool {
	var limit syscall.Rlimit
	s, ok := c.(syscall.Conn)
	if !ok || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	most := uint64(limit.Cur)
	most -= min(spareDescriptors, most/4)
	over := false
	err = raw.Control(func(fd uintptr) { over = uint64(fd) >= most })
	return err == nil && over
}
