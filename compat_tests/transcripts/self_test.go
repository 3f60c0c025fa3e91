package transcripts

import (
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/tamper"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol"
)

// TestTampered falsifies the answers on their way: a session that passes otherwise must detect it.
func TestTampered(t *testing.T) {
	server := cqltest.RunT(t, functions.Enable(), cqltest.WithStrictReplicas()).Addr()
	for _, c := range []struct {
		what    string
		session string
		change  tamper.Change
		step    string // the first that is seen to differ
	}{
		{"nothing", "warnings", func(m protocol.Response) protocol.Response { return m }, ""},
		{"another error code", "paging", tamper.OtherCode(cqlerr.ProtocolError, cqlerr.ServerError), "page 0"},
		{"another error text", "paging", tamper.OtherMessage, "ORDER BY c"},
		{"no warnings", "warnings", tamper.DropWarnings, "zeros 3000"},
		{"rows in another order", "paging", tamper.SwapRows, "WHERE p = 1"},
		{"another page", "paging", tamper.ToggleMore, "WHERE p = 1"},
		{"another type", "paging", tamper.OtherType, "WHERE p = 1"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := readSession(t, "sessions/"+c.session+".txt")
			s.Versions = []protocol.Version{protocol.V5}
			for _, st := range s.Steps {
				st.Expected = Answers{protocol.V5: st.Expected[protocol.V5]}
			}
			got := compare(s, runSession(t, tamper.RunT(t, server, c.change), c.session, s, false), false)
			if c.step == "" {
				report(t, c.session, s, got)
			} else if len(got) == 0 || !strings.Contains(got[0].step.String(), c.step) {
				t.Errorf("not seen where it should be: %v", got)
			}
		})
	}
}

// TestMarks checks that a mark that is not true is found.
func TestMarks(t *testing.T) {
	s := &Session{Versions: []protocol.Version{protocol.V4}}
	for _, c := range []struct {
		differs    string
		want, have string
		seen       bool
	}{
		{"", "READY", "READY", false},
		{"", "READY", "RESULT void", true},
		{"X", "READY", "RESULT void", false},
		{"X", "READY", "READY", true},
	} {
		st := &Step{Differs: c.differs, Expected: Answers{protocol.V4: {c.want}}}
		s.Steps = []*Step{st}
		if got := compare(s, []Answers{{protocol.V4: {c.have}}}, false); (len(got) > 0) != c.seen {
			t.Errorf("%+v: %v", c, got)
		}
		if got := compare(s, []Answers{{protocol.V4: {c.have}}}, true); (len(got) > 0) != (c.want != c.have) {
			t.Errorf("%+v, Cassandra: %v", c, got)
		}
	}
}

// TestMergedAnswers prints answers of several versions as one and reads them again.
func TestMergedAnswers(t *testing.T) {
	versions := []protocol.Version{protocol.V3, protocol.V4, protocol.V5}
	a := Answers{
		protocol.V3: {"PREPARED", "  columns", "", "end"},
		protocol.V4: {"PREPARED", "  key", "  columns", "end", "end"},
		protocol.V5: {"PREPARED", "  metadata", "  key", "  columns"},
	}
	got := Answers{}
	for _, line := range a.lines() {
		if err := got.line(line, versions); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range versions {
		if !slices.Equal(got[v], a[v]) {
			t.Errorf("v%d: %q, want %q of %q", v, got[v], a[v], a.lines())
		}
	}
	if first := a.lines()[:4]; !slices.Equal(first, []string{"< PREPARED", "<5   metadata", "<45   key", "<   columns"}) {
		t.Errorf("%q", first)
	}
}

// TestRefusedSessions has files that are no sessions.
func TestRefusedSessions(t *testing.T) {
	for _, text := range []string{
		"# no versions", "versions 7", "versions 4\nnonsense", "versions 4\n\n# a comment alone",
		"versions 4\n\na OPTIONS\nb OPTIONS", "versions 4\n\na OPTIONS\n<5 READY",
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
	for _, step := range []*Step{
		{Verb: "NOPE"},
		{Verb: "OPTIONS", Settings: []Setting{{"values", "int 1"}}},
		{Verb: "QUERY", Settings: []Setting{{"nope", ""}}},
		{Verb: "QUERY", Settings: []Setting{{"values", "int x"}}},
		{Verb: "QUERY", Settings: []Setting{{"values", "a=int 1 | int 2"}}},
		{Verb: "QUERY", Settings: []Setting{{"state", "$s1"}}},
		{Verb: "QUERY", Settings: []Setting{{"query", "SELECT"}}},
		{Verb: "QUERY", Settings: []Setting{{"consistency", "SOME"}}},
		{Verb: "BATCH", Text: "some"},
		{Verb: "EXECUTE", Text: "$p1"},
	} {
		if _, err := newRequest(step, newSymbols("ks", "addr"), protocol.V5); err == nil {
			t.Errorf("%s is taken for a message", step)
		}
	}
}

// TestRemarks finds bytes that a decoded message does not have, and those it has otherwise.
func TestRemarks(t *testing.T) {
	body := protocol.AppendBody(nil, protocol.V4, &protocol.SetKeyspace{Keyspace: "ks"})
	h := protocol.Header{Version: protocol.V4, Response: true, Opcode: protocol.OpResult}
	for _, c := range []struct {
		body []byte
		want string
	}{
		{body, ""},
		{append(slices.Clone(body), 0xab), "left over 0xab"},
		// The flags of rows without columns: none, or one that nothing is known of.
		{[]byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, ""},
		{[]byte{0, 0, 0, 2, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0}, "from byte 7 on 0x40"},
		{[]byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, "left over 0x01"},
	} {
		e, err := decode(h, c.body)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.remarks(), "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%x: %q, want %q", c.body, got, c.want)
		}
	}
}
