package drivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
)

// faultCase is a row of faults.json, which has the faults that drivers of all languages meet.
type faultCase struct {
	Fault     map[string]any // columns of cqld_control.faults
	Statement string         // that meets it; $id is replaced by a unique number
	Error     map[string]any // its kind and fields; nil: there is none
	Applied   *bool          // whether the statement is applied; nil: it changes nothing
	Takes     int            // how many milliseconds the statement takes at least
}

// faultDriver is a line of gocql.
type faultDriver struct {
	name    string
	execute func(ctx context.Context, statement string, values ...any) error
	v4      bool // the driver speaks version 4 of the protocol
}

// TestGocqlFaults has statements meet each fault of the table, through both lines of gocql.
func TestGocqlFaults(t *testing.T) {
	text, err := os.ReadFile("faults.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []faultCase
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	s := cqltest.RunT(t, cqltest.WithControls())
	v1 := gocqltest.Session(t, s, func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalQuorum })
	v2 := gocqlv2test.Session(t, s, func(c *apache.ClusterConfig) { c.Consistency = apache.LocalQuorum })
	for i, d := range []*faultDriver{
		{name: "gocql v1", v4: true, execute: func(ctx context.Context, statement string, values ...any) error {
			return v1.Query(statement, values...).WithContext(ctx).Exec()
		}},
		{name: "gocql v2", execute: func(ctx context.Context, statement string, values ...any) error {
			return v2.Query(statement, values...).ExecContext(ctx)
		}},
	} {
		keyspace := fmt.Sprint("t_gocqlfaults_", i+1)
		s.Exec(t, "CREATE TABLE "+keyspace+".t (id int PRIMARY KEY)")
		for number, row := range table {
			for _, prepared := range []bool{false, true} {
				number := 2*number + map[bool]int{true: 1}[prepared]
				for _, wrong := range d.meet(t, s, keyspace, row, number, prepared) {
					t.Errorf("%s: %v, prepared %v: %s", d.name, row.Fault, prepared, wrong)
				}
			}
		}
	}
}

// meet sends a statement that meets a fault, and returns the differences. gocql prepares statements with values.
func (d *faultDriver) meet(
	t *testing.T, s *cqltest.Server, keyspace string, row faultCase, number int, prepared bool,
) (wrong []string) {
	t.Helper()
	var values []any
	statement := strings.ReplaceAll(row.Statement, "$id", strconv.Itoa(number))
	if prepared && strings.Contains(row.Statement, "$id") {
		values = []any{number}
		statement = strings.ReplaceAll(row.Statement, "$id", "?")
	}
	columns := map[string]any{"name": "gocql", "keyspace_name": keyspace}
	maps.Copy(columns, row.Fault)
	rule, err := json.Marshal(columns)
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "INSERT INTO cqld_control.faults JSON '"+string(rule)+"' DEFAULT UNSET")
	limit := 30 * time.Second
	if row.Error["kind"] == "timeout" {
		limit = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	err = d.execute(ctx, statement, values...)
	took := time.Since(began)
	rules := s.Faults().List()
	if acted := rules[0].Acted(); acted < 1 && (values != nil || row.Fault["act"] != "unprepared") {
		wrong = append(wrong, "the rule has not acted")
	}
	s.Faults().Clear()
	s.Exec(t, "TRUNCATE cqld_control.faults")
	if took < time.Duration(row.Takes)*time.Millisecond {
		wrong = append(wrong, fmt.Sprint("it took ", took))
	}
	if row.Applied != nil {
		insert := fmt.Sprintf("INSERT INTO %s.t (id) VALUES (%d)", keyspace, number)
		found := strings.Contains(s.Dump(t, cqltest.DumpNoSchema), insert)
		if found != *row.Applied {
			wrong = append(wrong, fmt.Sprint("applied: ", found))
		}
	}
	d.reconnect(t)
	if got, want := describeFault(err, row.Error), d.expected(row.Error); !reflect.DeepEqual(got, want) {
		wrong = append(wrong, fmt.Sprintf("the error is %v, want %v", got, want))
	}
	return wrong
}

