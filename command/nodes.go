package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cqld/cqld/protocol/client/shell"
)

// nodesCommand is cqld nodes: it prints the nodes of a cluster.
func nodesCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "nodes [ADDR]", GroupID: groupClient, Short: "List the nodes of a cluster",
		Long: "List the nodes of the cluster that the server at ADDR is in, as it sees them: whether they are up, their " +
			"addresses, datacenters, racks, tokens and versions.",
		Example: "nodes\nnodes 192.0.2.11:9042",
	}
	login := loginFlags(cmd.Flags(), "wait at most this long for the answer")
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if err := login.to(c, optional(args)); err != nil {
			return err
		}
		return shell.Nodes(ctx, &login.Login, c.stdout)
	})
}
