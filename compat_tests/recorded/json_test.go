package recorded

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// encode is a value as one line of JSON.
func (c *cassandra) encode(v any) string {
	c.t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (c *cassandra) decode(line string, v any) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(line), v); err != nil {
		c.t.Fatalf("%v in %s", err, line)
	}
}

// eachRecord replaces the lines of a file of JSON objects after the first, which has the stamp.
func eachRecord(file string, replace func(line string) string) string {
	first, rest, _ := strings.Cut(file, "\n")
	return first + "\n" + eachLine(rest, replace)
}

// row has the JSON values of a row by the names of their columns.
type row map[string]any

func rows(r *client.Result) []row {
	all := make([]row, len(r.Rows))
	for i, values := range r.Rows {
		all[i] = row{}
		for j, column := range r.Columns {
			all[i][column.Name] = value(column.Type, values[j])
		}
	}
	return all
}

// value converts a value to JSON for the files: blobs become hex, and types that JSON does not have become text.
func value(t types.Type, b []byte) any {
	if b == nil {
		return nil
	}
	switch t := t.(type) {
	case *types.Map:
		m := map[string]any{}
		for k, v := range types.Entries(b) {
			m[fmt.Sprint(value(t.Key, k))] = value(t.Value, v)
		}
		return m
	case *types.Set:
		l := []any{}
		for e := range types.Elements(b) {
			l = append(l, value(t.Elem, e))
		}
		return l
	}
	switch t {
	case types.Int:
		return types.DecodeInt(b)
	case types.BigInt, types.Timestamp:
		return types.DecodeBigInt(b)
	case types.Double:
		if d := types.DecodeDouble(b); !math.IsNaN(d) {
			return d
		}
		return "NaN"
	case types.Boolean:
		return types.DecodeBoolean(b)
	case types.Text:
		return string(b)
	case types.Blob:
		return hex.EncodeToString(b)
	}
	return t.Format(b)
}
