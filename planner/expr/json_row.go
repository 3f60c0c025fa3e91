package expr

import (
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/json"
)

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
