// Package endpoints serves the tables of package control as JSON below /control/, for tests that are not written in
// Go. openapi.json describes the endpoints.
package endpoints

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	cqljson "github.com/cqld/cqld/cql/types/json"
	"github.com/cqld/cqld/server/control"
)

// description is the OpenAPI description of the endpoints.
//
//go:embed openapi.json
var description []byte

// maxBody is the longest body of a request.
const maxBody = 1 << 20

// route is an endpoint: a method and a path as http.ServeMux has them.
type route struct {
	method, path string
	serve        http.HandlerFunc
}

// routes are the endpoints below /control/. Each table is one: its rows are objects with the names of its columns.
func routes(t *control.Tables) []route {
	clock, faults, nodes := endpoint{t.Table("clock")}, endpoint{t.Table("faults")}, endpoint{t.Table("nodes")}
	snapshots, statements := endpoint{t.Table("snapshots")}, endpoint{t.Table("statements")}
	return []route{
		{"GET", "/control/openapi.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, description) }},

		{"GET", "/control/clock", clock.get(control.ClockKey)},
		{"PATCH", "/control/clock", clock.write(control.ClockKey, false)},
		{"DELETE", "/control/clock", clock.truncate},

		{"GET", "/control/faults", faults.list},
		{"DELETE", "/control/faults", faults.truncate},
		{"GET", "/control/faults/{key}", faults.get("")},
		{"PUT", "/control/faults/{key}", faults.write("", true)},
		{"PATCH", "/control/faults/{key}", faults.change},
		{"DELETE", "/control/faults/{key}", faults.delete},

		{"GET", "/control/nodes", nodes.list},
		{"GET", "/control/nodes/{key}", nodes.get("")},
		{"PUT", "/control/nodes/{key}", nodes.write("", true)},
		{"PATCH", "/control/nodes/{key}", nodes.change},
		{"DELETE", "/control/nodes/{key}", nodes.delete},

		{"GET", "/control/snapshots", snapshots.list},
		{"DELETE", "/control/snapshots", snapshots.truncate},
		{"GET", "/control/snapshots/{key}", snapshots.get("")},
		{"PUT", "/control/snapshots/{key}", snapshots.write("", true)},
		{"PATCH", "/control/snapshots/{key}", snapshots.change},
		{"DELETE", "/control/snapshots/{key}", snapshots.delete},

		{"GET", "/control/statements", statements.list},
		{"DELETE", "/control/statements", statements.truncate},
	}
}

// endpoint is a table.
type endpoint struct{ *control.Table }

// Handler serves the tables.
func Handler(t *control.Tables) http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes(t) {
		mux.HandleFunc(r.method+" "+r.path, r.serve)
	}
	return mux
}

// list answers with all rows in the order of their keys.
func (o endpoint) list(w http.ResponseWriter, _ *http.Request) {
	all := []byte("[")
	for i, r := range o.Rows() {
		if i > 0 {
			all = append(all, ',')
		}
		all = o.appendRow(all, r)
	}
	writeJSON(w, append(all, ']'))
}

// get answers with the row of a key; "": of the key in the path.
func (o endpoint) get(key string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := o.key(r, key)
		if err != nil {
			WriteError(w, http.StatusBadRequest, err)
			return
		}
		o.answer(w, b)
	}
}

// answer answers with the row of a key.
func (o endpoint) answer(w http.ResponseWriter, key []byte) {
	found, ok := o.Row(key)
	if !ok {
		WriteError(w, http.StatusNotFound, fmt.Errorf("there is no row %s in %s", o.keyColumn().Type.Format(key), o.Schema.Name))
		return
	}
	writeJSON(w, o.appendRow(nil, found))
}

// write writes the columns in the body to the row of a key, and answers with the row. whole says that the row has no
// other columns then.
func (o endpoint) write(key string, whole bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := o.key(r, key)
		var change map[string][]byte
		if err == nil {
			change, err = o.decode(http.MaxBytesReader(w, r.Body, maxBody))
		}
		switch {
		case err != nil:
		case whole:
			err = o.Replace(b, change)
		default:
			err = o.Write(b, change)
		}
		if err != nil {
			WriteError(w, http.StatusBadRequest, err)
			return
		}
		o.answer(w, b)
	}
}

// change is write for a row that is there.
func (o endpoint) change(w http.ResponseWriter, r *http.Request) {
	if b, err := o.key(r, ""); err == nil {
		if _, ok := o.Row(b); !ok {
			o.answer(w, b)
			return
		}
	}
	o.write("", false)(w, r)
}

// delete deletes the row of the key in the path.
func (o endpoint) delete(w http.ResponseWriter, r *http.Request) {
	b, err := o.key(r, "")
	if err == nil {
		if _, ok := o.Row(b); !ok {
			o.answer(w, b)
			return
		}
		err = o.Delete(b)
	}
	writeNothing(w, err)
}

// truncate deletes all rows.
func (o endpoint) truncate(w http.ResponseWriter, _ *http.Request) { writeNothing(w, o.Truncate()) }

func (o endpoint) keyColumn() *schema.Column { return o.Schema.PartitionKey[0] }

// key is the key in the path, or the one given.
func (o endpoint) key(r *http.Request, given string) ([]byte, error) {
	if given != "" {
		return types.EncodeText(given), nil
	}
	text, t := r.PathValue("key"), o.keyColumn().Type
	if t == types.Text {
		return types.EncodeText(text), nil
	}
	b, err := t.ParseJSON(cqljson.String(text))
	if err != nil {
		return nil, fmt.Errorf("%q is no %s", text, o.keyColumn().Name)
	}
	return b, nil
}

// decode reads the columns in the body of a request.
func (o endpoint) decode(body io.Reader) (map[string][]byte, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	change := map[string][]byte{}
	if len(bytes.TrimSpace(text)) == 0 {
		return change, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("the body is no JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		c := o.Schema.Column(name)
		if c == nil || c.Kind != schema.Regular {
			return nil, fmt.Errorf("%s has no field %s", o.Schema.Name, name)
		}
		value, err := cqljson.Decode(string(given[name]), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value == nil {
			change[name] = nil
			continue
		}
		if change[name], err = c.Type.ParseJSON(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return change, nil
}

// appendRow appends a row as a JSON object, without null columns.
func (o endpoint) appendRow(dst []byte, r control.Row) []byte {
	dst = append(append(dst, `{"`+o.keyColumn().Name+`":`...), o.keyColumn().Type.AppendJSON(nil, r.Key)...)
	for _, c := range o.Schema.Regular {
		if value := r.Values[c.Name]; value != nil {
			dst = append(append(dst, `,"`+c.Name+`":`...), c.Type.AppendJSON(nil, value)...)
		}
	}
	return append(dst, '}')
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(bytes.TrimRight(body, "\n"), '\n')) // the client may have hung up
}

// writeNothing answers a request that leaves nothing to show.
func writeNothing(w http.ResponseWriter, err error) {
	if err != nil {
		WriteError(w, http.StatusBadRequest, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// WriteError answers {"error": "..."}. Errors that are no client's are 500.
func WriteError(w http.ResponseWriter, status int, err error) {
	var tooLong *http.MaxBytesError
	switch told, ok := cqlerr.As(err); {
	case ok && told.Code == cqlerr.ServerError:
		status = http.StatusInternalServerError
	case errors.As(err, &tooLong):
		status = http.StatusRequestEntityTooLarge
	}
	body, encodeErr := json.Marshal(map[string]string{"error": strings.TrimSpace(err.Error())})
	if encodeErr != nil { // a text always can be encoded
		body = []byte(`{"error":"unknown"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
