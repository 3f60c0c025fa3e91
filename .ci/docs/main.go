// Command docs does what the pages for users and contributors show, from top to bottom, and fails where that fails.
//
//	go run ./.ci/docs [-w FOLDER] [PAGE...]
//
// Each page begins in an empty folder, with a cqld that is built from the checkout. Of its blocks of code
//
//   - indented ones, and fenced ones of the language sh, are commands: one shell runs all of a page, and the first that
//     fails ends it;
//   - fenced ones with the name of a file behind the language, like ```go orders/orders_test.go, are added to that file;
//   - fenced ones of the language text show what is printed.
//
// Comments in the page say what differs:
//
//	<!-- not run: REASON -->            the block below is left out
//	<!-- run: COMMANDS -->              what the reader is supposed to have done already
//	<!-- in a terminal of its own -->   the block below runs until the page ends, or until close_terminals is run; the
//	                                    page goes on when cqld ping succeeds
//	<!-- in a terminal of its own, until: COMMAND -->   or when another command does
//
// Commands run without a network but for the loopback one, which is the page's own, if this is allowed; otherwise port
// 9042 must be free. Go has the modules in its cache. Packages for Python, Node and Java are installed before, into
// FOLDER, where compat_tests/drivers/run -w leaves most of them.
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

// pageTime is how long a page may take.
const pageTime = 5 * time.Minute

func main() {
	folder := flag.String("w", "", "the folder that packages are installed into")
	flag.Parse()
	if err := run(*folder, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(folder string, pages []string) error {
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
		if err := try(page, work); err != nil {
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

// try does what a page shows, in a folder for it in work.
func try(page, work string) error {
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
	return runScript(path, reader)
}

// namespaces are those of a page: what it has left running ends with it.
var namespaces = []string{"--net", "--pid", "--fork", "--mount-proc", "--kill-child"}

// runScript runs a script in a folder, and ends what it has left running.
func runScript(path, folder string) error {
	args := append([]string{"unshare"}, append(namespaces, "bash", "-c", `ip link set lo up && exec bash "$0"`, path)...)
	if exec.Command("unshare", append(namespaces, "ip", "link", "set", "lo", "up")...).Run() != nil {
		args = []string{"bash", path}
		l, err := net.Listen("tcp", "127.0.0.1:9042")
		if err != nil {
			return err
		}
		l.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("it takes longer than %v", pageTime)
	}
	if cmd.Process != nil {
		cmd.Cancel() // it fails if nothing is left
	}
	return err
}

// prelude is what the script of a page begins with. close_terminals is for comments in pages too.
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

// said is what a transcript says about a step.
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
