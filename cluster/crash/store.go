package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// store is the process of the store.
type store struct {
	binary, data, log string
	placement, listen string
	cmd               *exec.Cmd
}

// startStore starts the store on an address that is free.
func startStore(folder, placement string) (*store, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listen := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &store{
		binary: filepath.Join(folder, "unistore"), data: filepath.Join(folder, "data"), log: filepath.Join(folder, "store.log"),
		placement: placement, listen: listen,
	}
	return s, s.start()
}

// start starts the process, and returns when it lets itself be connected to.
func (s *store) start() error {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(s.binary, "-pd", s.placement, "-listen", s.listen, "-data", s.data)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	err = eventually(time.Minute, func(ctx context.Context) error {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", s.listen)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	if err != nil {
		said, _ := os.ReadFile(s.log)
		return fmt.Errorf("the store does not start: %w\n%s", err, said)
	}
	return nil
}

// kill ends the process without a chance to finish anything.
func (s *store) kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = s.cmd.Wait() // says that it was killed
	return nil
}
