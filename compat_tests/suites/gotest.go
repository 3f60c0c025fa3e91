package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// goTests selects the tests of a Go module to run.
type goTests struct {
	tags     string
	packages []string // relative to the module: ".", "./migrate"
	skip     []string // tests that do not run, by their exact names
	args     []string // after the package
}

// goModule copies a module from the module proxy into a writable folder in the work folder.
func goModule(ctx context.Context, e *environment, module, version string) (string, error) {
	folder := filepath.Join(e.work, filepath.Base(filepath.Dir(module))+"-"+filepath.Base(module)+"@"+version)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version)
	download.Dir = e.work // outside of our module
	out, err := download.Output()
	if err != nil {
		return "", fmt.Errorf("download %s@%s: %w: %s", module, version, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	return folder, copyFolder(folder, m.Dir)
}

// copyFolder copies a folder atomically: a copy that exists is complete.
func copyFolder(to, from string) error {
	partial := to + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.CopyFS(partial, os.DirFS(from)); err != nil {
		return err
	}
	return os.Rename(partial, to)
}

// run runs the tests in the folder of a module. When a test hangs or crashes the process, it counts as unfinished, and
// the tests after it run in another process.
func (g goTests) run(ctx context.Context, e *environment, folder string) ([]outcome, error) {
	log, err := os.OpenFile(e.log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var all []outcome
	for _, pkg := range g.packages {
		tests, err := g.list(ctx, folder, pkg)
		if err != nil {
			return nil, err
		}
		prefix := ""
		if pkg != "." {
			prefix = strings.TrimPrefix(pkg, "./") + "."
		}
		for len(tests) > 0 {
			ended := g.runOnce(ctx, folder, pkg, tests, log)
			for _, o := range ended {
				all = append(all, outcome{prefix + o.test, o.result, o.message})
			}
			if len(ended) == 0 || ctx.Err() != nil {
				for _, test := range tests {
					all = append(all, outcome{prefix + test, failed, unfinished})
				}
				break
			}
			tests = slices.DeleteFunc(tests, func(test string) bool {
				return slices.ContainsFunc(ended, func(o outcome) bool { return o.test == test })
			})
		}
	}
	return all, nil
}

// list names the tests of a package.
func (g goTests) list(ctx context.Context, folder, pkg string) ([]string, error) {
	out, err := g.command(ctx, folder, append([]string{"-list", "^Test", pkg}, g.args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w: %s", pkg, err, out)
	}
	var tests []string
	for line := range strings.Lines(string(out)) {
		test := strings.TrimSpace(line)
		if strings.HasPrefix(test, "Test") && !slices.Contains(g.skip, test) {
			tests = append(tests, test)
		}
	}
	return tests, nil
}

// command is a go test that is killed with all processes it has started.
func (g goTests) command(ctx context.Context, folder string, args ...string) *exec.Cmd {
	return command(ctx, folder, []string{"GOWORK=off"}, "go", append([]string{"test", "-tags", g.tags}, args...)...)
}

// runOnce runs tests in one process and returns the outcomes, the test that ended the process included.
func (g goTests) runOnce(ctx context.Context, folder, pkg string, tests []string, log io.Writer) []outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := []string{"-json", "-count=1", "-timeout=0", "-run", "^(" + strings.Join(tests, "|") + ")$", pkg}
	cmd := g.command(ctx, folder, append(args, g.args...)...)
	events, events2 := io.Pipe()
	cmd.Stdout, cmd.Stderr = events2, log
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(log, err)
		return nil
	}
	go func() { events2.CloseWithError(cmd.Wait()) }()
	run := newGoRun(tests)
	lines := make(chan []byte)
	go splitLines(lines, io.TeeReader(events, log))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return run.end()
			}
			run.read(line)
		case <-tick.C:
			if run.hangs(time.Now()) {
				cancel()
			}
		}
	}
}

// splitLines sends a stream line by line.
func splitLines(lines chan<- []byte, r io.Reader) {
	defer close(lines)
	var rest []byte
	chunk := make([]byte, 64<<10)
	for {
		n, err := r.Read(chunk)
		rest = append(rest, chunk[:n]...)
		for {
			line, after, found := bytes.Cut(rest, []byte("\n"))
			if !found {
				break
			}
			lines <- bytes.Clone(line)
			rest = after
		}
		if err != nil {
			return
		}
	}
}
