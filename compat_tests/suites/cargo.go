package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cargoTests selects the tests of a Rust crate to run.
type cargoTests struct {
	build []string               // arguments of cargo test
	flags string                 // RUSTFLAGS
	env   []string               // for the tests
	want  func(test string) bool // by its whole name: target::module::test
	jobs  int                    // how many run at the same time
	limit time.Duration          // for one test
}

// nextestSlot numbers the tests that run at the same time, as cargo-nextest does: each test derives its addresses from
// its number.
const nextestSlot = "NEXTEST_TEST_GLOBAL_SLOT="

// run builds the tests of the crate in a folder and runs each in a separate process, so that a test that hangs or
// aborts affects no other.
func (c cargoTests) run(ctx context.Context, e *environment, folder string) ([]outcome, error) {
	binaries, err := c.binaries(ctx, e, folder)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(e.log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var all []outcome
	var mu sync.Mutex
	var running sync.WaitGroup
	slots := make(chan int, c.jobs)
	for slot := range c.jobs {
		slots <- slot
	}
	for _, b := range binaries {
		tests, err := b.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, test := range tests {
			if !c.want(b.target + "::" + test) {
				continue
			}
			slot := <-slots
			running.Go(func() {
				defer func() { slots <- slot }()
				o, output := b.runOne(ctx, test, c.limit, append(slices.Clone(c.env), nextestSlot+strconv.Itoa(slot)))
				mu.Lock()
				defer mu.Unlock()
				all = append(all, o)
				fmt.Fprintf(log, "== %s: %s\n%s\n", o.test, o.result, output)
			})
		}
	}
	running.Wait()
	return all, nil
}

// rustBinary is a built file of tests.
type rustBinary struct {
	target, path, folder string
}

// binaries builds the tests. The folder target of the work folder caches earlier builds.
func (c cargoTests) binaries(ctx context.Context, e *environment, folder string) ([]rustBinary, error) {
	env := []string{"RUSTFLAGS=" + c.flags, "CARGO_TARGET_DIR=" + filepath.Join(e.work, "target")}
	cmd := command(ctx, folder, env, "cargo", slices.Concat([]string{"test", "--no-run", "--message-format=json"}, c.build)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cargo test --no-run: %w: %s", err, said.Bytes())
	}
	return readCargo(out)
}

// readCargo finds the binaries in cargo's JSON output, which has a line for each artifact.
func readCargo(out []byte) ([]rustBinary, error) {
	var all []rustBinary
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct {
			Executable   string
			ManifestPath string `json:"manifest_path"`
			Target       struct{ Name string }
			Profile      struct{ Test bool }
		}
		err := d.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if m.Executable != "" && m.Profile.Test {
			all = append(all, rustBinary{m.Target.Name, m.Executable, filepath.Dir(m.ManifestPath)})
		}
	}
}

// list names the tests of a binary.
func (b rustBinary) list(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, b.path, "--list", "--format=terse").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", b.target, err)
	}
	var tests []string
	for line := range strings.Lines(string(out)) {
		if test, ok := strings.CutSuffix(strings.TrimSpace(line), ": test"); ok {
			tests = append(tests, test)
		}
	}
	return tests, nil
}

// runOne runs one test.
func (b rustBinary) runOne(ctx context.Context, test string, limit time.Duration, env []string) (outcome, []byte) {
	o := outcome{test: b.target + "::" + test, result: passed}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	output, err := command(limited, b.folder, env, b.path, "--exact", test, "--nocapture").CombinedOutput()
	switch {
	case limited.Err() != nil:
		o.result, o.message = failed, unfinished
	case err != nil:
		o.result, o.message = failed, panicked(string(output))
	case bytes.Contains(output, []byte(" ... ignored")):
		o.result, o.message = skipped, "ignored"
	}
	return o, output
}

// panicked returns the message of the first panic in a test's output: the line below "thread '...' panicked at
// FILE:LINE:", with the compared values.
func panicked(output string) string {
	_, after, found := strings.Cut(output, " panicked at ")
	if !found {
		return firstLine(output)
	}
	_, after, _ = strings.Cut(after, ":\n")
	said, after, _ := strings.Cut(after, "\n")
	for line := range strings.Lines(after) {
		compared := strings.TrimSpace(line)
		if !strings.HasPrefix(compared, "left: ") && !strings.HasPrefix(compared, "right: ") {
			break
		}
		said += " " + compared
	}
	return said
}
