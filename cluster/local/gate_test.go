package local

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"
)

// echo serves lines back behind a name.
func echo(t *testing.T, name string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, name, lines.Text())
				}
			}()
		}
	}()
	return l.Addr().String()
}

// gated opens a gate and a connection through it.
func gated(t *testing.T, targets ...string) (*Gate, func() (string, error)) {
	t.Helper()
	g, err := OpenGate(targets...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g, connect(t, g)
}

// connect opens a connection through a gate, and returns a function that asks there.
func connect(t *testing.T, g *Gate) func() (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", g.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	answers := bufio.NewReader(c)
	return func() (string, error) {
		if _, err := fmt.Fprintln(c, "?"); err != nil {
			return "", err
		}
		return answers.ReadString('\n')
	}
}

// TestGateDelay has a gate delay a request and its answer together.
func TestGateDelay(t *testing.T) {
	g, ask := gated(t, echo(t, "a"))
	for _, d := range []time.Duration{0, 20 * time.Millisecond} {
		g.SetDelay(d)
		began := time.Now()
		if got, err := ask(); got != "a ?\n" || err != nil {
			t.Errorf("the answer is %q, %v", got, err)
		}
		if took := time.Since(began); took < d {
			t.Errorf("behind %v an answer takes %v", d, took)
		}
	}
}

// TestGateShut has a gate let nothing through while it is shut, and everything later.
func TestGateShut(t *testing.T) {
	g, ask := gated(t, echo(t, "a"))
	g.Shut(true)
	answered := make(chan string)
	go func() {
		got, _ := ask()
		answered <- got
	}()
	select {
	case got := <-answered:
		t.Errorf("the answer %q comes through a gate that is shut", got)
	case <-time.After(50 * time.Millisecond):
	}
	g.Shut(false)
	if got := <-answered; got != "a ?\n" {
		t.Errorf("later the answer is %q", got)
	}
	g.Shut(true)
	go func() { _, _ = ask() }()
	g.Close() // waits for nobody
}

// TestGateTurns has each connection go to the next target that is there.
func TestGateTurns(t *testing.T) {
	gone, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	g, ask := gated(t, echo(t, "a"), gone, echo(t, "b"))
	for i, want := range []string{"a ?\n", "b ?\n", "a ?\n"} {
		if i > 0 {
			ask = connect(t, g)
		}
		if got, err := ask(); got != want || err != nil { // answered, so it has a target before the next one asks
			t.Errorf("connection %d answers %q, %v", i+1, got, err)
		}
	}
}
