package script

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Mode is one way of running statements.
type Mode struct {
	Version  protocol.Version
	Prepared bool
	Binding  Binding // of prepared statements
	PageSize int32
}

// String is the name of the mode among the tests.
func (m Mode) String() string {
	how := "plain"
	switch {
	case m.Binding == Parts:
		how = "parts"
	case m.Binding == Bound:
		how = "bound"
	case m.Prepared:
		how = "prepared"
	}
	return fmt.Sprintf("v%d_%s_page%d", m.Version, how, m.PageSize)
}

// Runner runs blocks on one connection in a separate keyspace, which statements call {ks}. A script that logs in
// has a connection for each login.
type Runner struct {
	conn     *client.Conn
	mode     Mode
	keyspace string
	guarded  *guarded // nil: it is the runner of a script without settings
	logins   *logins
}

// Placeholder is the name of the keyspace of the run in statements and answers.
const Placeholder = "{ks}"

// answerTime is how long a statement may take. A Cassandra on a busy machine needs it for definitions.
const answerTime = 2 * time.Minute

// Open connects, and drops and creates the keyspace.
func Open(ctx context.Context, addr, keyspace string, m Mode) (*Runner, error) {
	conn, err := client.Dial(ctx, addr, superuser(m.Version))
	if err != nil {
		return nil, err
	}
	r := &Runner{conn: conn, mode: m, keyspace: keyspace, logins: &logins{addr: addr, super: conn}}
	for _, cql := range []string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"USE " + keyspace,
	} {
		if _, err := conn.Query(ctx, cql, nil, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", cql, err), conn.Close())
		}
	}
	return r, nil
}

// Reopen connects to a server on which the script has run.
func Reopen(ctx context.Context, addr, keyspace string, m Mode) (*Runner, error) {
	o := superuser(m.Version)
	o.Keyspace = keyspace
	conn, err := client.Dial(ctx, addr, o)
	if err != nil {
		return nil, err
	}
	return &Runner{conn: conn, mode: m, keyspace: keyspace, logins: &logins{addr: addr, super: conn}}, nil
}

// Close closes the connection and keeps the keyspace.
func (r *Runner) Close() error {
	return errors.Join(r.logins.close(), r.logins.super.Close())
}

// Drop removes the keyspace and closes the connection.
func (r *Runner) Drop(ctx context.Context) error {
	if r.guarded != nil {
		return errors.Join(r.guarded.drop(ctx, r.keyspace), r.conn.Close())
	}
	r.conn = r.logins.super
	_, err := r.conn.Query(ctx, "DROP KEYSPACE IF EXISTS "+r.keyspace, nil, nil)
	return errors.Join(err, r.logins.dropRoles(ctx), r.Close())
}

// Run runs a block and returns its answer, in lines. It closes a connection after a failure: a late answer must not be
// taken for the answer to another statement.
func (r *Runner) Run(ctx context.Context, b *Block) []string {
	var lines []string
	for _, statement := range b.Statements {
		cql := strings.ReplaceAll(strings.TrimSuffix(statement, ";"), Placeholder, r.keyspace)
		cql, err := r.logIn(ctx, cql)
		if err != nil {
			lines = append(lines, "error "+describe(err))
			continue
		}
		binding := b.binding(r.mode.Binding)
		columns, rows, warnings, refusals, err := r.statement(ctx, cql, b, binding)
		if binding != Unbound && (isFault(err) || slices.Contains(refusals, fault)) {
			lines = append(lines, fault)
			continue
		}
		r.logins.settle(ctx, cql)
		lines = append(lines, refusals...)
		switch {
		case err != nil:
			if _, answered := cqlerr.As(err); !answered {
				_ = r.conn.Close()
			}
			text := describe(err)
			if binding != Unbound {
				text = describeBound(err)
			}
			lines = append(lines, "error "+text)
		case b.Kind != Exec:
			lines = append(lines, formatRows(columns, rows)...)
		default:
			lines = append(lines, "ok")
		}
		for _, w := range warnings {
			lines = append(lines, "warning "+w)
		}
	}
	if b.Kind == Exec {
		lines = collapse(lines)
	}
	for i := range lines {
		lines[i] = currentTime.ReplaceAllString(lines[i], "$1 {time}")
		lines[i] = strings.ReplaceAll(oneLine(lines[i]), r.keyspace, Placeholder)
	}
	return lines
}

