// Command run starts a cluster on this machine (package local), runs a command, and kills the cluster.
//
//	run [-nodes N] COMMAND...
//
// The command gets these variables: CQL_ADDR is an address that forwards each connection to the next node, CQL_NODES
// are the addresses of the nodes, separated by commas, and CQL_PD is the address of PD. It runs in the folder of the
// repository.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/cqld/cqld/cluster/local"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many nodes there are")
	flag.Parse()
	err := run(*nodes, flag.Args())
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() > 0 {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(nodes int, command []string) error {
	if len(command) == 0 {
		return errors.New("no command")
	}
	folder, err := os.MkdirTemp("", "cqld-cluster-run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := local.Build(folder); err != nil {
		return err
	}
	c, err := local.Start(folder, local.Options{
		Nodes: nodes, Direct: true,
		Node: []string{"--set", "user_defined_functions_enabled=true"}, // which the suites of drivers define
	})
	if err != nil {
		return err
	}
	defer c.Close()
	any, err := local.OpenGate(c.Addresses()...)
	if err != nil {
		return err
	}
	defer any.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = ".."
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CQL_ADDR="+any.Addr(), "CQL_PD="+c.Placement.Addr,
		"CQL_NODES="+strings.Join(c.Addresses(), ","))
	err = cmd.Run()
	for i, p := range c.Nodes {
		if all := p.Errors(); len(all) > 0 {
			err = errors.Join(err, fmt.Errorf("node %d has logged errors:\n%s", i+1, strings.Join(all, "")))
		}
	}
	return err
}
