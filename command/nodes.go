package command

import (
	"context"

	"github.com/cqld/cqld/protocol/client/shell"
)

// listNodes is cqld nodes: it prints the nodes of a cluster.
func listNodes(ctx context.Context, c *console, args []string) error {
	f := newFlags("nodes")
	login := loginFlags(f)
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	if err := login.to(c, addr); err != nil {
		return err
	}
	return shell.Nodes(ctx, &login.Login, c.stdout)
}
