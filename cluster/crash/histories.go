package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// histories are clients that record histories, a process of their own.
type histories struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  bytes.Buffer
}

// recordHistories starts the clients.
func recordHistories(folder string, addresses []string) (*histories, error) {
	binary := filepath.Join(folder, "histories")
	build := exec.Command("go", "test", "-c", "-o", binary, "./histories")
	build.Dir = "../compat_tests/drivers"
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the histories: %w\n%s", err, out)
	}
	h := &histories{}
	h.cmd = exec.Command(binary, "-test.v", "-test.timeout=0", "-test.run=^TestAt$", "-keys=20", "-seconds=1",
		"-at="+strings.Join(addresses, ","))
	h.cmd.Stdout, h.cmd.Stderr = &h.said, &h.said
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return h, h.cmd.Start()
}

// end waits until the last history is checked, and prints what was found.
func (h *histories) end() error {
	if err := h.stdin.Close(); err != nil {
		return err
	}
	if err := h.cmd.Wait(); err != nil {
		return fmt.Errorf("histories: %w\n%s", err, &h.said)
	}
	for line := range strings.Lines(h.said.String()) {
		if strings.Contains(line, "requests") {
			fmt.Print("histories: ", line)
		}
	}
	return nil
}

// kill ends the clients if they have not ended.
func (h *histories) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}
