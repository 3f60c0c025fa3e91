package cqltest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// shownStatements is how many statements are printed when a test has failed.
const shownStatements = 50

// The flag and the variable that keep the server of a test that has failed.
const (
	keepFlag     = "cqltest.keep"
	keepVariable = "CQLTEST_KEEP"
)

// The flag is there in test binaries only: programs that import this package keep their flags. Another copy of the
// package in the binary may have defined it.
func init() {
	if testing.Testing() && flag.Lookup(keepFlag) == nil {
		flag.Bool(keepFlag, false, "leave the servers of failed tests up until interrupted")
	}
}

// keeps reports whether the servers of failed tests stay up.
func keeps() bool {
	if f := flag.Lookup(keepFlag); f != nil && f.Value.String() == "true" {
		return true
	}
	v := os.Getenv(keepVariable)
	return v != "" && v != "0" && v != "false"
}

// showFailure prints the last statements, and waits where servers of failed tests stay up.
func (s *Server) showFailure(t testing.TB) {
	t.Helper()
	if s.recent != nil {
		if text := s.recentText(); text != "" {
			t.Log(text)
		}
	}
	if !keeps() || s.stopped.Load() {
		return
	}
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// go test shows the log of a test when it ends, and this one waits.
	fmt.Fprintf(os.Stderr, "\n%s has failed. Its server is at %s until this is interrupted.\n", t.Name(), s.Addr())
	<-interrupted.Done()
}

// recentText is the last statements, one a line.
func (s *Server) recentText() string {
	all, before := s.recent.List()
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("the last statements on " + s.Addr() + ":")
	if before > 0 {
		fmt.Fprintf(&b, "\n  (%d before them)", before)
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n  %-7s %s", r.Opcode, strings.Join(strings.Fields(r.Text), " "))
		if r.Values != "" {
			fmt.Fprintf(&b, " [%s]", r.Values)
		}
		fmt.Fprintf(&b, " (%v)", r.Took.Round(time.Microsecond))
		if r.Error != "" {
			fmt.Fprintf(&b, "\n          %s", r.Error)
		}
	}
	return b.String()
}
