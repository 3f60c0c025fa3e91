package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

// fault is a fault of a cluster.
type fault struct {
	name  string
	node  int           // the node that does not serve meanwhile, or noNode
	lasts time.Duration // from begin to end
	begin func(*local.Cluster) error
	end   func(*local.Cluster) error
}

// noNode is the node of a fault that is not about a node: the one before the first, modulo nodes.
const noNode = nodes - 1

// faults are all faults, in order. At first the store commits with one request or asynchronously. Shortly before it is
// killed for the first time, it changes to two phases.
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
			said := c.Store.CountInLog("two phases from now on")
			err := c.Store.Signal(syscall.SIGHUP)
			if err == nil {
				err = awaitLog(c, "two phases from now on", said)
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

// killNode kills a node and restarts it.
func killNode(node int) fault {
	return fault{
		name: fmt.Sprint("node ", node+1, " killed"), node: node, lasts: time.Second,
		begin: func(c *local.Cluster) error { return c.Nodes[node].Kill() },
		end:   func(c *local.Cluster) error { return c.StartNode(node) },
	}
}

// killBetween kills a node between prewrite and commit. Other nodes have to resolve its transactions.
func killBetween(phases string, node int) fault {
	return fault{
		name: fmt.Sprintf("node %d killed between %s", node+1, phases), node: node, lasts: time.Second,
		begin: func(c *local.Cluster) error {
			held, dropped := c.Store.CountInLog("is held"), c.Store.CountInLog("is dropped")
			if err := c.Store.Signal(syscall.SIGUSR1); err != nil {
				return err
			}
			if err := awaitLog(c, "is held", held); err != nil {
				return err
			}
			time.Sleep(allHeld)
			err := c.Nodes[node].Kill()
			if err == nil {
				err = awaitLog(c, "is dropped", dropped)
			}
			return errors.Join(err, c.Store.Signal(syscall.SIGUSR2))
		},
		end: func(c *local.Cluster) error { return c.StartNode(node) },
	}
}

const (
	allHeld         = 300 * time.Millisecond // from the first paused commit until all nodes have one; less than a lease
	asynchronousEnd = 2 * time.Second        // the duration of running asynchronous commits
	logTimeout      = 20 * time.Second       // for a line in the log of the store
)

// awaitLog waits until the store has logged a text more often than before.
func awaitLog(c *local.Cluster, text string, before int) error {
	return local.Eventually(logTimeout, func(context.Context) error {
		if c.Store.CountInLog(text) <= before {
			return fmt.Errorf("the store has not logged %q", text)
		}
		return nil
	})
}

// killAll kills all processes at once. Unlike a power failure, that keeps the page cache of the system.
func killAll(c *local.Cluster) error {
	err := errors.Join(c.Store.Kill(), c.Placement.Kill())
	for _, p := range c.Nodes {
		err = errors.Join(err, p.Kill())
	}
	return err
}
