package cqltest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// failing is set in the process of a test that is to fail.
const failing = "CQLTEST_TEST_FAILS"

// TestFails fails if it is told to, in the process that TestFailureIsShown starts.
func TestFails(t *testing.T) {
	if os.Getenv(failing) == "" {
		t.Skip("it is run by TestFailureIsShown")
	}
	s := RunT(t, WithFailureLog(4, os.Getenv(failing) == "values"))
	s.Exec(t, createShop, "CREATE TABLE shop.t (k int PRIMARY KEY, v text)")
	ctx := context.Background()
	c, err := client.Dial(ctx, s.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := c.Prepare(ctx, "INSERT INTO shop.t (k, v)\n VALUES (?, ?)", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Execute(ctx, p, []types.Value{{Bytes: types.EncodeInt(7)}, {Bytes: []byte("secret")}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(ctx, "SELECT nope FROM shop.t", nil, nil); err != nil {
		t.Error(err)
	}
}

// fails runs TestFails in a process of its own.
func fails(ctx context.Context, t *testing.T, how string, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run=^TestFails$", "-test.v=true"}, flags...)...)
	cmd.Env = append(os.Environ(), failing+"="+how)
	return cmd
}

// TestFailureIsShown wants a failed test to show its last statements, with bound values only where asked for.
func TestFailureIsShown(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := fails(ctx, t, "yes").CombinedOutput()
	if err == nil {
		t.Fatalf("the test has not failed:\n%s", out)
	}
	text := string(out)
	for _, want := range []string{
		"(1 before them)", "QUERY   CREATE TABLE shop.t", "PREPARE INSERT INTO shop.t (k, v) VALUES (?, ?) (",
		"EXECUTE INSERT INTO shop.t (k, v) VALUES (?, ?) (", "QUERY   SELECT nope FROM shop.t", "Undefined column name nope",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.Contains(text, "secret") || t.Failed() {
		t.Errorf("what is shown:\n%s", text)
	}
	if out, _ := fails(ctx, t, "values").CombinedOutput(); !strings.Contains(string(out), "VALUES (?, ?) [7, 'secret'] (") {
		t.Errorf("bound values are not shown:\n%s", out)
	}
}

// TestKeep wants the server of a failed test to be there until the process is interrupted.
func TestKeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be interrupted")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := fails(ctx, t, "yes", "-"+keepFlag)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	for lines := bufio.NewScanner(errs); addr == "" && lines.Scan(); {
		if m := regexp.MustCompile(`TestFails has failed. Its server is at (\S+) until`).FindStringSubmatch(lines.Text()); m != nil {
			addr = m[1]
		}
	}
	c, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		t.Error(err)
	} else {
		r, err := c.Query(ctx, "SELECT v FROM shop.t WHERE k = 7", nil, nil)
		if err != nil || len(r.Rows) != 1 {
			t.Errorf("%v, %v", r, err)
		}
		c.Close()
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("the process ended with %v, %v", err, ctx.Err())
	}
}
