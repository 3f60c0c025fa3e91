package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// Options are the parameters of a session.
type Options struct {
	Login
	Keyspace       string
	Protocol       protocol.Version // 0: the newest that the server knows
	RequestTimeout time.Duration    // for each answer
	TraceWait      time.Duration    // for a trace to be complete
	Version        string           // of this program

	In       io.Reader
	Name     string // of In, for errors
	Out, Err io.Writer

	Terminal   bool   // results are for a person: every page has a header, errors have no line numbers
	Color      bool   // results and errors have colours
	Format     string // one of Formats
	TimeFormat string // of timestamps, as for strftime; "" is cqlsh's
	Zone       *time.Location
	Digits     [2]int // after the point of floats and doubles; 0 is cqlsh's
	CopyFile   string // has COPY's options, in the sections of a cqlshrc; "": none

	// More waits until the next page is wanted, and reports false if none is. nil: all pages follow each other.
	More func() bool

	// Width is the number of columns of the terminal, or 0. nil: it is not known.
	Width func() int

	// AskPassword asks for the password of LOGIN. nil: LOGIN needs one.
	AskPassword func() (string, error)

	// History returns the last n lines that were typed. nil: there is no history.
	History func(n int) []string
}

// Session runs statements and the commands of cqlsh on a connection, and prints their results. It is used by one
// goroutine.
type Session struct {
	o      Options
	conn   *client.Conn
	server *serverInfo // nil: not read yet
	style  style

	keyspace            string // "": none
	consistency, serial protocol.Consistency
	pageSize            int
	paging              bool
	expand, timing      bool
	tracing             traceMode

	maxCell int // columns of a cell of a table on the terminal; 0: no limit

	kinds map[[2]string]map[string]string // the kinds of columns of tables, by keyspace and table

	out     *bufio.Writer // results
	console *bufio.Writer // output of commands; the same as out unless results are captured
	capture *os.File

	input  *bufio.Reader
	last   string // statement, for \watch
	buffer string // lines of a statement that is not complete
	line   int    // lines that were read, plus 1, as cqlsh counts
	failed bool   // a statement failed
	ended  bool
}

// serverInfo is a part of system.local.
type serverInfo struct{ cluster, release, cql, datacenter string }

// defaultPageSize is the page size of cqlsh.
const defaultPageSize = 100

// Start connects to the server.
func Start(ctx context.Context, o Options) (*Session, error) {
	s := &Session{o: o, keyspace: o.Keyspace}
	s.resetSettings()
	s.style = plainStyle
	s.style.color = o.Color
	if o.TimeFormat != "" {
		s.style.timeFormat = o.TimeFormat
	}
	if o.Zone != nil {
		s.style.zone = o.Zone
	}
	if o.Digits[0] > 0 {
		s.style.float = o.Digits[0]
	}
	if o.Digits[1] > 0 {
		s.style.double = o.Digits[1]
	}
	s.out = bufio.NewWriter(o.Out)
	s.console = s.out
	if err := s.connect(ctx); err != nil {
		return nil, connectFailure{err}
	}
	return s, nil
}

// ErrConnect means that there was no connection from the beginning.
var ErrConnect = errors.New("no connection")

// connectFailure is an error that is ErrConnect, with the text of another one.
type connectFailure struct{ error }

// Is reports whether err is ErrConnect.
func (connectFailure) Is(err error) bool { return err == ErrConnect }

// Unwrap is the other error.
func (f connectFailure) Unwrap() error { return f.error }

// resetSettings sets everything that commands change to its default.
func (s *Session) resetSettings() {
	s.consistency, s.serial = cqlerr.One, cqlerr.Serial
	s.paging, s.pageSize, s.expand, s.tracing = true, defaultPageSize, false, traceOff
	s.line = 1
}

// connect opens the connection, with the session's keyspace.
func (s *Session) connect(ctx context.Context) error {
	dialling, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	conn, err := client.Dial(dialling, s.o.Addr, client.Options{
		Keyspace: s.keyspace, Username: s.o.Username, Password: s.o.Password, TLS: s.o.TLS, Version: s.o.Protocol,
	})
	if err != nil {
		return err
	}
	s.close()
	s.conn = conn
	return nil
}

// about reads the server's description of itself, once. Without one the server is called unknown.
func (s *Session) about(ctx context.Context) *serverInfo {
	if s.server != nil {
		return s.server
	}
	info := &serverInfo{"unknown", "unknown", "unknown", "None"}
	if s.conn == nil {
		return info
	}
	r, err := s.all(ctx, "SELECT * FROM system.local WHERE key = 'local'")
	if err != nil {
		return info
	}
	for row := range model.Records(r) {
		for column, into := range map[string]*string{
			"cluster_name": &info.cluster, "release_version": &info.release, "cql_version": &info.cql,
			"data_center": &info.datacenter,
		} {
			if text := row.Text(column); text != "" {
				*into = text
			}
		}
	}
	s.server = info
	return info
}

func (s *Session) close() {
	if s.conn != nil {
		_ = s.conn.Close() // there is nothing to do if it fails
		s.conn = nil
	}
}

