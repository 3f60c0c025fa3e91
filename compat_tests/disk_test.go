package compat_tests

import (
	"path/filepath"
	"testing"

	"github.com/cqld/cqld/compat_tests/process"
)

// diskServer is cqld as a separate process on a data folder.
type diskServer struct {
	binary, data string
	process      *process.Process
}

// newDiskServer builds cqld.
func newDiskServer(t *testing.T) *diskServer {
	t.Helper()
	folder := t.TempDir()
	d := &diskServer{binary: filepath.Join(folder, "cqld"), data: filepath.Join(folder, "data")}
	if err := process.Build(d.binary); err != nil {
		t.Fatal(err)
	}
	return d
}

// start runs the server on a free port and returns its address.
func (d *diskServer) start(t *testing.T) string {
	t.Helper()
	p, err := process.Start(d.binary, "serve", "--listen", "127.0.0.1:0", "--data", d.data, "--set", "user_defined_functions_enabled=true")
	if err != nil {
		t.Fatal(err)
	}
	d.process = p
	t.Cleanup(func() { d.kill(t) })
	return p.Addr
}

// kill kills the process.
func (d *diskServer) kill(t *testing.T) {
	t.Helper()
	if d.process == nil {
		return
	}
	if err := d.process.Kill(); err != nil {
		t.Error(err)
	}
	d.process = nil
}