// oneLine keeps an answer on its line.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// usePrepared begins the warning that Cassandra sends once to a connection that prepares after a USE.
const usePrepared = "`USE <keyspace>` with prepared statements"

// request is a statement as it is sent.
type request struct {
	cql      string
	prepared *client.Prepared // nil: it is sent as text
	values   []types.Value
	warnings []string // of PREPARE
}

// prepare makes the request for a statement: in the mode's form, with as many markers as the server accepts. If it
// accepts fewer than possible, the refusal of all of them is a line of the answer.
func (r *Runner) prepare(ctx context.Context, cql string, b *Block, binding Binding) (q request, refusals []string, err error) {
	q.cql = cql
	if !r.mode.Prepared || b.tagged(plainPrefix) != "" {
		return q, nil, nil
	}
	var first, last error // of the form with all markers, and of the plain text
	for _, text := range boundTexts(cql, binding) {
		if q.prepared, last = r.conn.Prepare(ctx, text.cql, ""); last == nil {
			q.values, q.warnings = text.values(q.prepared.Bind.Columns()), q.prepared.Warnings
			switch {
			case isFault(first):
				refusals = []string{fault}
			case isSyntax(first):
				refusals = []string{"refused syntax"}
			case first != nil:
				refusals = []string{"refused " + describeBound(first)}
			}
			return q, refusals, nil
		}
		if _, answered := cqlerr.As(last); !answered {
			return q, nil, last
		}
		if first == nil {
			first, q.warnings = last, q.prepared.Warnings
		}
	}
	if isSyntax(last) {
		return q, nil, last // no statement in any form
	}
	return q, nil, first
}

func isSyntax(err error) bool {
	e, ok := cqlerr.As(err)
	return ok && e.Code == cqlerr.SyntaxError
}

// statement runs one statement in the runner's mode, all its pages. A read that fails while an index may be built runs
// again, unless it is expected to fail.
func (r *Runner) statement(ctx context.Context, cql string, b *Block, binding Binding) (
	columns []protocol.ColumnSpec, rows [][][]byte, warnings, refusals []string, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	q, refusals, err := r.prepare(ctx, cql, b, binding)
	warnings = addWarnings(nil, q.warnings)
	if err == nil {
		var more []string
		columns, rows, more, err = r.pages(ctx, q, b, b.expectsReadFailure(binding))
		warnings = addWarnings(warnings, more)
	}
	if err == nil && createsView.MatchString(cql) {
		r.awaitViews(ctx)
	}
	return columns, rows, warnings, refusals, err
}

// createsView matches the statements after which Cassandra builds a view.
var createsView = regexp.MustCompile(`(?i)^\s*CREATE\s+MATERIALIZED\s+VIEW\b`)

// awaitViews waits until the views of the keyspace are built. A role without permission to read their state does not
// wait.
func (r *Runner) awaitViews(ctx context.Context) {
	count := func(table string) int {
		answer, err := r.conn.Query(ctx, "SELECT view_name FROM "+table+" WHERE keyspace_name = '"+r.keyspace+"'", nil,
			&client.QueryOptions{PageSize: 5000})
		if err != nil {
			return 0
		}
		return len(answer.Rows)
	}
	for end := time.Now().Add(buildTime); time.Now().Before(end); time.Sleep(buildTime / 100) {
		if count("system.built_views") >= count("system_schema.views") {
			return
		}
	}
}

