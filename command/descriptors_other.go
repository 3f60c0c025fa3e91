//go:build !unix

package command

import (
	"net"

	"github.com/rs/zerolog"
)

// sparing is a listener as it is: here the system bounds descriptors in other ways.
type sparing struct {
	net.Listener
	_ zerolog.Logger
}
