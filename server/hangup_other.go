//go:build !linux

package server

import "net"

// hungUp reports whether the other side has closed a socket. Where the system cannot be asked, that shows when the
// socket is read or written.
func hungUp(net.Conn) bool { return false }

// hasInput reports whether something has come to a socket that is not read yet, where that can be known.
func hasInput(net.Conn) bool { return false }
