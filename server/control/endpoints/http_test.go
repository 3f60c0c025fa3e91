package endpoints

import (
	"context"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// newTables returns the tables of a server that does not listen.
func newTables(t *testing.T) *control.Tables {
	t.Helper()
	clock := control.NewClock(nil)
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil },
		System: append(server.SystemKeyspaces(), control.Keyspace()),
		Now:    clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	srv, err := server.New(server.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil { // the test's own context has ended
			t.Error(err)
		}
	})
	return control.New(srv, st, clock).Register()
}

// TestHTTP does with JSON what the tables do with CQL.
func TestHTTP(t *testing.T) {
	tables := newTables(t)
	handler := Handler(tables)
	for _, step := range []struct {
		request, body string
		code          int
		want          string // is contained in the answer
	}{
		{"PATCH /control/clock", `{"advance": "1h"}`, 200, `"frozen":false`},
		{"GET /control/clock", "", 200, `{"key":"local","ahead":"1h","frozen":false,"now":"`}, // exact while it runs
		{"PATCH /control/clock", `{"frozen": true}`, 200, `"frozen":true`},
		{"PATCH /control/clock", `{"now": "2030-01-01T00:00:00Z"}`, 200, `"now":"2030-01-01 00:00:00.000Z"`},
		{"PATCH /control/clock", `{"advance": 5}`, 400, `{"error":"advance: `},
		{"PATCH /control/clock", `{"ahead": "5s"}`, 400, `"Column ahead cannot be written"`},
		{"PATCH /control/clock", `{"key": "x"}`, 400, `"clock has no field key"`},
		{"PATCH /control/clock", `[]`, 400, `the body is no JSON object`},
		{"DELETE /control/clock", "", 204, ""},
		{"GET /control/clock", "", 200, `{"key":"local","frozen":false,"now":"`},

		{
			"PUT /control/faults/slow%20orders", `{"kind": "insert", "act": "write_timeout", "times": 2, "consistency": ["ONE"]}`, 200,
			`{"name":"slow orders","act":"write_timeout","acted":0,"consistency":["ONE"],"kind":"insert","matched":0,"position":1,"times":2}`,
		},
		{"PATCH /control/faults/slow%20orders", `{"times": null, "reasons": {"127.0.0.1": 1}}`, 200, `"reasons":{"127.0.0.1": 1}}`},
		{"PUT /control/faults/slow%20orders", `{"act": "drop"}`, 200, `{"name":"slow orders","act":"drop","acted":0,"matched":0,"position":1}`},
		{"PUT /control/faults/b", `{"act": "nope"}`, 400, `act is 'nope': want one of`},
		{"PUT /control/faults/b", `{"nope": 1}`, 400, `faults has no field nope`},
		{"PATCH /control/faults/b", `{"act": "drop"}`, 404, `there is no row 'b' in faults`},
		{"PUT /control/faults/a", `{"delay": "10ms"}`, 200, `"delay":"10ms"`},
		{"GET /control/faults", "", 200, `[{"name":"a","acted":0,"delay":"10ms","matched":0,"position":2},{"name":"slow orders",`},
		{"DELETE /control/faults/a", "", 204, ""},
		{"DELETE /control/faults/a", "", 404, ""},
		{"GET /control/faults/a", "", 404, ""},
		{"DELETE /control/faults", "", 204, ""},
		{"GET /control/faults", "", 200, "[]\n"},

		{"PUT /control/snapshots/start", "", 200, `{"name":"start","restored":0,"taken":"`},
		{"PATCH /control/snapshots/start", `{"restore": true}`, 200, `"restored":1`},
		{"PATCH /control/snapshots/other", `{"restore": true}`, 404, ""},
		{"DELETE /control/snapshots/start", "", 204, ""},

		{"GET /control/nodes", "", 200, "[]\n"},
		{"PATCH /control/nodes/1", `{"up": false}`, 404, `there is no row 1 in nodes`},
		{"PUT /control/nodes/1", `{"up": false}`, 400, `one node alone`},
		{"PUT /control/nodes/one", `{"up": false}`, 400, `is no number`},

		{"GET /control/statements", "", 200, "[]\n"},
		{"DELETE /control/statements", "", 204, ""},
		{"PUT /control/statements", "", 405, ""},
		{"GET /control/nope", "", 404, ""},
	} {
		method, path, _ := strings.Cut(step.request, " ")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(step.body)))
		if body := answer.Body.String(); answer.Code != step.code || !strings.Contains(body, step.want) {
			t.Errorf("%s %s: %d %s, want %d %s", step.request, step.body, answer.Code, body, step.code, step.want)
		}
	}
}

