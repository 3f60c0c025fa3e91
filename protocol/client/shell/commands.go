package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// arguments are the tokens of a command after its keyword.
type arguments struct {
	tokens  []token
	whole   string // the command as it was written
	keyword string
}

// commands are cqlsh's own commands, and the statements that change the session.
var commands map[string]func(s *Session, ctx context.Context, a arguments) error

func init() { // a variable that SOURCE refers to through Session.run
	commands = map[string]func(s *Session, ctx context.Context, a arguments) error{
		"use": (*Session).useCommand, "consistency": (*Session).consistencyCommand, "serial": (*Session).serialCommand,
		"paging": (*Session).pagingCommand, "expand": (*Session).expandCommand, "tracing": (*Session).tracingCommand,
		"show": (*Session).showCommand, "source": (*Session).sourceCommand, "capture": (*Session).captureCommand,
		"login": (*Session).loginCommand, "describe": (*Session).describeCommand, "desc": (*Session).describeCommand,
		"copy": (*Session).copyCommand, "help": (*Session).helpCommand, "?": (*Session).helpCommand,
		"exit": (*Session).exitCommand, "quit": (*Session).exitCommand, "clear": (*Session).clearCommand,
		"cls": (*Session).clearCommand, "history": (*Session).historyCommand,
	}
}

// improper is the error of a command that is not written as it must be.
func (a arguments) improper() error { return shownf("Improper %s command.", a.keyword) }

// none reports whether there are no arguments.
func (a arguments) none() bool { return len(a.tokens) == 0 }

// one returns the only argument in capitals if it is a word or number.
func (a arguments) one() (string, bool) {
	if len(a.tokens) != 1 || a.tokens[0].kind != word && a.tokens[0].kind != number {
		return "", false
	}
	return strings.ToUpper(a.tokens[0].text), true
}

// words returns the arguments in capitals; quoted names stay as they are.
func (a arguments) words() []string {
	var all []string
	for _, t := range a.tokens {
		if t.kind == word {
			all = append(all, strings.ToUpper(t.text))
			continue
		}
		all = append(all, t.text)
	}
	return all
}

// isName reports whether a token can be the name of something.
func (t *token) isName() bool { return t.kind == word || t.kind == name }

// identifier is the name that a token stands for.
func (t *token) identifier() string {
	if t.kind == name {
		return strings.ReplaceAll(t.text[1:len(t.text)-1], `""`, `"`)
	}
	return strings.ToLower(t.text)
}

// content is the value of a string.
func (t *token) content() string {
	if strings.HasPrefix(t.text, "'") {
		return strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'")
	}
	return t.text
}

func (s *Session) useCommand(ctx context.Context, a arguments) error {
	if len(a.tokens) != 1 || !a.tokens[0].isName() {
		return a.improper()
	}
	return s.use(ctx, a.tokens[0].identifier())
}

