package observe

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// Of the lines that clients cause a few pass, and the rest is counted for each network, in bounded memory.
func TestLogLimit(t *testing.T) {
	var logged strings.Builder
	l := LogLimit{Log: zerolog.New(&logged)}
	passed := map[string]int{}
	cause := func(message string, from netip.Addr) {
		if l.Allow(message, from) {
			passed[message]++
		}
	}
	for range 1000 {
		cause("one", netip.MustParseAddr("10.0.0.1"))
	}
	for i := range 1000 { // of one network
		cause("two", netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i)))
	}
	for i := range 1000 {
		cause("many", netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}))
	}
	if passed["one"] != linesPerNetwork || passed["two"] != linesPerNetwork || passed["many"] != linesPerKind {
		t.Errorf("passed: %v", passed)
	}
	if n := len(l.kinds["many"].from); n != countedNetworks {
		t.Errorf("%d networks are counted", n)
	}
	l.SumUp(time.Now())
	if logged.Len() > 0 {
		t.Errorf("before the minute is over: %s", &logged)
	}
	l.SumUp(time.Now().Add(2 * logPeriod))
	for _, want := range []string{
		`{"level":"warn","client":"10.0.0.1/32","times":995,"message":"one, again and again"}`,
		`{"level":"warn","client":"2001:db8::/64","times":995,"message":"two, again and again"}`,
		`{"level":"warn","client":"others","times":950,"message":"many, again and again"}`,
	} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("no %s in %s", want, &logged)
		}
	}
	if n := strings.Count(logged.String(), "\n"); n != 3 {
		t.Errorf("%d lines", n)
	}
	if !l.Allow("one", netip.MustParseAddr("10.0.0.1")) {
		t.Error("nothing passes in the next minute")
	}
}

// Text from clients is logged truncated and without control characters.
func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"alice": "alice", "a\x1b[2Jb\nc": `a\x1b[2Jb\nc`, "\u202eecila": `\u202eecila`, "\xff": `\xff`, "élan": "élan",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %s", text, got)
		}
	}
	if got := Shown(strings.Repeat("\x01", 1<<20)); len(got) > 4*maxShown+3 {
		t.Errorf("%d bytes are shown", len(got))
	}
}
