package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// node is one Cassandra, running or not.
type node struct {
	folder, address string
	port            int
	heap            string
	auth            bool
	settings        string // extra lines of cassandra.yaml, as NAME=VALUE; NAME=VALUE
}

const (
	startTime = 2 * time.Minute
	stopTime  = 30 * time.Second
	pollTime  = 100 * time.Millisecond
)

// home is the node's own folder.
func (n *node) home() string { return filepath.Join(n.folder, fmt.Sprint("node-", n.port)) }

func (n *node) addr() string { return net.JoinHostPort(n.address, strconv.Itoa(n.port)) }

func (n *node) pidFile() string { return filepath.Join(n.home(), "pid") }

// startSaying starts a node and prints its release and address, and how long the start took.
func (n *node) startSaying(ctx context.Context) error {
	if n.running() {
		return fmt.Errorf("a node is running on %s; stop ends it", n.addr())
	}
	lib, err := jars(ctx, n.folder)
	if err != nil {
		return err
	}
	began := time.Now()
	release, err := n.start(ctx, lib)
	if err != nil {
		return err
	}
	fmt.Printf("Cassandra %s on %s, ready in %.1f s\n", release, n.addr(), time.Since(began).Seconds())
	return nil
}

// start runs an empty node and waits until it answers.
func (n *node) start(ctx context.Context, lib string) (release string, err error) {
	if err := os.RemoveAll(n.home()); err != nil {
		return "", err
	}
	if err := n.configure(); err != nil {
		return "", err
	}
	args, err := n.arguments(lib)
	if err != nil {
		return "", err
	}
	out, err := os.Create(filepath.Join(n.home(), "out"))
	if err != nil {
		return "", err
	}
	defer out.Close()
	cmd := exec.Command("java", args...)
	cmd.Dir = n.home()
	cmd.Stdout, cmd.Stderr = out, out
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if err := os.WriteFile(n.pidFile(), fmt.Append(nil, cmd.Process.Pid, "\n"), 0o644); err != nil {
		return "", errors.Join(err, cmd.Process.Kill())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return n.await(ctx, ended)
}

// await waits until the node answers. A node that does not answer in time is stopped.
func (n *node) await(ctx context.Context, ended <-chan error) (release string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		if release, err = n.ask(ctx); err == nil {
			return release, nil
		}
		select {
		case <-time.After(pollTime):
		case status := <-ended:
			return "", fmt.Errorf("the node ended: %w\n%s", status, n.said())
		case <-ctx.Done():
			return "", errors.Join(fmt.Errorf("the node does not answer: %w\n%s", err, n.said()), n.stop())
		}
	}
}

// ask connects as a client would and reads the release. With authentication on, that succeeds once the superuser
// exists.
func (n *node) ask(ctx context.Context) (release string, err error) {
	options := client.Options{}
	if n.auth {
		options.Username, options.Password = "cassandra", "cassandra"
	}
	conn, err := client.Dial(ctx, n.addr(), options)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	local, err := conn.Query(ctx, "SELECT release_version FROM system.local", nil, nil)
	if err != nil {
		return "", err
	}
	if len(local.Rows) != 1 {
		return "", fmt.Errorf("system.local of %s has %d rows", n.addr(), len(local.Rows))
	}
	return string(local.Rows[0][0]), nil
}

// said returns the last lines of the node's logs.
func (n *node) said() string {
	var text []string
	for _, name := range []string{"out", "system.log"} {
		content, _ := os.ReadFile(filepath.Join(n.home(), name))
		lines := strings.Split(string(content), "\n")
		text = append(text, lines[max(0, len(lines)-10):]...)
	}
	return strings.Join(text, "\n")
}

// process is the process of the node that start began; nil if it has ended.
func (n *node) process() *os.Process {
	content, err := os.ReadFile(n.pidFile())
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return nil
	}
	// The process id may have been reused.
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(command), n.home()) {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return nil
	}
	return p
}

func (n *node) running() bool { return n.process() != nil }

// stop ends the node and waits until it is gone.
func (n *node) stop() error {
	p := n.process()
	if p == nil {
		return fmt.Errorf("no node is running on %s", n.addr())
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	for deadline := time.Now().Add(stopTime); n.running(); time.Sleep(pollTime) {
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("the node on %s does not end", n.addr()), p.Kill())
		}
	}
	return os.Remove(n.pidFile())
}