// level returns a consistency level by its name.
func level(name string) (protocol.Consistency, bool) {
	for c := cqlerr.Any; c.Known(); c++ {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

func (s *Session) consistencyCommand(_ context.Context, a arguments) error {
	if a.none() {
		s.print("Current consistency level is %s.\n", s.consistency)
		return nil
	}
	name, _ := a.one()
	c, ok := level(name)
	if !ok {
		return a.improper()
	}
	s.consistency = c
	s.print("Consistency level set to %s.\n", c)
	return nil
}

func (s *Session) serialCommand(_ context.Context, a arguments) error {
	words := a.words()
	if len(words) == 0 || len(words) > 2 || words[0] != "CONSISTENCY" {
		return a.improper()
	}
	if len(words) == 1 {
		s.print("Current serial consistency level is %s.\n", s.serial)
		return nil
	}
	c, ok := level(words[1])
	if !ok || !c.IsSerial() {
		return a.improper()
	}
	s.serial = c
	s.print("Serial consistency level set to %s.\n", c)
	return nil
}

// onOff is how settings are printed.
var onOff = map[bool]string{true: "ON", false: "OFF"}

// toggle runs a command with the argument ON or OFF, or none.
func (s *Session) toggle(a arguments, setting *bool) error {
	title := strings.ToUpper(a.keyword)
	if a.none() {
		s.print("%s is %s\n", title, onOff[*setting])
		return nil
	}
	state, _ := a.one()
	switch {
	case state != "ON" && state != "OFF":
		return a.improper()
	case *setting == (state == "ON"):
		s.print("%s is already %s\n", title, state)
	default:
		*setting = !*setting
		s.print("%s set to %s\n", title, state)
	}
	return nil
}

func (s *Session) expandCommand(_ context.Context, a arguments) error { return s.toggle(a, &s.expand) }

func (s *Session) pagingCommand(_ context.Context, a arguments) error {
	size, _ := a.one()
	if n, err := strconv.ParseInt(size, 10, 32); err == nil && n > 0 {
		s.paging, s.pageSize = true, int(n)
	} else if err := s.toggle(a, &s.paging); err != nil {
		return err
	}
	if s.paging {
		s.print("Page size: %d\n", s.pageSize)
	} else {
		s.pageSize = defaultPageSize
	}
	return nil
}

func (s *Session) tracingCommand(_ context.Context, a arguments) error {
	if mode, _ := a.one(); mode == "TREE" {
		s.tracing = traceTree
		s.print("TRACING set to TREE\n")
		return nil
	}
	on := s.tracing != traceOff
	if err := s.toggle(a, &on); err != nil {
		return err
	}
	switch {
	case !on:
		s.tracing = traceOff
	case s.tracing == traceOff:
		s.tracing = traceTable
	}
	return nil
}

func (s *Session) showCommand(ctx context.Context, a arguments) error {
	words := a.words()
	switch {
	case slices.Equal(words, []string{"VERSION"}):
		s.showVersion(ctx)
	case slices.Equal(words, []string{"HOST"}):
		s.showHost(ctx)
	case len(words) == 2 && words[0] == "SESSION" && a.tokens[1].kind == number:
		return s.showSession(ctx, words[1])
	case len(words) > 1 && words[0] == "REPLICAS":
		return s.showReplicas(ctx, a)
	default:
		return a.improper()
	}
	return nil
}

// cqlshVersion is the version of cqlsh that a session behaves like.
const cqlshVersion = "6.2.2"

func (s *Session) showVersion(ctx context.Context) {
	spoken := "unknown"
	if s.conn != nil { // else the server has not answered
		spoken = fmt.Sprintf("v%d", s.conn.Version())
	}
	server := s.about(ctx)
	version := cqlshVersion + "+cqld"
	if s.o.Version != "" {
		version += "-" + s.o.Version
	}
	s.print("[cqlsh %s | Cassandra %s | CQL spec %s | Native protocol %s]\n", version, server.release, server.cql, spoken)
}

func (s *Session) showHost(ctx context.Context) {
	s.print("Connected to %s at %s\n", s.style.paint(s.about(ctx).cluster, blue), s.o.Addr)
}

// expandPath replaces a leading ~ by the home folder.
func expandPath(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && rest[0] != '/' {
		return path
	}
	return filepath.Join(home, rest)
}

// openError prints an error of a file as Python does.
func openError(path string, err error) string {
	var reason *os.PathError
	if errors.As(err, &reason) {
		number, text := 0, reason.Err.Error()
		switch {
		case errors.Is(err, os.ErrNotExist):
			number, text = 2, "No such file or directory"
		case errors.Is(err, os.ErrPermission):
			number, text = 13, "Permission denied"
		}
		if number > 0 {
			return fmt.Sprintf("[Errno %d] %s: %s", number, text, pythonString(path))
		}
		return text
	}
	return err.Error()
}

// sourceCommand runs the statements of a file with default settings, except for the keyspace, which it does not change,
// and TRACING.
func (s *Session) sourceCommand(ctx context.Context, a arguments) error {
	if len(a.tokens) != 1 || a.tokens[0].kind != text {
		return a.improper()
	}
	path := expandPath(a.tokens[0].content())
	f, err := os.Open(path)
	if err != nil {
		return shownf("Could not open %s: %s", pythonString(path), openError(path, err))
	}
	defer f.Close()
	inner := *s
	inner.resetSettings()
	inner.tracing, inner.buffer, inner.input = s.tracing, "", nil
	inner.o.In, inner.o.Name, inner.o.Terminal = f, path, false
	inner.out, inner.capture = s.console, nil
	err = inner.RunInput(ctx)
	s.conn = inner.conn
	if err != nil && !errors.Is(err, ErrStatements) {
		return err
	}
	switch {
	case inner.keyspace == s.keyspace:
		return nil
	case s.keyspace == "":
		return s.connect(ctx) // USE cannot be undone
	}
	return s.use(ctx, s.keyspace)
}

func (s *Session) captureCommand(_ context.Context, a arguments) error {
	switch {
	case a.none() && s.capture == nil:
		s.print("Currently not capturing query output.\n")
		return nil
	case a.none():
		s.print("Currently capturing query output to %s.\n", pythonString(s.capture.Name()))
		return nil
	case len(a.tokens) != 1:
		return a.improper()
	case a.tokens[0].is("OFF"):
		if s.capture == nil {
			return shown("Not currently capturing output.")
		}
		err := errors.Join(s.out.Flush(), s.capture.Close())
		s.out, s.capture, s.style.color = s.console, nil, s.o.Color
		return err
	case a.tokens[0].kind != text:
		return a.improper()
	case s.capture != nil:
		return shownf("Already capturing output to %s. Use CAPTURE OFF to disable.", s.capture.Name())
	}
	path := expandPath(a.tokens[0].content())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return shownf("Could not open %s for append: %s", pythonString(path), openError(path, err))
	}
	s.captureTo(f)
	s.print("Now capturing query output to %s.\n", pythonString(path))
	return nil
}

func (s *Session) loginCommand(ctx context.Context, a arguments) (err error) {
	if len(a.tokens) < 1 || len(a.tokens) > 2 || a.tokens[0].kind != word && a.tokens[0].kind != text ||
		len(a.tokens) == 2 && a.tokens[1].kind != text {
		return a.improper()
	}
	before := s.o.Login
	s.o.Username = a.tokens[0].content()
	switch {
	case len(a.tokens) == 2:
		s.o.Password = a.tokens[1].content()
	case s.o.AskPassword == nil:
		s.o.Login = before
		return shown("LOGIN without a password needs a terminal to ask for it.")
	default:
		if s.o.Password, err = s.o.AskPassword(); err != nil {
			s.o.Login = before
			return err
		}
	}
	if err := s.connect(ctx); err != nil {
		s.o.Login = before
		return shown(ConnectError(s.o.Addr, err))
	}
	return nil
}

func (s *Session) exitCommand(_ context.Context, a arguments) error {
	if !a.none() {
		return a.improper()
	}
	s.ended = true
	return nil
}

func (s *Session) clearCommand(_ context.Context, a arguments) error {
	if !a.none() {
		return a.improper()
	}
	if s.o.Terminal {
		s.print("\x1b[H\x1b[2J\x1b[3J")
	}
	return nil
}
