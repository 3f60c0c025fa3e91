package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/json"
)

// JSONColumns are the columns of a table as INSERT JSON gives them values.
type JSONColumns struct {
	Text    Expr             // the JSON; nil if it was known when the statement was planned
	columns []*schema.Column // in the order in which Cassandra looks at them
	unset   bool             // a column without value is left alone, and not null
}

// NewJSONColumns are the columns of t.
func NewJSONColumns(t *schema.Table, unset bool) *JSONColumns {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	j := &JSONColumns{unset: unset}
	for _, at := range schema.NameOrder(names) {
		j.columns = append(j.columns, t.Columns[at])
	}
	return j
}

// jsonPerByte is about how much memory each byte of JSON may take while it is read: numbers of one digit take that.
const jsonPerByte = 40

// Read evaluates the text and reads it, unless the values are kept.
func (j *JSONColumns) Read(x *Context) (values []types.Value, err error) {
	if x.Kept == nil {
		return j.read(x)
	}
	if x.Kept.json == nil {
		x.Kept.json, err = j.read(x)
	}
	return x.Kept.json, err
}

// read evaluates the text and reads it.
func (j *JSONColumns) read(x *Context) ([]types.Value, error) {
	v, err := j.Text.Eval(x)
	switch {
	case err != nil:
		return nil, err
	case v.IsNull():
		return nil, errNullJSON()
	case x.Hold != nil:
		if err := x.Hold(jsonPerByte * len(v.Bytes)); err != nil {
			return nil, err
		}
	}
	return j.Parse(string(v.Bytes), &types.Clock{Now: x.Env.Now}, x.Step)
}

// errNullJSON is for null in the place of an object.
func errNullJSON() error { return cqlerr.Invalidf("Got null for INSERT JSON values") }

// Parse reads the values of columns, by schema.Column.Index. It calls step now and then, whose error ends it; nil:
// it is not called.
func (j *JSONColumns) Parse(text string, clock *types.Clock, step func() error) ([]types.Value, error) {
	object, err := json.DecodeObject(text, step)
	if wrong := new(json.Error); errors.As(err, &wrong) {
		return nil, cqlerr.Invalidf("Could not decode JSON string as a map: %s. (String was: %s)", err, text)
	}
	switch {
	case err != nil:
		return nil, err
	case object == nil:
		return nil, errNullJSON()
	}
	object.Fold()
	clock = clock.For(text)
	values := slices.Repeat([]types.Value{{Unset: j.unset}}, len(j.columns))
	for _, c := range j.columns {
		v, given := object.Take(c.Name)
		if !given {
			continue
		}
		if values[c.Index], err = readColumn(c, v, clock); err != nil {
			return nil, err
		}
	}
	for key := range object.All() {
		return nil, cqlerr.Invalidf("JSON values map contains unrecognized column: %s", key)
	}
	return values, nil
}

// readColumn reads the value of one column.
func readColumn(c *schema.Column, v json.Value, clock *types.Clock) (types.Value, error) {
	if v == nil {
		return types.Value{}, nil
	}
	b, err := clock.ParseJSON(c.Type, v)
	if wrong := new(types.ValueError); errors.As(err, &wrong) && !wrong.Request {
		return types.Value{}, cqlerr.Invalidf("Error decoding JSON value for %s: %s", c.Name, wrong.Message)
	}
	if err != nil {
		return types.Value{}, invalidValue(err)
	}
	return types.Value{Bytes: b}, nil
}

// JSONColumn is the value of a column in a bound INSERT JSON.
type JSONColumn struct{ Column *schema.Column }

// Type is the column's.
func (c *JSONColumn) Type() types.Type { return c.Column.Type }

// Eval returns the value that was read from the text.
func (c *JSONColumn) Eval(x *Context) (types.Value, error) { return x.JSON[c.Column.Index], nil }

// String prints json and the name of the column.
func (c *JSONColumn) String() string { return "json " + c.Column.Name }

// JSONRow is the row of SELECT JSON: an object with the selected values by their names.
type JSONRow struct {
	Names  []string
	Values []Expr
}

// Type is text.
func (*JSONRow) Type() types.Type { return types.Text }

// Eval prints the values.
func (r *JSONRow) Eval(x *Context) (types.Value, error) {
	object := []byte{'{'}
	for i, e := range r.Values {
		v, err := e.Eval(x)
		if err != nil {
			return types.Value{}, err
		}
		if i > 0 {
			object = append(object, ", "...)
		}
		object = append(json.AppendKey(object, r.Names[i]), ": "...)
		if v.Bytes == nil {
			object = append(object, "null"...)
		} else {
			if object, err = types.AppendJSONSteps(object, e.Type(), v.Bytes, x.Step); err != nil {
				return types.Value{}, invalidValue(err)
			}
		}
	}
	return types.Value{Bytes: append(object, '}')}, nil
}

// String prints the names and their values.
func (r *JSONRow) String() string {
	parts := make([]string, len(r.Values))
	for i, e := range r.Values {
		parts[i] = r.Names[i] + ": " + e.String()
	}
	return "json {" + strings.Join(parts, ", ") + "}"
}
