package command

import (
	"context"
	"time"

	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/shell"
)

// listNodes is cqld nodes: it prints the nodes of a cluster.
func listNodes(ctx context.Context, c *console, args []string) error {
	f := newFlags("nodes")
	username := f.String("username", "", "the `role` to log in as, if the server asks")
	password := f.String("password", "", "its `password`; the environment does not show it to others")
	var secure clientTLS
	secure.addFlags(f)
	timeout := f.Duration("timeout", 30*time.Second, "the `time` to wait for all answers")
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	config, err := secure.config()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	o := client.Options{Username: *username, Password: *password, TLS: config}
	return shell.Nodes(ctx, serverAddress(c, addr), o, c.stdout)
}
