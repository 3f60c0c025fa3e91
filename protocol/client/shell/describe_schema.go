package shell

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

// describe sends DESCRIBE to the server. If the server has no such statement, the rows of its answer are written here,
// from the tables of system_schema.
func (s *Session) describe(ctx context.Context, a arguments) (*client.Result, error) {
	r, err := s.all(ctx, a.whole)
	if !lacksDescribe(err) {
		return r, err
	}
	words := a.words()
	switch words[0] {
	case "CLUSTER":
		return s.describeLocal(ctx)
	case "KEYSPACES", "TABLES", "COLUMNFAMILIES", "TYPES", "FUNCTIONS", "AGGREGATES":
		kind := strings.ToLower(strings.TrimSuffix(words[0], "S"))
		if words[0] == "COLUMNFAMILIES" {
			kind = "table"
		}
		return s.listDefinitions(ctx, kind)
	}
	if n := len(words); n > 2 && words[n-2] == "WITH" {
		return nil, shown("The server has no DESCRIBE, and its tables do not have all that WITH INTERNALS shows.")
	}
	wanted, err := s.wantedDefinitions(ctx, a)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, d := range wanted {
		rows = append(rows, []string{quote.Name(d.Keyspace), d.Kind, d.Title(), d.Statement})
	}
	return textRows([]string{"keyspace_name", "type", "name", "create_statement"}, rows), nil
}

// lacksDescribe reports whether an answer to DESCRIBE means that the server has no such statement. One that has it
// reports syntax errors after the first word.
func lacksDescribe(err error) bool {
	e, ok := cqlerr.As(err)
	if !ok {
		return false
	}
	switch e.Code {
	case cqlerr.SyntaxError:
		return strings.HasPrefix(e.Message, "line 1:0 ") || !strings.HasPrefix(e.Message, "line ")
	case cqlerr.Invalid:
		return strings.Contains(e.Message, "supported")
	}
	return false
}

// textRows is a result of texts.
func textRows(columns []string, rows [][]string) *client.Result {
	r := &client.Result{}
	for _, name := range columns {
		r.Columns = append(r.Columns, protocol.ColumnSpec{Name: name, Type: types.Text})
	}
	for _, row := range rows {
		var cells [][]byte
		for _, text := range row {
			cells = append(cells, []byte(text))
		}
		r.Rows = append(r.Rows, cells)
	}
	return r
}

// describeLocal answers DESCRIBE CLUSTER. Only the server itself knows its snitch.
func (s *Session) describeLocal(ctx context.Context) (*client.Result, error) {
	r, err := s.all(ctx, "SELECT * FROM system.local WHERE key = 'local'")
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for row := range model.Records(r) {
		partitioner := row.Text("partitioner")
		partitioner = partitioner[strings.LastIndexByte(partitioner, '.')+1:]
		rows = append(rows, []string{row.Text("cluster_name"), partitioner, "unknown"})
	}
	return textRows([]string{"cluster", "partitioner", "snitch"}, rows), nil
}

// listDefinitions answers DESCRIBE TABLES and the like: the names of a kind, in the keyspace in use or in all.
func (s *Session) listDefinitions(ctx context.Context, kind string) (*client.Result, error) {
	keyspace := s.keyspace
	if kind == "keyspace" {
		keyspace = ""
	}
	all, err := model.Definitions(ctx, s.all, keyspace)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d *model.Definition) bool { return d.Kind != kind })
	slices.SortStableFunc(all, func(a, b *model.Definition) int {
		return cmp.Or(strings.Compare(a.Keyspace, b.Keyspace),
			strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{quote.Name(d.Keyspace), d.Kind, d.Title()})
	}
	return textRows([]string{"keyspace_name", "type", "name"}, rows), nil
}

// describedKinds are the kinds of definitions by the word after DESCRIBE, with the error if there is none of the name.
var describedKinds = map[string]struct{ kind, missing string }{
	"TABLE":        {"table", "Table '%s' not found in keyspace '%s'"},
	"COLUMNFAMILY": {"table", "Table '%s' not found in keyspace '%s'"},
	"INDEX":        {"index", "Table for existing index '%s' not found in '%s'"},
	"MATERIALIZED": {"materialized_view", "Materialized view '%s' not found in '%s'"},
	"TYPE":         {"type", "User defined type '%s' not found in '%s'"},
	"FUNCTION":     {"function", "User defined function '%s' not found in '%s'"},
	"AGGREGATE":    {"aggregate", "User defined aggregate '%s' not found in '%s'"},
}

// wantedDefinitions returns the definitions of a schema, a keyspace or an object.
func (s *Session) wantedDefinitions(ctx context.Context, a arguments) ([]*model.Definition, error) {
	words, keyspace := a.words(), s.keyspace
	names := a.tokens
	by, byKind := describedKinds[words[0]]
	switch {
	case words[0] == "SCHEMA" || words[0] == "FULL":
		all, err := model.Definitions(ctx, s.all, "")
		return slices.DeleteFunc(all, func(d *model.Definition) bool {
			return words[0] == "SCHEMA" && model.OfServer(d.Keyspace)
		}), err
	case words[0] == "KEYSPACE" || words[0] == "ONLY":
		if names = names[slices.Index(words, "KEYSPACE")+1:]; len(names) > 0 {
			keyspace = names[0].identifier()
		}
		all, err := s.definitionsOf(ctx, keyspace)
		if words[0] == "ONLY" {
			all = all[:min(1, len(all))]
		}
		return all, err
	case words[0] == "MATERIALIZED":
		names = names[2:]
	case byKind:
		names = names[1:]
	}
	name, kinds, missing := names[len(names)-1].identifier(), []string{by.kind}, by.missing
	if len(names) == 3 {
		keyspace = names[0].identifier()
	}
	if !byKind {
		kinds, missing = []string{"table", "index", "materialized_view"}, "'%s' not found in keyspace '%s'"
	}
	if !byKind && len(names) == 1 {
		if all, err := model.Definitions(ctx, s.all, name); err != nil || len(all) > 0 {
			return all, err
		}
	}
	all, err := s.definitionsOf(ctx, keyspace)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		var wanted []*model.Definition
		for _, d := range all {
			if d.Kind == kind && d.Name == name || kind == "table" && d.Table == name {
				wanted = append(wanted, d)
			}
		}
		if len(wanted) > 0 {
			return wanted, nil
		}
	}
	return nil, shownf(missing, name, keyspace)
}

// definitionsOf returns the definitions of one keyspace, or an error if there is none.
func (s *Session) definitionsOf(ctx context.Context, keyspace string) ([]*model.Definition, error) {
	if keyspace == "" {
		return nil, shown("No keyspace specified and no current keyspace")
	}
	all, err := model.Definitions(ctx, s.all, keyspace)
	if err == nil && len(all) == 0 {
		return nil, shownf("'%s' not found in keyspaces", keyspace)
	}
	return all, err
}
