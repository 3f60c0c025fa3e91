package shell

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"

	"github.com/cqld/cqld/protocol/client"
)

// Ping connects to a server with a CQL handshake, and prints which version of the protocol it speaks. A server that
// asks for a password is there too. If config is not nil, it connects through TLS.
func Ping(ctx context.Context, addr string, config *tls.Config, out io.Writer) error {
	conn, err := client.Dial(ctx, addr, client.Options{TLS: config})
	if errors.Is(err, client.ErrPasswordWanted) {
		fmt.Fprintf(out, "%s answers and asks for a password\n", addr)
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Supported(ctx); err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	fmt.Fprintf(out, "%s answers, protocol v%d\n", addr, conn.Version())
	return nil
}
