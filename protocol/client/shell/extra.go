package shell

import (
	"context"
	"slices"
	"strings"
)

// extras are the commands that cqlsh does not have. They begin with a backslash and end with their line.
var extras map[string]func(s *Session, ctx context.Context, rest string) error

func init() { // likewise
	extras = map[string]func(s *Session, ctx context.Context, rest string) error{
		"format": (*Session).formatCommand, "timing": (*Session).timingCommand,
	}
}

// extra runs a command that begins with a backslash.
func (s *Session) extra(ctx context.Context, line string) error {
	keyword, rest, _ := strings.Cut(strings.TrimPrefix(line, `\`), " ")
	keyword = strings.TrimSuffix(keyword, ";")
	run := extras[strings.ToLower(keyword)]
	if run == nil {
		return shownf(`There is no command \%s; HELP lists all.`, keyword)
	}
	return run(s, ctx, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), ";")))
}

func (s *Session) formatCommand(_ context.Context, rest string) error {
	switch {
	case rest == "":
		s.print("The format is %s.\n", s.o.Format)
	case slices.Contains(Formats, rest):
		s.o.Format = rest
	default:
		return shownf("There is no format %s; there are %s.", rest, strings.Join(Formats, ", "))
	}
	return nil
}

func (s *Session) timingCommand(_ context.Context, rest string) error {
	if rest != "" {
		return shown(`\timing has no arguments.`)
	}
	s.timing = !s.timing
	s.print("Timing is %s.\n", onOff[s.timing])
	return nil
}
