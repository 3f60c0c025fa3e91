package shell

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/diagram"
)

// extras are the commands that cqlsh does not have. They begin with a backslash and end with their line.
var extras map[string]func(s *Session, ctx context.Context, rest string) error

func init() { // likewise
	extras = map[string]func(s *Session, ctx context.Context, rest string) error{
		"format": (*Session).formatCommand, "timing": (*Session).timingCommand, "watch": (*Session).watchCommand,
		"plan": (*Session).planCommand, "diff": (*Session).diffCommand, "diagram": (*Session).diagramCommand,
		"live": (*Session).liveCommand, "top": (*Session).topCommand,
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

// watchInterval is how often \watch repeats a statement.
const watchInterval = 2 * time.Second

// watchCommand repeats a statement until it is cancelled.
func (s *Session) watchCommand(ctx context.Context, rest string) error {
	interval := watchInterval
	first, after, _ := strings.Cut(rest, " ")
	if d, err := time.ParseDuration(first); err == nil {
		if d <= 0 {
			return shown(`\watch needs a positive time, such as 2s.`)
		}
		interval, rest = d, strings.TrimSpace(after)
	}
	if rest == "" {
		if rest = s.last; rest == "" {
			return shown(`\watch needs a statement: none was run before.`)
		}
	}
	tokens, err := lex(rest + ";")
	if err != nil {
		return shown(err.Error())
	}
	statements, open := split(tokens)
	if len(statements) != 1 || open {
		return shown(`\watch repeats one statement.`)
	}
	more := s.o.More
	s.o.More = nil
	defer func() { s.o.More = more }()
	for {
		if s.o.Terminal && s.capture == nil {
			s.print("\x1b[H\x1b[2J%s, every %s: %s\n", time.Now().Format(time.TimeOnly), interval, rest)
		}
		err := s.statement(ctx, statements[0], rest+";")
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
		if err := errors.Join(s.console.Flush(), s.out.Flush()); err != nil {
			return err
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil
		}
	}
}

// diagramCommand draws the tables of a keyspace as boxes.
func (s *Session) diagramCommand(ctx context.Context, rest string) error {
	keyspace := s.keyspace
	if rest != "" {
		tokens, err := lex(rest)
		if err != nil || len(tokens) != 1 || !tokens[0].isName() {
			return shown(`\diagram takes the name of a keyspace.`)
		}
		keyspace = tokens[0].identifier()
	}
	if keyspace == "" {
		return shown(`\diagram needs the name of a keyspace: none is in use.`)
	}
	d, err := diagram.Read(ctx, s.all, []string{keyspace}, nil, false, diagram.Options{})
	if err != nil {
		return err
	}
	if d.Tables() == 0 {
		return shownf("There is no table in the keyspace %s.", keyspace)
	}
	var b strings.Builder
	if err := diagram.Text(&b, d); err != nil {
		return err
	}
	s.print("%s", b.String())
	return nil
}
