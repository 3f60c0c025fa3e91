//go:build !unix

package command

import (
	"context"
	"runtime"
)

// withParent refuses: the system does not tell a process that its parent has ended.
func withParent(context.Context) (context.Context, context.CancelFunc, error) {
	return nil, nil, badFlag("with-parent", "true", "not available on "+runtime.GOOS)
}
