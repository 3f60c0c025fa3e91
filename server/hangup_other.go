//go:build !linux

package server

import "net"

// hungUp reports whether the client has closed a socket. Here the system cannot be asked: the next read or write shows
// it.
func hungUp(net.Conn) bool { return false }

// hasInput reports whether a socket has bytes that are not read yet. Here the system cannot be asked.
func hasInput(net.Conn) bool { return false }
