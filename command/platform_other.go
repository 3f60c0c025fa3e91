//go:build !unix

package command

import (
	"context"
	"net"
	"runtime"

	"github.com/rs/zerolog"
)

// withParent fails: the system does not tell a process that its parent has ended.
func withParent(context.Context) (context.Context, context.CancelFunc, error) {
	return nil, nil, badFlag("with-parent", "true", "not available on "+runtime.GOOS)
}

// privateFiles does nothing: the permissions of the folder decide.
func (c *console) privateFiles() {}

// sparing accepts all connections: this system has no limit of file descriptors.
type sparing struct {
	net.Listener
	log      zerolog.Logger
	reserved int
}

// httpShare is how many connections of HTTP there may be.
func httpShare() int { return httpConnections }
