package drivers

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	gocqlv2 "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
)

// fields are the exported fields of a driver's error, with its code, as text.
func fields(err error) string {
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct {
		return err.Error()
	}
	parts := []string{v.Type().Name()}
	if coded, ok := err.(interface{ Code() int }); ok {
		parts = append(parts, fmt.Sprintf("%#x", coded.Code()))
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			parts = append(parts, fmt.Sprintf("%s=%v", f.Name, v.Field(i)))
		}
	}
	return strings.Join(parts, " ")
}

// TestFaultTable has each error reach both lines of gocql, on protocols v4 and v5, with all its fields.
func TestFaultTable(t *testing.T) {
	s := cqltest.RunT(t)
	v4, v5 := gocqltest.Session(t, s), gocqlv2test.Session(t, s)
	for _, keyspace := range []string{"t_faulttable_1", "t_faulttable_2"} {
		s.Exec(t, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY, v int)")
	}
	one, two := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	read, write := "SELECT v FROM t WHERE k = ?", "INSERT INTO t (k) VALUES (?)"
	for _, test := range []struct {
		act       cqltest.Act
		statement string
		v4, v5    string
	}{
		{
			cqltest.Unavailable(cqltest.EachQuorum, 4, 1), read,
			"RequestErrUnavailable 0x1000 Consistency=EACH_QUORUM Required=4 Alive=1", "",
		},
		{
			cqltest.ReadTimeout(cqltest.Three, 2, 3, true), read,
			"RequestErrReadTimeout 0x1200 Consistency=THREE Received=2 BlockFor=3 DataPresent=1", "",
		},
		{
			cqltest.WriteTimeout(cqltest.All, 1, 3, "BATCH_LOG"), write,
			"RequestErrWriteTimeout 0x1100 Consistency=ALL Received=1 BlockFor=3 WriteType=BATCH_LOG", "",
		},
		{
			cqltest.ReadFailure(cqltest.Two, 1, 2, false, cqltest.Reasons{one: 1}), read,
			"RequestErrReadFailure 0x1300 Consistency=TWO Received=1 BlockFor=2 NumFailures=1 DataPresent=false ErrorMap=map[]",
			"RequestErrReadFailure 0x1300 Consistency=TWO Received=1 BlockFor=2 NumFailures=1 DataPresent=false " +
				"ErrorMap=map[127.0.0.1:1]",
		},
		{
			cqltest.WriteFailure(cqltest.Quorum, 1, 3, "UNLOGGED_BATCH", cqltest.Reasons{one: 0, two: 4}), write,
			"RequestErrWriteFailure 0x1500 Consistency=QUORUM Received=1 BlockFor=3 NumFailures=2 WriteType=UNLOGGED_BATCH " +
				"ErrorMap=map[]",
			"RequestErrWriteFailure 0x1500 Consistency=QUORUM Received=1 BlockFor=3 NumFailures=2 WriteType=UNLOGGED_BATCH " +
				"ErrorMap=map[127.0.0.1:0 127.0.0.2:4]",
		},
		{
			cqltest.CASWriteUnknown(cqltest.Serial, 1, 2), write,
			"RequestErrWriteTimeout 0x1100 Consistency=UNKNOWN_CONS_0x8 Received=1 BlockFor=2 WriteType=CAS", // SERIAL
			"RequestErrCASWriteUnknown 0x1700 Consistency=SERIAL Received=1 BlockFor=2",
		},
		{cqltest.Overloaded(), read, "errorFrame 0x1001", "RequestErrOverloaded 0x1001"},
		{cqltest.IsBootstrapping(), read, "errorFrame 0x1002", "RequestErrBootstrapping 0x1002"},
		{cqltest.TruncateError(), read, "errorFrame 0x1003", "RequestErrTruncate 0x1003"},
		{cqltest.ServerError("out of luck"), read, "errorFrame 0x0", ""},
		{cqltest.Fail(cqlerr.Invalidf("not today")), write, "errorFrame 0x2200", "RequestErrInvalid 0x2200"},
		{
			cqltest.Fail(cqlerr.FunctionFailed("system", "f", []string{"int"}, "no")), read,
			"RequestErrFunctionFailure 0x1400 Keyspace=system Function=f ArgTypes=[int]", "",
		},
		{cqltest.Fail(errors.New("any other")), read, "errorFrame 0x0", ""},
		{cqltest.Unavailable(cqltest.SameLevel, 2, 0), read, "RequestErrUnavailable 0x1000 Consistency=LOCAL_ONE Required=2 Alive=0", ""},
		{
			cqltest.WriteTimeout(cqltest.SameLevel, 0, 1, "SIMPLE").AfterApplying(), write,
			"RequestErrWriteTimeout 0x1100 Consistency=LOCAL_ONE Received=0 BlockFor=1 WriteType=SIMPLE", "",
		},
	} {
		if test.v5 == "" {
			test.v5 = test.v4
		}
		rule := s.Faults().Add(t, cqltest.Fault{Table: "t", Act: test.act})
		err4 := v4.Query(test.statement, 1).Consistency(gocql.LocalOne).Exec()
		err5 := v5.Query(test.statement, 1).Consistency(gocqlv2.LocalOne).Exec()
		if err4 == nil || err5 == nil {
			t.Errorf("%v: the errors are %v and %v", test.act, err4, err5)
			continue
		}
		if got := fields(err4); got != test.v4 {
			t.Errorf("%v on v4:\n%s, want\n%s", test.act, got, test.v4)
		}
		if got := fields(err5); got != test.v5 {
			t.Errorf("%v on v5:\n%s, want\n%s", test.act, got, test.v5)
		}
		if rule.Acted() < 2 {
			t.Errorf("%v has acted %d times", test.act, rule.Acted())
		}
		rule.Remove()
	}
	if err := v5.Query(read, 1).Scan(new(int)); err != nil && !errors.Is(err, gocqlv2.ErrNotFound) {
		t.Errorf("without rules: %v", err)
	}
}
