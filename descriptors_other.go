//go:build !unix

package main

import (
	"net"

	"github.com/rs/zerolog"
)

// sparing leaves it to the system how many descriptors there are.
type sparing struct {
	net.Listener
	_ zerolog.Logger
}
