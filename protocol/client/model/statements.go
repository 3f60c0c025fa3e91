package model

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// statementsQuery reads the statements that a cqld has recorded.
const statementsQuery = "SELECT * FROM cqld_control.statements"

// Statement is a statement that a client has run.
type Statement struct {
	Number           int64
	BatchType        string // of a BATCH: logged, unlogged or counter
	Nulls            int64  // bound to INSERT
	Opcode, Kind     string // as in cqld_control.statements
	Text             string
	Table            string // keyspace.table, or ""
	Client, Err      string
	Took             time.Duration
	Rows, Tombstones int64    // read
	Returned         int64    // rows
	Partitions       []string // keys, as literals
	Values           []string // bound ones as literals, or "unset"; only a record inside this process may have them
	FullScan         bool
	Prepared         bool
}

// ErrNotRecorded is returned for servers that do not record statements.
var ErrNotRecorded = errors.New("this needs a cqld that was started with --test-controls, which records statements")

// Statements reads the statements that a cqld has recorded, in order, without those that read them.
func Statements(ctx context.Context, query Query) (all []Statement, err error) {
	r, err := query(ctx, statementsQuery)
	if _, fromServer := cqlerr.As(err); fromServer {
		return nil, ErrNotRecorded
	}
	if err != nil {
		return nil, err
	}
	for row := range Records(r) {
		one := Statement{
			Number: row.Number("number"), Opcode: row.Text("opcode"), Kind: row.Text("kind"),
			BatchType: row.Text("batch_type"), Nulls: row.Number("nulls_inserted"),
			Text: row.Text("statement"), Client: row.Text("client"), Err: row.Text("error"),
			Rows: row.Number("rows_read"), Tombstones: row.Number("tombstones_read"), Returned: row.Number("returned"),
			Partitions: row.Texts("partitions"), FullScan: row.True("full_scan"), Prepared: row.True("prepared"),
		}
		if table := row.Text("table_name"); table != "" {
			one.Table = row.Text("keyspace_name") + "." + table
		}
		if b, _ := row.Value("took"); b != nil {
			_, _, nanos := types.DecodeDuration(b)
			one.Took = time.Duration(nanos)
		}
		if one.Text != statementsQuery {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Statement) int { return cmp.Compare(a.Number, b.Number) })
	return all, nil
}

// lexemes matches what Form keeps or replaces: spaces with comments, names, strings, UUIDs, numbers and blobs. It is
// compiled when it is first used, so that programs that never do have no part of it.
var (
	lexemes     *regexp.Regexp
	lexemesOnce sync.Once
)

func compileLexemes() {
	lexemes = regexp.MustCompile(`(?s)(?:\s|--[^\n]*|//[^\n]*|/\*.*?\*/)+|"(?:[^"]|"")*"|'(?:[^']|'')*'|\$\$.*?\$\$|` +
		`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9][0-9A-Za-z.]*(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*`)
}

// Form is a statement with ? instead of its strings and numbers, and without comments: statements of the same form
// have the same plan.
func Form(statement string) string {
	lexemesOnce.Do(compileLexemes)
	all := lexemes.ReplaceAllStringFunc(statement, func(s string) string {
		switch c := s[0]; {
		case c == '\'' || c == '$' || c >= '0' && c <= '9' || len(s) == 36 && s[8] == '-':
			return "?"
		case c <= ' ' || c == '/' || c == '-':
			return " "
		}
		return s
	})
	return strings.TrimRight(strings.TrimSpace(all), "; ")
}
