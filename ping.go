package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// ping does a CQL handshake. It is the container's health check, so it also looks at CQLD_LISTEN.
func ping(ctx context.Context, c *console, args []string) error {
	f := newFlags("ping")
	timeout := f.Duration("timeout", 5*time.Second, "how long to wait for an answer")
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	addr = serverAddress(c, addr)
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	defer conn.Close()
	if _, err := conn.Supported(ctx); err != nil {
		return fmt.Errorf("ping %s: %w", addr, err)
	}
	fmt.Fprintf(c.stdout, "%s answers, protocol v%d\n", addr, conn.Version())
	return nil
}
