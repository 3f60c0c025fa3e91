package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTerminal makes a terminal, and collects what is written to it.
func newTerminal(t *testing.T) (terminal *os.File, shown *servedLog) {
	t.Helper()
	_, terminal, shown = newKeyboard(t)
	return terminal, shown
}

// newKeyboard makes a terminal with a keyboard.
func newKeyboard(t *testing.T) (keyboard, terminal *os.File, shown *servedLog) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown = new(servedLog)
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(shown, keyboard) }) // until nobody has the terminal open
	t.Cleanup(func() {
		_ = terminal.Close()
		reading.Wait()
		_ = keyboard.Close()
	})
	return keyboard, terminal, shown
}

// TestStartOnTerminal says in readable lines what has started, on a terminal.
func TestStartOnTerminal(t *testing.T) {
	terminal, shown := newTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := &console{
		stdin: strings.NewReader(""), stdout: terminal, stderr: terminal, getenv: func(string) string { return "" }, version: "1.2.3",
	}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, c, []string{"--memory", "--listen", "0", "--auth", "password"}) }()
	shown.await(t, "Stop with +Ctrl-C", ended)
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		`\n *cqld 1\.2\.3 is ready`, `\n +Address +127\.0\.0\.1:\d+`, `\n +Data +in memory`, `\n +Authentication +password`,
		`\n +TLS +none`, `\n +Connect with +cqlsh 127\.0\.0\.1 (\d+) -u USER  or  cqld exec 127\.0\.0\.1:\d+ --username USER -e`,
		`INF.*Starting listening for CQL clients on`,
	} {
		if !regexp.MustCompile(want).MatchString(strings.ReplaceAll(shown.String(), "\r", "")) {
			t.Errorf("there is no %s in\n%s", want, shown)
		}
	}
}

// TestProgressOnTerminal redraws one line, which goes when the work is done, and writes the log above it.
func TestProgressOnTerminal(t *testing.T) {
	terminal, shown := newTerminal(t)
	p := newProgress(terminal, false)
	if p.interval != redrawInterval {
		t.Fatalf("on a terminal it is shown every %v", p.interval)
	}
	p.interval = 0
	p.show("restore", 0.25, "10.0 MB, 1.0 MB/s")
	fmt.Fprintln(aboveProgress{p, terminal}, "a line of the log")
	p.show("restore", 0.5, "20.0 MB, 1.0 MB/s, "+strings.Repeat("x", lineWidth))
	p.end()
	fmt.Fprintln(terminal, "done")
	shown.await(t, "done\r\n", nil)
	want := eraseLine + "restore: 25%, 10.0 MB, 1.0 MB/s" + eraseLine + "a line of the log\r\nrestore: 25%, 10.0 MB, 1.0 MB/s" +
		eraseLine + shorten("restore: 50%, 20.0 MB, 1.0 MB/s, "+strings.Repeat("x", lineWidth)) + eraseLine + "done\r\n"
	if shown.String() != want {
		t.Errorf("the terminal got %q, want %q", shown, want)
	}
}

// TestUnreadable names the folder that a user may not read.
func TestUnreadable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		if err := os.Chmod(parent, 0o755); err != nil { // others have to reach the folder
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"verify " + dir:                                             "cqld: cannot read " + dir + ": permission denied\n",
		"serve --listen 0 --data " + dir:                            "cqld: cannot read " + dir + ": permission denied\n",
		"serve --listen 0 --memory --init " + dir:                   "cqld: --init: cannot read " + dir + ": permission denied\n",
		"restore " + filepath.Join(dir, "file") + " " + t.TempDir(): "cqld: cannot read " + filepath.Join(dir, "file") + ": permission denied\n",
	} {
		var code int
		var errs string
		done := make(chan struct{})
		go func() { // whose thread has another user for files, and ends with it
			defer close(done)
			runtime.LockOSThread()
			if err := unix.Setfsuid(65534); err != nil {
				t.Error(err)
				return
			}
			var out, failed bytes.Buffer
			c := &console{stdin: strings.NewReader(""), stdout: &out, stderr: &failed, getenv: func(string) string { return "" }}
			code = run(t.Context(), c, strings.Fields(command))
			errs = failed.String()
		}()
		<-done
		if code != exitFailed || errs != want {
			t.Errorf("%s: exit %d, %s, want %s", command, code, errs, want)
		}
	}
}

// parentVariable makes this test the server that TestWithParent starts; it names the file for its address.
const parentVariable = "TEST_WITH_PARENT"

// TestWithParent ends a server with the shell that has started it, and has it say where it listens in a file.
func TestWithParent(t *testing.T) {
	if file := os.Getenv(parentVariable); file != "" {
		code := run(t.Context(), &console{
			stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stdout, getenv: func(string) string { return "" },
		}, []string{"--memory", "--listen", "0", "--with-parent", "--port-file", file})
		fmt.Println("exit", code)
		return
	}
	file := filepath.Join(t.TempDir(), "port")
	if err := os.WriteFile(file, []byte("of an earlier run"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sh", "-c", `"$0" -test.run '^TestWithParent$' & read -r _`, os.Args[0])
	shell.Env = append(os.Environ(), parentVariable+"="+file)
	keep, err := shell.StdinPipe() // the shell waits for a line that never comes
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	out, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stdout = end
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	log, ended := new(servedLog), make(chan int)
	go func() {
		_, _ = io.Copy(log, out)
		close(ended)
	}()
	log.await(t, `"message":"clients are served"`, nil)
	var address string
	for deadline := time.Now().Add(time.Minute); !strings.HasSuffix(address, "\n") && time.Now().Before(deadline); {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		address = string(text)
	}
	conn, err := net.Dial("tcp", strings.TrimSuffix(address, "\n"))
	if err != nil {
		t.Fatalf("the file has %q: %v", address, err)
	}
	_ = conn.Close()
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // says that it was killed
	<-ended
	if !strings.Contains(log.String(), "exit 0\n") {
		t.Errorf("the server does not end well:\n%s", log)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file of the address is still there: %v", err)
	}
}
