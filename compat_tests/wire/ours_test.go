package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/differences"
)

// oursFile has cqld's answers to the exchanges that verdicts.txt lists as different.
const oursFile = "ours.txt"

const oursHead = "# What cqld answers to each exchange that differs, in the form of the recordings: go test ./compat_tests/wire -update\n" +
	"# writes it. The envelopes are without segments, and decompressed.\n"

// ours is one such answer.
type ours struct {
	envelopes []*envelope
	closed    bool
}

// readOurs reads the answers by the names of exchanges.
func readOurs(t *testing.T) map[string]*ours {
	t.Helper()
	content, err := os.ReadFile(oursFile)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ours{}
	for block := range strings.SplitSeq(strings.TrimPrefix(string(content), oursHead), "\n\n") {
		title, lines, _ := strings.Cut(strings.TrimSpace(block), "\n")
		name, _, _ := strings.Cut(strings.TrimPrefix(title, "# "), " ")
		if name == "" {
			continue
		}
		o := &ours{}
		for line := range strings.Lines(lines) {
			if err := o.readLine(strings.TrimSpace(line)); err != nil {
				t.Fatalf("%s: %s: %v", oursFile, name, err)
			}
		}
		all[name] = o
	}
	return all
}

func (o *ours) readLine(line string) error {
	if line == "! closed" {
		o.closed = true
	}
	if line == "! closed" || line == "! no answer" {
		return nil
	}
	b, err := hex.DecodeString(strings.TrimPrefix(line, "< "))
	if err != nil {
		return err
	}
	e, rest, err := takeEnvelope(b, "")
	if err == nil && (e == nil || len(rest) > 0) {
		err = errors.New("not one envelope")
	}
	o.envelopes = append(o.envelopes, e)
	return err
}

// String shows an answer as the file has it.
func (o *ours) String() string {
	var b strings.Builder
	for _, e := range o.envelopes {
		fmt.Fprintf(&b, "< %x\n", e.plain())
	}
	switch {
	case o.closed:
		b.WriteString("! closed\n")
	case len(o.envelopes) == 0:
		b.WriteString("! no answer\n")
	}
	return b.String()
}

// plain is an envelope that says nothing of compression.
func (e *envelope) plain() []byte {
	b := e.bytes()
	b[1] &^= flagCompressed
	return b
}

// askOurs sends a request whose answer differs and returns the answer: at least as many envelopes as expected, and all
// that follow them immediately.
func (r *replay) askOurs(x *exchange, c *connection, want *ours) (*ours, []expectedEnvelope, error) {
	recorded, err := expected(x, c.framed, c.compression)
	if err != nil {
		return nil, nil, fmt.Errorf("the recording: %w", err)
	}
	if err := c.send(r.withTraceIDs(x.request), x.state.raw); err != nil {
		return nil, nil, err
	}
	got := &ours{}
	for {
		wait := wrongWait
		if want == nil || len(got.envelopes) < len(want.envelopes) || want.closed {
			wait = answerWait
		}
		e, err := c.next(wait)
		if err != nil {
			got.closed = !errors.Is(err, errSilent)
			break
		}
		got.envelopes = append(got.envelopes, e)
	}
	slices.SortStableFunc(got.envelopes, func(a, b *envelope) int { return a.stream() - b.stream() })
	return got, recorded, nil
}

// isRecorded reports whether an answer is Cassandra's.
func (o *ours) isRecorded(x *exchange, recorded []expectedEnvelope) bool {
	slices.SortStableFunc(recorded, func(a, b expectedEnvelope) int { return a.stream() - b.stream() })
	return o.closed == x.closed && slices.EqualFunc(recorded, o.envelopes, func(w expectedEnvelope, e *envelope) bool {
		return w.matches(e)
	})
}

// same compares answers byte for byte, but for the name of a connection in the text about a broken checksum.
func (o *ours) same(other *ours) bool {
	return o.closed == other.closed && slices.EqualFunc(o.envelopes, other.envelopes, func(a, b *envelope) bool {
		return bytes.Equal(channelID.ReplaceAll(a.plain(), []byte("$1")), channelID.ReplaceAll(b.plain(), []byte("$1")))
	})
}

// writeOurs writes the answers of the exchanges that differ.
func (v *verdicts) writeOurs(t *testing.T, outcomes []outcome) {
	t.Helper()
	var b strings.Builder
	b.WriteString(oursHead)
	for _, o := range outcomes {
		if o.ours == nil || o.difference == "" {
			continue
		}
		if known := v.ours[o.exchange.name()]; known != nil && known.same(o.ours) {
			o.ours = known
		}
		fmt.Fprintf(&b, "\n# %s %s\n%s", o.exchange.name(), o.exchange.title, o.ours)
	}
	if err := os.WriteFile(oursFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

var differenceNumber = regexp.MustCompile(`^differs (\d{3}) `)

// TestReasonsAreDifferences wants a number of docs/differences.md in each reason to differ, and no answer of ours
// without a verdict.
func TestReasonsAreDifferences(t *testing.T) {
	page, err := os.ReadFile("../../" + differences.Page)
	if err != nil {
		t.Fatal(err)
	}
	all, err := differences.Parse(string(page))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, d := range all {
		known[d.Number] = true
	}
	v := readVerdicts(t, verdictsFile)
	for _, reason := range v.reasons {
		if !strings.HasPrefix(reason, "differs") {
			continue
		}
		if m := differenceNumber.FindStringSubmatch(reason); m == nil || !known[m[1]] {
			t.Errorf("%q does not begin with the number of a difference in %s", reason, differences.Page)
		}
	}
	for name := range v.ours {
		if !strings.HasPrefix(v.of[name], "differs ") {
			t.Errorf("%s has an answer of %s, and does not differ in %s", oursFile, name, verdictsFile)
		}
	}
}

// TestOurs checks the instrument: an answer with one byte more, less or other, or on a connection that ends otherwise,
// is not the same.
func TestOurs(t *testing.T) {
	all := readOurs(t)
	if len(all) == 0 {
		t.Fatal("no answers")
	}
	for name, o := range all {
		again := &ours{}
		for line := range strings.Lines(o.String()) {
			if err := again.readLine(strings.TrimSpace(line)); err != nil {
				t.Fatal(name, err)
			}
		}
		if !o.same(again) {
			t.Errorf("%s is read as\n%s", name, again)
		}
		if o.same(&ours{envelopes: o.envelopes, closed: !o.closed}) {
			t.Errorf("%s: the end of the connection is not compared", name)
		}
		if len(o.envelopes) == 0 {
			continue
		}
		last := len(o.envelopes) - 1
		for what, body := range map[string][]byte{
			"a byte more":  append(bytes.Clone(o.envelopes[last].body), 0),
			"a byte less":  o.envelopes[last].body[:len(o.envelopes[last].body)-1],
			"another byte": append(bytes.Clone(o.envelopes[last].body[:len(o.envelopes[last].body)-1]), 0xff),
		} {
			other := &ours{envelopes: slices.Clone(o.envelopes), closed: o.closed}
			other.envelopes[last] = &envelope{header: o.envelopes[last].header, body: body}
			if o.same(other) {
				t.Errorf("%s: %s is not seen", name, what)
			}
		}
		if o.same(&ours{envelopes: o.envelopes[:last], closed: o.closed}) {
			t.Errorf("%s: an answer less is not seen", name)
		}
	}
}