// reconnect waits until the driver has connected again.
func (d *faultDriver) reconnect(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := d.execute(t.Context(), "SELECT key FROM system.local")
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not connect again: %v", d.name, err)
		}
	}
}

// expected is the result of describeFault for an error of the table. In version 4 of the protocol failures
// have a number and no reasons, and CAS_WRITE_UNKNOWN is a write timeout of type CAS. gocql v1 does not know serial
// levels where a level is wanted.
func (d *faultDriver) expected(want map[string]any) map[string]any {
	if !d.v4 || want == nil {
		return want
	}
	want = maps.Clone(want)
	delete(want, "reasons")
	if want["kind"] == "cas_write_unknown" {
		want["kind"], want["write_type"] = "write_timeout", "CAS"
		want["level"] = map[any]string{"SERIAL": "UNKNOWN_CONS_0x8", "LOCAL_SERIAL": "UNKNOWN_CONS_0x9"}[want["level"]]
	}
	return want
}

// faultKinds are the kinds of errors without fields by their codes, as gocql v1 has no types for most of them.
var faultKinds = map[int]string{
	0x0000: "server_error", 0x1001: "overloaded", 0x1002: "is_bootstrapping", 0x1003: "truncate_error",
	0x2000: "syntax_error", 0x2100: "unauthorized", 0x2200: "invalid", 0x2300: "config_error",
}

// faultTypes are the kinds of errors by the names of their types, which both lines have.
var faultTypes = map[string]string{
	"RequestErrUnavailable": "unavailable", "RequestErrReadTimeout": "read_timeout", "RequestErrWriteTimeout": "write_timeout",
	"RequestErrReadFailure": "read_failure", "RequestErrWriteFailure": "write_failure",
	"RequestErrCASWriteUnknown": "cas_write_unknown",
}

// faultFields are the fields of these types in the words of the table.
var faultFields = map[string]string{
	"Consistency": "level", "Required": "required", "Alive": "alive", "Received": "received", "BlockFor": "block_for",
	"DataPresent": "data_present", "WriteType": "write_type", "NumFailures": "failures", "ErrorMap": "reasons",
}

// describeFault returns a driver's error in the words of the table. A text is among them if the error wanted has one.
func describeFault(err error, want map[string]any) map[string]any {
	var told interface {
		error
		Code() int
		Message() string
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &told):
	case errors.Is(err, context.DeadlineExceeded):
		return map[string]any{"kind": "timeout"}
	case strings.Contains(err.Error(), "not enough bytes"):
		return map[string]any{"kind": "malformed"}
	case errors.Is(err, io.EOF):
		return map[string]any{"kind": "closed"}
	default:
		return map[string]any{"kind": fmt.Sprintf("%T: %v", err, err)}
	}
	v := reflect.Indirect(reflect.ValueOf(told))
	got := map[string]any{"kind": faultTypes[v.Type().Name()]}
	if got["kind"] == "" {
		got["kind"] = faultKinds[told.Code()]
		if text, ok := want["message"]; ok {
			got["message"] = told.Message()
			if strings.Contains(told.Message(), text.(string)) {
				got["message"] = text
			}
		}
		return got
	}
	for i := range v.NumField() {
		name, ok := faultFields[v.Type().Field(i).Name]
		if !ok {
			continue
		}
		switch value := v.Field(i).Interface().(type) {
		case int:
			got[name] = float64(value) // as JSON has it
		case byte:
			got[name] = value == 1
		case fmt.Stringer:
			got[name] = value.String()
		case string, bool:
			got[name] = value
		default: // the map of reasons
			if v.Field(i).Len() == 0 {
				continue
			}
			reasons := map[string]any{}
			for r := v.Field(i).MapRange(); r.Next(); {
				reasons[r.Key().String()] = float64(r.Value().Uint())
			}
			got[name] = reasons
		}
	}
	return got
}
