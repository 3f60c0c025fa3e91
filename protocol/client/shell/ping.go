package shell

import (
	"context"
	"fmt"
	"io"

	"github.com/cqld/cqld/protocol/client"
)

// Ping connects to a server with a CQL handshake, and prints which version of the protocol it speaks.
func Ping(ctx context.Context, addr string, out io.Writer) error {
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	defer conn.Close()
	if _, err := conn.Supported(ctx); err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	fmt.Fprintf(out, "%s answers, protocol v%d\n", addr, conn.Version())
	return nil
}
