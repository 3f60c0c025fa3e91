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

// startTimeout limits the start of a process.
const startTimeout = time.Minute

// Daemon is the process of the store or of the placement.
type Daemon struct {
	Addr string   // its address
	Args []string // for the next start

	binary, log string
	cmd         *exec.Cmd
}

// Start starts the process and waits until it accepts connections.
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
	err = Eventually(startTimeout, func(ctx context.Context) error {
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

// Kill kills the process.
func (d *Daemon) Kill() error {
	if err := d.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = d.cmd.Wait()
	return nil
}

// Signal sends the process a signal.
func (d *Daemon) Signal(s os.Signal) error { return d.cmd.Process.Signal(s) }

// Pid returns the process ID.
func (d *Daemon) Pid() int { return d.cmd.Process.Pid }

// CountInLog returns how often the process has logged a text.
func (d *Daemon) CountInLog(text string) int {
	log, _ := os.ReadFile(d.log)
	return bytes.Count(log, []byte(text))
}

// logTail is how many bytes of a log are shown.
const logTail = 4 << 10

// logged returns the end of the log.
func (d *Daemon) logged() string {
	log, _ := os.ReadFile(d.log)
	return string(log[max(0, len(log)-logTail):])
}

// freeAddress returns an unused address of this machine.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