// pages sends a request for one page after the other.
func (r *Runner) pages(ctx context.Context, q request, b *Block, mayFail bool) (
	columns []protocol.ColumnSpec, rows [][][]byte, warnings []string, err error,
) {
	o, err := r.queryOptions(b)
	if err != nil {
		return nil, nil, nil, err
	}
	building := time.Now().Add(buildTime)
	for restarts := 0; ; {
		var page *client.Result
		if q.prepared != nil {
			page, err = r.conn.Execute(ctx, q.prepared, q.values, o)
		} else {
			page, err = r.conn.Query(ctx, q.cql, nil, o)
		}
		if page != nil {
			warnings = addWarnings(warnings, page.Warnings)
		}
		if isSchemaChanged(err) && restarts < maxRestarts {
			if restarts++; restarts == maxRestarts/2 {
				o.PageSize = 0
			}
			rows, o.PagingState = nil, nil
			continue
		}
		if isIndexBuilding(err, mayFail) && time.Now().Before(building) {
			time.Sleep(buildTime / 100)
			rows, o.PagingState = nil, nil
			continue
		}
		if err != nil {
			return nil, nil, warnings, err
		}
		columns, rows = page.Columns, append(rows, page.Rows...)
		if len(page.PagingState) == 0 {
			return columns, rows, warnings, nil
		}
		o.PagingState = page.PagingState
	}
}

// queryOptions are the options for the statements of a block.
func (r *Runner) queryOptions(b *Block) (o *client.QueryOptions, err error) {
	o = &client.QueryOptions{PageSize: r.mode.PageSize}
	if page := b.tagged(pagePrefix); page != "" {
		n, err := strconv.ParseInt(page, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", b.Line, err)
		}
		o.PageSize = int32(n)
	}
	if level := b.tagged(levelPrefix); level != "" {
		for o.Consistency.String() != level {
			if o.Consistency++; !o.Consistency.Known() {
				return nil, fmt.Errorf("line %d: %s is not a consistency level", b.Line, level)
			}
		}
	}
	return o, nil
}

// maxRestarts is how often a DESCRIBE begins again when another client changes the schema between its pages. Half of
// the attempts use paging.
const maxRestarts = 100

// isSchemaChanged reports whether a DESCRIBE cannot go on because the schema has changed.
func isSchemaChanged(err error) bool {
	e, ok := cqlerr.As(err)
	return ok && strings.HasPrefix(e.Message, "The schema has changed since the previous page of the DESCRIBE statement")
}

// buildTime is how long Cassandra gets to build an index that a query needs.
const buildTime = 10 * time.Second

// isIndexBuilding reports whether a read has failed because an index is being built. The error of a legacy index gives
// no reason: if mayFail is set, it may be permanent and does not count.
func isIndexBuilding(err error, mayFail bool) bool {
	e, ok := cqlerr.As(err)
	return ok && (strings.Contains(e.Message, "1 failures: INDEX_NOT_AVAILABLE from") ||
		!mayFail && strings.Contains(e.Message, "1 failures: UNKNOWN from"))
}

// addWarnings adds the warnings of a page, each once: every page repeats the warnings of the statement.
func addWarnings(all, page []string) []string {
	for _, w := range page {
		if !slices.Contains(all, w) && !strings.HasPrefix(w, usePrepared) {
			all = append(all, w)
		}
	}
	return all
}

// readFailure is the word of scripts for a read that failed.
const readFailure = "read failure"

// errorWords are the words of scripts for the kinds of errors.
var errorWords = map[cqlerr.Code]string{
	cqlerr.ServerError:    "server",
	cqlerr.BadCredentials: "credentials",
	cqlerr.ProtocolError:  "protocol",
	cqlerr.Unavailable:    "unavailable",
	cqlerr.Overloaded:     "overloaded",
	cqlerr.TruncateError:  "truncate",
	cqlerr.ReadFailure:    readFailure,
	cqlerr.WriteFailure:   "write failure",
	cqlerr.SyntaxError:    "syntax",
	cqlerr.Unauthorized:   "unauthorized",
	cqlerr.Invalid:        "invalid",
	cqlerr.ConfigError:    "config",
	cqlerr.AlreadyExists:  "exists",
	cqlerr.Unprepared:     "unprepared",
}

func describe(err error) string {
	e, ok := cqlerr.As(err)
	if !ok {
		return "connection: " + err.Error()
	}
	word := errorWords[e.Code]
	if word == "" {
		word = fmt.Sprintf("%#04x", uint32(e.Code))
	}
	return word + ": " + sortSignatures(withoutChance(e.Message))
}
