package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

// fault is something that is done to a cluster.
type fault struct {
	name  string
	node  int           // that does not serve meanwhile; noNode: all may
	lasts time.Duration // from its begin to its end
	begin func(*local.Cluster) error
	end   func(*local.Cluster) error
}

// noNode says that a fault is not one of a node.
const noNode = nodes - 1 // behind which comes the first node

// faults are all that is done, in this order. First the store commits with one request or asynchronously, where a node
// asks for it; from a little before it is killed for the first time on, in two phases.
var faults = []fault{
	killNode(0),
	killBetween("asynchronous phases", 1),
	{
		name: "PD killed", node: noNode, lasts: 2 * time.Second,
		begin: func(c *local.Cluster) error { return c.Placement.Kill() },
		end:   func(c *local.Cluster) error { return c.Placement.Start() },
	},
	{
		name: "store killed", node: noNode, lasts: asynchronousEnd + 2*time.Second,
		begin: func(c *local.Cluster) error {
			c.Store.Args = append(c.Store.Args, "-two-phases")
			said := c.Store.Said("two phases from now on")
			err := c.Store.Signal(syscall.SIGHUP)
			if err == nil {
				err = more(c, "two phases from now on", said)
			}
			time.Sleep(asynchronousEnd)
			return errors.Join(err, c.Store.Kill())
		},
		end: func(c *local.Cluster) error { return c.Store.Start() },
	},
	killNode(1),
	killBetween("two phases", 2),
	{
		name: "store stopped for 20 s", node: noNode, lasts: 20 * time.Second,
		begin: func(c *local.Cluster) error { return c.Store.Signal(syscall.SIGSTOP) },
		end:   func(c *local.Cluster) error { return c.Store.Signal(syscall.SIGCONT) },
	},
	{
		name: "node 1 cut off from the store", node: 0, lasts: 10 * time.Second,
		begin: func(c *local.Cluster) error { c.CutOff(0, true); return nil },
		end:   func(c *local.Cluster) error { c.CutOff(0, false); return nil },
	},
	{
		name: "all killed", node: noNode,
		begin: killAll,
		end: func(c *local.Cluster) error {
			err := errors.Join(c.Placement.Start(), c.Store.Start())
			for node := range nodes {
				err = errors.Join(err, c.StartNode(node))
			}
			return err
		},
	},
	killNode(2),
}

// killNode kills a node, and starts it again.
func killNode(node int) fault {
	return fault{
		name: fmt.Sprint("node ", node+1, " killed"), node: node, lasts: time.Second,
		begin: func(c *local.Cluster) error { return c.Nodes[node].Kill() },
		end:   func(c *local.Cluster) error { return c.StartNode(node) },
	}
}

// killBetween kills a node that has prewritten and not committed. Others have to find out what became of that.
func killBetween(phases string, node int) fault {
	return fault{
		name: fmt.Sprintf("node %d killed between %s", node+1, phases), node: node, lasts: time.Second,
		begin: func(c *local.Cluster) error {
			held, dropped := c.Store.Said("is held"), c.Store.Said("is dropped")
			if err := c.Store.Signal(syscall.SIGUSR1); err != nil {
				return err
			}
			if err := more(c, "is held", held); err != nil {
				return err
			}
			time.Sleep(allHeld)
			err := c.Nodes[node].Kill()
			if err == nil {
				err = more(c, "is dropped", dropped)
			}
			return errors.Join(err, c.Store.Signal(syscall.SIGUSR2))
		},
		end: func(c *local.Cluster) error { return c.StartNode(node) },
	}
}

// allHeld is how long it takes from the first commit that is held until all nodes have one. It is less than a lease.
const allHeld = 300 * time.Millisecond

// asynchronousEnd is how long commits take that are asynchronous and have begun.
const asynchronousEnd = 2 * time.Second

// saidIn is how long the store may take to say something.
const saidIn = 20 * time.Second

// more waits until the store has said something more often than before.
func more(c *local.Cluster, text string, before int) error {
	return local.Eventually(saidIn, func(context.Context) error {
		if c.Store.Said(text) <= before {
			return fmt.Errorf("the store has not said %q", text)
		}
		return nil
	})
}

// killAll kills everything at once, as when the power fails but for what the system has in its memory.
func killAll(c *local.Cluster) error {
	err := errors.Join(c.Store.Kill(), c.Placement.Kill())
	for _, p := range c.Nodes {
		err = errors.Join(err, p.Kill())
	}
	return err
}
