package transcripts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// Session is a file of steps after a comment.
type Session struct {
	Comment  []string // the lines that begin with # at the top, without Stamp
	Stamp    string   // the server it was recorded from: Cassandra 5.0.8
	Versions []protocol.Version
	Setup    []string // statements that must succeed before the first step
	Steps    []*Step
}

// Step is one action of a connection, and the answer.
type Step struct {
	Line     int // in the file
	Comment  []string
	Differs  string // why cqld does not answer as Cassandra does; empty: it does
	Conn     string
	Verb     string // the message or another action: QUERY, OPEN
	Text     string // after the verb
	Settings []Setting
	Expected Answers
}

// Setting is an indented line below a step: a field of its message that has not the usual value.
type Setting struct{ Name, Arg string }

// Answers has the lines that a step is answered with in each version.
type Answers map[protocol.Version][]string

const (
	differs        = "differs:"
	stampPrefix    = "# recorded from: "
	versionsPrefix = "versions"
	setupPrefix    = "setup "
	indent         = "    "
)

// Parse reads a session.
func Parse(text string) (*Session, error) {
	s := &Session{}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	at := 0
	for ; at < len(lines) && lines[at] != ""; at++ {
		if err := s.head(lines[at]); err != nil {
			return nil, fmt.Errorf("line %d: %w", at+1, err)
		}
	}
	if len(s.Versions) == 0 {
		return nil, errors.New("no line says which versions the session is for")
	}
	for ; at < len(lines); at++ {
		if lines[at] == "" {
			continue
		}
		step := &Step{Line: at + 1, Expected: Answers{}}
		for _, v := range s.Versions {
			step.Expected[v] = nil
		}
		for ; at < len(lines) && lines[at] != ""; at++ {
			if err := step.line(lines[at], s.Versions); err != nil {
				return nil, fmt.Errorf("line %d: %w", at+1, err)
			}
		}
		if step.Verb == "" {
			return nil, fmt.Errorf("line %d: a step without a message", step.Line)
		}
		s.Steps = append(s.Steps, step)
	}
	return s, nil
}

// head reads a line at the top of the file.
func (s *Session) head(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, stampPrefix):
		s.Stamp = line[len(stampPrefix):]
	case strings.HasPrefix(line, "#"):
		s.Comment = append(s.Comment, line)
	case word == versionsPrefix:
		for _, v := range strings.Fields(rest) {
			version, err := parseVersion(v)
			if err != nil {
				return err
			}
			s.Versions = append(s.Versions, version)
		}
	case strings.HasPrefix(line, setupPrefix):
		s.Setup = append(s.Setup, line[len(setupPrefix):])
	default:
		return fmt.Errorf("%q is nothing that stands at the top", line)
	}
	return nil
}

func parseVersion(s string) (protocol.Version, error) {
	if len(s) == 1 && protocol.Version(s[0]-'0').Supported() {
		return protocol.Version(s[0] - '0'), nil
	}
	return 0, fmt.Errorf("%q is no version of the protocol", s)
}

// line reads a line of a step.
func (st *Step) line(line string, versions []protocol.Version) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch {
	case strings.HasPrefix(line, "#"):
		st.Comment = append(st.Comment, line)
	case strings.HasPrefix(line, "<"):
		return st.Expected.line(line, versions)
	case word == differs:
		st.Differs = rest
	case strings.HasPrefix(line, indent):
		st.Settings = append(st.Settings, Setting{word, rest})
	case st.Verb != "":
		return errors.New("two messages without an empty line between them")
	default:
		st.Conn = word
		st.Verb, st.Text, _ = strings.Cut(rest, " ")
	}
	return nil
}

// String is the session as a file.
func (s *Session) String() string {
	var b strings.Builder
	for _, c := range s.Comment {
		fmt.Fprintln(&b, c)
	}
	if s.Stamp != "" {
		fmt.Fprintln(&b, stampPrefix+s.Stamp)
	}
	b.WriteString(versionsPrefix)
	for _, v := range s.Versions {
		fmt.Fprintf(&b, " %d", v)
	}
	b.WriteString("\n")
	for _, cql := range s.Setup {
		fmt.Fprintln(&b, setupPrefix+cql)
	}
	for _, st := range s.Steps {
		b.WriteString("\n" + st.String())
	}
	return b.String()
}

// String is the step as in a file.
func (st *Step) String() string {
	lines := slices.Clone(st.Comment)
	if st.Differs != "" {
		lines = append(lines, differs+" "+st.Differs)
	}
	lines = append(lines, strings.TrimSpace(st.Conn+" "+st.Verb+" "+st.Text))
	for _, o := range st.Settings {
		lines = append(lines, strings.TrimRight(indent+o.Name+" "+o.Arg, " "))
	}
	return strings.Join(append(lines, st.Expected.lines()...), "\n") + "\n"
}