// Close ends the session.
func (s *Session) Close() {
	s.close()
	_ = s.console.Flush() // errors of output are those of the last write
	if s.capture != nil {
		_ = s.capture.Close()
	}
}

// ErrStatements means that statements failed; their errors were printed.
var ErrStatements = errors.New("statements failed")

// RunText runs the statements of a text. The last one needs no semicolon. If it is incomplete, none is run.
func (s *Session) RunText(ctx context.Context, script string) error {
	if !strings.HasSuffix(script, ";") {
		script += ";"
	}
	s.buffer = script
	return s.finish(s.runLast(ctx, "Incomplete statement: nothing was run"))
}

// RunInput runs the statements that are read from Options.In, line by line.
func (s *Session) RunInput(ctx context.Context) error {
	in := s.in()
	for first := true; !s.ended; first = false {
		if s.o.Terminal {
			s.print("%s", s.Prompt())
			if err := s.console.Flush(); err != nil {
				return err
			}
		}
		text, err := transfer.ReadLine(in, transfer.MaxLine)
		line := string(text)
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
		if _, err := s.Feed(ctx, line); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if !s.ended {
		if err := s.runLast(ctx, "Incomplete statement at end of file"); err != nil {
			return err
		}
	}
	return s.finish(nil)
}

// in reads the session's input. COPY reads lines of it too.
func (s *Session) in() *bufio.Reader {
	if s.input == nil {
		s.input = bufio.NewReaderSize(s.o.In, transfer.LineBuffer)
	}
	return s.input
}

// runLast runs the last statement of a text, which needs no semicolon. incomplete is the error if it is not complete.
func (s *Session) runLast(ctx context.Context, incomplete string) error {
	complete, err := s.run(ctx)
	if complete || err != nil {
		return err
	}
	s.buffer += "\n;"
	if complete, err = s.run(ctx); !complete && err == nil {
		s.printError(incomplete)
	}
	return err
}

func (s *Session) finish(err error) error {
	if err = errors.Join(err, s.console.Flush(), s.out.Flush()); err == nil && s.failed {
		err = ErrStatements
	}
	return err
}

// Feed adds a line with its end. If that completes a statement, all statements of the lines so far are run, and
// complete is true. An error means that the session cannot go on; errors of statements are only printed.
func (s *Session) Feed(ctx context.Context, line string) (complete bool, err error) {
	s.line++
	continued := s.buffer != "" && !strings.Contains(line, ";") && s.needsSemicolon()
	s.buffer += line
	if continued {
		return false, nil
	}
	return s.run(ctx)
}

// needsSemicolon reports whether the buffer surely begins with a statement that only a semicolon ends. Then lines
// without one need not be looked at, which keeps long statements cheap.
func (s *Session) needsSemicolon() bool {
	begin := strings.TrimLeft(s.buffer, " \t\r\n")
	first := begin[:span(begin, func(c byte) bool { return isLetter(c) || c == '_' })]
	return first != "" && !lineCommands[strings.ToLower(first)]
}

// run runs the statements of the buffer, unless the last one is incomplete.
func (s *Session) run(ctx context.Context) (done bool, err error) {
	if line := strings.TrimSpace(s.buffer); strings.HasPrefix(line, `\`) {
		s.buffer = ""
		return true, s.protect(ctx, line, func() error { return s.extra(ctx, line) })
	}
	source := s.buffer
	tokens, err := lex(source)
	if err != nil {
		s.buffer = ""
		s.printLexError(err)
		return true, nil
	}
	statements, open := split(tokens)
	if !complete(statements, open) {
		return false, nil
	}
	s.buffer = ""
	for i, statement := range statements {
		if s.ended || i > 0 && ctx.Err() != nil {
			break
		}
		whole := source[statement[0].start:statement[len(statement)-1].end]
		if err := s.protect(ctx, whole, func() error { return s.statement(ctx, statement, whole) }); err != nil {
			return true, err
		}
	}
	return true, nil
}

// Reset forgets lines of a statement that is not complete.
func (s *Session) Reset() { s.buffer = "" }

// Ended reports whether EXIT was run.
func (s *Session) Ended() bool { return s.ended }

// Pending is the text of a statement that is not complete.
func (s *Session) Pending() string { return s.buffer }

// Keyspace is the keyspace in use, or "".
func (s *Session) Keyspace() string { return s.keyspace }

// Prompt is the prompt for the next line.
func (s *Session) Prompt() string {
	switch {
	case s.buffer != "" && s.keyspace != "":
		return strings.Repeat(" ", len(s.keyspace)) + "    ... "
	case s.buffer != "":
		return "   ... "
	}
	prompt := "cqlsh> "
	if s.keyspace != "" {
		prompt = "cqlsh:" + s.keyspace + "> "
	}
	if s.o.Username != "" {
		prompt = s.o.Username + "@" + prompt
	}
	return prompt
}

// Greet prints the server's name and versions. It fails if the connection is lost and a new one cannot be opened.
func (s *Session) Greet(ctx context.Context) error {
	return s.protect(ctx, "", func() error {
		s.showHost(ctx)
		s.showVersion(ctx)
		s.print("Use HELP for help.\n")
		return nil
	})
}

// protect runs a statement and prints its error. If the connection is lost it connects again, and fails if it cannot.
func (s *Session) protect(ctx context.Context, statement string, run func() error) error {
	if err := run(); err != nil {
		s.printStatementError(ctx, err)
		s.underline(err, statement)
	}
	if err := errors.Join(s.console.Flush(), s.out.Flush()); err != nil {
		return err
	}
	if s.conn != nil {
		return nil
	}
	if err := s.connect(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the connection to %s is lost: %w", s.o.Addr, err)
	}
	return nil
}

// captureTo prints results into a file, without colours.
func (s *Session) captureTo(f *os.File) {
	s.out, s.capture, s.style.color = bufio.NewWriter(f), f, false
}

// print prints the output of a command, which CAPTURE does not capture.
func (s *Session) print(format string, args ...any) { fmt.Fprintf(s.console, format, args...) }

// query sends a statement. Only an answer of the server keeps the connection: after a timeout or a cancellation another
// answer would come later.
func (s *Session) query(ctx context.Context, statement string, o *client.QueryOptions) (*client.Result, error) {
	if s.conn == nil { // an earlier step of the same command was cancelled
		if err := s.connect(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.RequestTimeout)
	defer cancel()
	r, err := s.conn.Query(ctx, statement, nil, o)
	if _, ok := cqlerr.As(err); err != nil && !ok {
		s.close()
	}
	return r, err
}

// all runs a statement and returns the rows of all its pages.
func (s *Session) all(ctx context.Context, statement string) (r *client.Result, err error) {
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 1000}
	for {
		page, err := s.query(ctx, statement, &o)
		if err != nil {
			return nil, err
		}
		if r != nil {
			page.Rows = append(r.Rows, page.Rows...)
		}
		if r = page; r.PagingState == nil {
			return r, nil
		}
		o.PagingState = r.PagingState
	}
}

// statement runs a statement or command.
func (s *Session) statement(ctx context.Context, tokens []token, whole string) error {
	if run := commands[strings.ToLower(tokens[0].text)]; run != nil && tokens[0].kind != name {
		return run(s, ctx, arguments{tokens: tokens[1 : len(tokens)-1], whole: whole, keyword: tokens[0].text})
	}
	traced := s.tracing
	if fromTraces(tokens, s.keyspace) {
		traced = traceOff
	}
	s.last = strings.TrimSuffix(whole, ";")
	return s.perform(ctx, whole, traced)
}

// fromTraces reports whether a statement reads the traces, which is not traced.
func fromTraces(tokens []token, keyspace string) bool {
	if !tokens[0].is("SELECT") {
		return false
	}
	for i := range len(tokens) - 2 {
		if tokens[i].is("FROM") {
			return tokens[i+1].is("system_traces") || tokens[i+2].text != "." && keyspace == "system_traces"
		}
	}
	return false
}

// use runs USE, which needs no consistency level.
func (s *Session) use(ctx context.Context, keyspace string) error {
	_, err := s.query(ctx, "USE "+quote.Always(keyspace), nil)
	if err == nil {
		s.keyspace = keyspace
	}
	return err
}

// perform runs a statement and prints its result, warnings and traces.
func (s *Session) perform(ctx context.Context, statement string, traced traceMode) error {
	o := client.QueryOptions{Consistency: s.consistency, SerialConsistency: s.serial, Tracing: traced != traceOff}
	if s.paging {
		o.PageSize = int32(s.pageSize)
	}
	began := time.Now()
	r, err := s.query(ctx, statement, &o)
	if err != nil {
		return err
	}
	var traces [][16]byte
	note := func(r *client.Result) {
		if traced != traceOff && r.TracingID != [16]byte{} {
			traces = append(traces, r.TracingID)
		}
	}
	note(r)
	if r.SetKeyspace != "" {
		s.keyspace = r.SetKeyspace
	}
	next := func() (*client.Result, error) {
		o.PagingState = r.PagingState
		following, err := s.query(ctx, statement, &o)
		if err == nil {
			note(following)
			r = following
		}
		return following, err
	}
	if c := r.SchemaChange; c != nil {
		s.kinds = nil
	}
	if err := s.printResult(r, statement, s.nameColors(ctx, r), next); err != nil {
		return err
	}
	if s.timing {
		fmt.Fprintf(s.out, "%.1f ms\n", float64(time.Since(began).Microseconds())/1e3)
	}
	s.printWarnings(r.Warnings)
	if traced != traceOff && len(traces) == 0 {
		return shown("The server has not traced the statement.")
	}
	for _, id := range traces {
		if err := s.showTrace(ctx, id, traced, true); err != nil {
			return err
		}
	}
	return nil
}

// printWarnings prints the warnings of a statement as cqlsh does.
func (s *Session) printWarnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	out := io.Writer(s.out)
	if s.o.Format != FormatTable {
		out = s.o.Err // results are for another program
	}
	fmt.Fprint(out, "\nWarnings :\n")
	for _, w := range warnings {
		fmt.Fprintf(out, "%s\n\n", s.style.paint(w, yellow))
	}
}
