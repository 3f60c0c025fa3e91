package local

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// startIn is how long a process may take until it lets itself be connected to.
const startIn = time.Minute

// Daemon is the process of the store or of the placement.
type Daemon struct {
	Addr string   // where it serves
	Args []string // of the next start

	binary, log string
	cmd         *exec.Cmd
}

// Start starts the process, and returns when it lets itself be connected to.
func (d *Daemon) Start() error {
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	d.cmd = exec.Command(d.binary, d.Args...)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	err = Eventually(startIn, func(ctx context.Context) error {
		var dialer net.Dialer
		c, err := dialer.DialContext(ctx, "tcp", d.Addr)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s does not start: %w\n%s", d.binary, err, d.logged())
	}
	return nil
}

// Kill ends the process without a chance to finish anything.
func (d *Daemon) Kill() error {
	if err := d.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = d.cmd.Wait() // says that it was killed
	return nil
}

// Signal sends the process a signal.
func (d *Daemon) Signal(s os.Signal) error { return d.cmd.Process.Signal(s) }

// Pid is the number of the process.
func (d *Daemon) Pid() int { return d.cmd.Process.Pid }

// Said is how often the process has logged a text.
func (d *Daemon) Said(text string) int {
	said, _ := os.ReadFile(d.log)
	return bytes.Count(said, []byte(text))
}

// logTail is how many bytes of a log are shown.
const logTail = 4 << 10

// logged is the end of what the process has logged.
func (d *Daemon) logged() string {
	said, _ := os.ReadFile(d.log)
	return string(said[max(0, len(said)-logTail):])
}

// freeAddress returns an address of this machine that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
