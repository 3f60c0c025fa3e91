package compat_tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// diskServer is cqld as a process of its own on a folder of data.
type diskServer struct {
	binary, data, log string
	process           *exec.Cmd
}

// newDiskServer builds cqld.
func newDiskServer(t *testing.T) *diskServer {
	t.Helper()
	folder := t.TempDir()
	d := &diskServer{
		binary: filepath.Join(folder, "cqld"),
		data:   filepath.Join(folder, "data"),
		log:    filepath.Join(folder, "log"),
	}
	build := exec.Command("go", "build", "-o", d.binary, "github.com/cqld/cqld")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cqld: %v\n%s", err, out)
	}
	return d
}

var listening = regexp.MustCompile(`Starting listening for CQL clients on /(\S+) `)

// start runs the server on a free port and returns its address.
func (d *diskServer) start(t *testing.T) string {
	t.Helper()
	log, err := os.Create(d.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d.process = exec.Command(d.binary, "serve", "--listen", "127.0.0.1:0", "--data", d.data)
	d.process.Stderr = log
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.kill(t) })
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		content, err := os.ReadFile(d.log)
		if err != nil {
			t.Fatal(err)
		}
		if m := listening.FindSubmatch(content); m != nil {
			return string(m[1])
		}
	}
	content, _ := os.ReadFile(d.log)
	t.Fatalf("cqld did not start:\n%s", content)
	return ""
}

// kill ends the process without a chance to finish anything.
func (d *diskServer) kill(t *testing.T) {
	t.Helper()
	if d.process == nil {
		return
	}
	if err := d.process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = d.process.Wait() // says that it was killed
	d.process = nil
}
