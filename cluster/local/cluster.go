// Package local runs a cluster of processes on this machine: unistore as the only store, placement instead of PD, and
// nodes. Each node reaches the store and PD through gates, which can delay its traffic and cut it off.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// Options of a cluster.
type Options struct {
	Programs string // the folder of Build; "": the folder of the data
	Nodes    int
	Node     []string // more arguments of each node
	PD       []string // more arguments of the placement
	Direct   bool     // the nodes reach store and PD without gates
}

// Cluster is a running cluster.
type Cluster struct {
	Placement *Daemon
	Store     *Daemon
	Nodes     []*process.Process

	folder  string
	options Options
	gates   []gates
}

// gates are the gates of a node.
type gates struct{ store, placement *Gate }

// Build builds the programs into a folder. The working directory must be the folder of the module cluster.
func Build(folder string) error {
	for _, b := range []struct {
		module, name string
		args         []string
	}{
		{".", "cqld-cluster", []string{"./cmd/cqld-cluster"}},
		{".", "placement", []string{"./placement"}},
		{"unistore", "unistore", []string{"-ldflags=-checklinkname=0", "."}}, // it links to a variable of the runtime
	} {
		cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(folder, b.name)}, b.args...)...)
		cmd.Dir = b.module
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", b.name, err, out)
		}
	}
	return nil
}

// Start starts a cluster whose data is in a folder.
func Start(folder string, o Options) (*Cluster, error) {
	o.Programs = cmp.Or(o.Programs, folder)
	c := &Cluster{folder: folder, options: o, Nodes: make([]*process.Process, o.Nodes)}
	if err := c.start(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start() (err error) {
	at := func(name string) string { return filepath.Join(c.folder, name) }
	program := func(name string) string { return filepath.Join(c.options.Programs, name) }
	var addresses [2]string
	for i := range addresses {
		if addresses[i], err = freeAddress(); err != nil {
			return err
		}
	}
	c.Store = &Daemon{Addr: addresses[0], binary: program("unistore"), log: at("store.log")}
	c.Store.Args = []string{"-pd", addresses[1], "-listen", addresses[0], "-data", at("data")}
	c.Placement = &Daemon{Addr: addresses[1], binary: program("placement"), log: at("placement.log")}
	c.Placement.Args = append([]string{"-listen", addresses[1], "-data", at("placement.json")}, c.options.PD...)
	if !c.options.Direct {
		if err := c.openGates(); err != nil {
			return err
		}
	}
	if err := errors.Join(c.Placement.Start(), c.Store.Start()); err != nil {
		return err
	}
	for i := range c.Nodes {
		if err := c.StartNode(i); err != nil {
			return err
		}
	}
	return nil
}

// openGates opens the gates of all nodes. The placement announces to each node its own gates.
func (c *Cluster) openGates() error {
	for range c.Nodes {
		serving, err := freeAddress()
		if err != nil {
			return err
		}
		store, err := OpenGate(c.Store.Addr)
		if err != nil {
			return err
		}
		placement, err := OpenGate(serving)
		if err != nil {
			return err
		}
		c.gates = append(c.gates, gates{store, placement})
		c.Placement.Args = append(c.Placement.Args, "-view", serving+","+placement.Addr()+","+store.Addr())
	}
	return nil
}

// StartNode starts a node, or restarts it at its address.
func (c *Cluster) StartNode(i int) (err error) {
	listen, placement := "127.0.0.1:0", c.Placement.Addr
	if p := c.Nodes[i]; p != nil {
		listen = p.Addr
	}
	if !c.options.Direct {
		placement = c.gates[i].placement.Addr()
	}
	args := []string{
		"serve", "--pd", placement, "--prefix", "local", "--listen", listen, "--log-format", "json",
		"--rack", fmt.Sprint("rack", i+1),
	}
	p, err := process.Start(filepath.Join(c.options.Programs, "cqld-cluster"), append(args, c.options.Node...)...)
	if err == nil {
		c.Nodes[i] = p
	}
	return err
}

// CutOff cuts a node off from the store, but not from PD, or connects it again.
func (c *Cluster) CutOff(node int, cut bool) { c.gates[node].store.Shut(cut) }

// SetDelay sets the round-trip time between nodes and the store or PD.
func (c *Cluster) SetDelay(d time.Duration) {
	for _, g := range c.gates {
		g.store.SetDelay(d)
		g.placement.SetDelay(d)
	}
}

// Addresses returns the addresses of the nodes.
func (c *Cluster) Addresses() (all []string) {
	for _, p := range c.Nodes {
		all = append(all, p.Addr)
	}
	return all
}

// Log returns the ends of the logs of nodes and store.
func (c *Cluster) Log() (all string) {
	for i, p := range c.Nodes {
		all += fmt.Sprintf("node %d:\n%s", i+1, p.Log())
	}
	return all + "the store:\n" + c.Store.logged()
}

// Close kills everything.
func (c *Cluster) Close() {
	for _, p := range c.Nodes {
		if p != nil {
			_ = p.Kill()
		}
	}
	for _, d := range []*Daemon{c.Store, c.Placement} {
		if d != nil && d.cmd != nil && d.cmd.Process != nil {
			_ = d.Kill()
		}
	}
	for _, g := range c.gates {
		g.store.Close()
		g.placement.Close()
	}
}

// errTimeout is the error of Eventually.
var errTimeout = errors.New("timeout")

// Eventually calls do until it succeeds or limit has passed.
func Eventually(limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errTimeout, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
