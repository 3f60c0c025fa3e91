// Command docs runs the code blocks of the documentation pages in order, and fails at the first command that fails.
//
//	go run ./.ci/docs [-w FOLDER] [PAGE...]
//
// A page starts in an empty folder, with a cqld built from the checkout on the PATH. A code block is one of these:
//
//   - commands, if it is indented or fenced with the language sh. One shell runs all commands of a page.
//   - a part of a file, if a file name follows the language, as in ```go orders/orders_test.go. It is appended.
//   - output, if it is fenced with the language text. It is printed but not compared.
//
// Comments above a block change that:
//
//	<!-- not run: REASON -->            skip the block
//	<!-- run: COMMANDS -->              run commands that the page does not show
//	<!-- in another terminal -->   start the block in the background, and continue when cqld ping succeeds.
//	                                    It is stopped at the end of the page, or by the command close_terminals
//	<!-- in another terminal, until: COMMAND -->   the same, but continue when COMMAND succeeds
//
// If the system allows it, a page has its own network namespace with only a loopback interface. Otherwise port 9042
// must be free. Go modules come from the module cache. Packages for Python, Node and Java are installed into FOLDER
// first; compat_tests/drivers/run -w FOLDER installs most of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pageTimeout limits a page.
const pageTimeout = 5 * time.Minute

func main() {
	folder := flag.String("w", "", "the folder that packages are installed into")
	flag.Parse()
	if err := runPages(*folder, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func runPages(folder string, pages []string) error {
	if len(pages) == 0 {
		all, err := filepath.Glob("docs/*.md")
		if err != nil {
			return err
		}
		pages = append([]string{"README.md", "CONTRIBUTING.md"}, all...)
	}
	work, err := os.MkdirTemp("", "cqld-docs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if folder == "" {
		folder = filepath.Join(work, "packages")
	}
	prepare := exec.Command(".ci/docs/prepare", work, folder)
	prepare.Stdout, prepare.Stderr = os.Stdout, os.Stderr
	if err := prepare.Run(); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	var failed []string
	for _, page := range pages {
		begun := time.Now()
		fmt.Printf("\n##### %s\n", page)
		if err := runPage(page, work); err != nil {
			fmt.Printf("##### %s: FAILED: %v\n", page, err)
			failed = append(failed, page)
			continue
		}
		fmt.Printf("##### %s: ok, %.0f s\n", page, time.Since(begun).Seconds())
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	fmt.Println("\nall pages: ok")
	return nil
}

// runPage runs the blocks of a page in a new folder below work.
func runPage(page, work string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	all, err := steps(string(content))
	if err != nil {
		return err
	}
	blocks, err := os.MkdirTemp(work, "blocks")
	if err != nil {
		return err
	}
	path, err := writeScript(page, all, work, blocks)
	if err != nil {
		return err
	}
	reader, err := os.MkdirTemp(work, "reader")
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(work, "temporary")
	if err != nil {
		return err
	}
	if err := runScript(path, reader, temporary); err != nil {
		return err
	}
	// Examples are copied into tests that run every minute somewhere.
	left, err := filepath.Glob(filepath.Join(temporary, "cqld*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("its commands leave %s in the temporary directory", strings.Join(left, ", "))
	}
	return err
}

// namespaces isolate a page. The system kills all of its processes when its shell ends.
var namespaces = []string{"--net", "--pid", "--fork", "--mount-proc", "--kill-child"}

// runScript runs a script in a folder, with another for temporary files, and then kills the processes that are still
// running.
func runScript(path, folder, temporary string) error {
	args := append([]string{"unshare"}, append(namespaces, "bash", "-c", `ip link set lo up && exec bash "$0"`, path)...)
	if exec.Command("unshare", append(namespaces, "ip", "link", "set", "lo", "up")...).Run() != nil {
		args = []string{"bash", path}
		l, err := net.Listen("tcp", "127.0.0.1:9042")
		if err != nil {
			return err
		}
		l.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stdout
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it takes longer than %v", pageTimeout)
	}
	if cmd.Process != nil {
		cmd.Cancel() // fails if no process is left
	}
	return err
}

// prelude begins the script of each page. Comments in pages may call close_terminals.
const prelude = `set -euo pipefail
terminals=()
close_terminals() {
  local t
  for t in "${terminals[@]}"; do
    kill -TERM -- "-$t" || true
    while kill -0 -- "-$t" 2>/dev/null; do sleep 0.05; done
  done
  terminals=()
}
trap 'code=$?; ((code == 0)) || echo "##### $at: exit code $code"; close_terminals' EXIT
`

// writeScript writes the blocks of a page to files, and a script that prints and runs them.
func writeScript(page string, all []step, work, blocks string) (path string, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, ". %s/environment\n%s", work, prelude)
	for i, s := range all {
		path := filepath.Join(blocks, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(s.code), 0o600); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "at=%s:%d\necho\necho \"=== $at%s\"\nsed 's/^/| /' %s\n", page, s.line, said(s), path)
		switch {
		case s.skip != "" || s.language == "text":
		case s.file != "":
			fmt.Fprintf(&b, "mkdir -p $(dirname %[1]s)\n[[ ! -e %[1]s ]] || echo >>%[1]s\ncat %[2]s >>%[1]s\n", s.file, path)
		case s.until != "":
			fmt.Fprintf(&b, "setsid bash %s </dev/null &\nterminals+=($!)\n", path)
			fmt.Fprintf(&b, "timeout 180 sh -c 'until %s 2>/dev/null; do sleep 0.1; done'\n", s.until)
		default:
			fmt.Fprintf(&b, ". %s </dev/null\n", path)
		}
	}
	path = filepath.Join(blocks, "page.sh")
	return path, os.WriteFile(path, []byte(b.String()), 0o600)
}

// said describes a step in the transcript.
func said(s step) string {
	switch {
	case s.skip != "":
		return " is not run: " + s.skip
	case s.language == "":
		return " was done before"
	case s.file != "":
		return " is added to " + s.file
	case s.until != "":
		return " runs until the page ends"
	case s.language == "text":
		return " shows what is printed"
	}
	return ""
}