// apiSchema is the description of a row.
type apiSchema struct {
	Properties map[string]struct {
		Type, Format string
		Enum         []string
		ReadOnly     bool
	}
}

// TestDescription wants the OpenAPI description to have the routes, the columns with their types, and the acts.
func TestDescription(t *testing.T) {
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
		// Components has the rows.
		Components struct{ Schemas map[string]apiSchema }
	}
	if err := json.Unmarshal(description, &d); err != nil || !strings.HasPrefix(d.OpenAPI, "3.") {
		t.Fatalf("version %s, error %v", d.OpenAPI, err)
	}
	described := map[string]bool{}
	for path, methods := range d.Paths {
		for method := range methods {
			if method != "parameters" {
				described[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	tables := newTables(t)
	served := map[string]bool{}
	for _, r := range routes(tables) {
		served[r.method+" "+r.path] = true
	}
	if !maps.Equal(described, served) {
		t.Errorf("the description has\n%v, the routes are\n%v", slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(served)))
	}
	for _, name := range tables.Names() {
		o := tables.Table(name)
		schemaName := strings.ToUpper(name[:1]) + strings.TrimSuffix(name[1:], "s")
		properties := d.Components.Schemas[schemaName].Properties
		if len(properties) != len(o.Schema.Columns) {
			t.Errorf("%s has %d fields, the table %d columns", schemaName, len(properties), len(o.Schema.Columns))
		}
		for _, c := range o.Schema.Columns {
			p, ok := properties[c.Name]
			if want := apiType(c.Type); !ok || p.Type != want {
				t.Errorf("%s.%s is %q, want %q", schemaName, c.Name, p.Type, want)
			}
			if c.Kind == schema.Regular && name != "statements" {
				checkReadOnly(t, o, c, p.ReadOnly)
			}
		}
	}
	fault := d.Components.Schemas["Fault"].Properties
	for column, want := range map[string][]string{
		"act": control.ActNames(), "opcode": control.FaultOpcodes, "kind": control.FaultKinds, "write_type": control.WriteTypes,
	} {
		if got := fault[column].Enum; !slices.Equal(got, want) {
			t.Errorf("%s may be %q, want %q", column, got, want)
		}
	}
}

// apiType is the JSON type of values of a column.
func apiType(t types.Type) string {
	switch t.(type) {
	case *types.Set, *types.List:
		return "array"
	case *types.Map:
		return "object"
	}
	switch t {
	case types.Int, types.BigInt:
		return "integer"
	case types.Double:
		return "number"
	case types.Boolean:
		return "boolean"
	}
	return "string"
}

// checkReadOnly wants a column to be refused if, and only if, it is described as read only.
func checkReadOnly(t *testing.T, o *control.Table, c *schema.Column, described bool) {
	t.Helper()
	key := types.EncodeText(control.ClockKey)
	if o.Schema.Name == "nodes" {
		return // there is no ring here; node_table.go is tested in TestNodeTable
	}
	err := o.Write(key, map[string][]byte{c.Name: nil})
	refused := err != nil && strings.Contains(err.Error(), "cannot be written")
	if refused != described {
		t.Errorf("%s.%s: described as read only: %t, written: %v", o.Schema.Name, c.Name, described, err)
	}
}
