//go:build !linux

package wire

import "net"

// HungUp reports whether the client has closed a socket. Here the system cannot be asked: the next read or write shows
// it.
func HungUp(net.Conn) bool { return false }

// HasInput reports whether a socket has bytes that are not read yet. Here the system cannot be asked.
func HasInput(net.Conn) bool { return false }
