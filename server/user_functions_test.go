package server_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// A text whose plan is kept does not go on calling a native function when there is a user's that fits as well. A
// prepared statement does, as in Cassandra.
func TestUserFunctionTakesThePlace(t *testing.T) {
	c := connect(t, cqltest.RunT(t, functions.Enable()), client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY)")
	const text = "SELECT abs(k) FROM ks.t"
	for range 2 {
		run(t, c, text)
	}
	p, err := c.Prepare(testContext(t), text, "")
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, "CREATE FUNCTION ks.abs (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'")
	if name := run(t, c, text).Columns[0].Name; name != "ks.abs(k)" {
		t.Errorf("the result is %s", name)
	}
	if _, err = c.Execute(testContext(t), p, nil, nil); err != nil {
		t.Error(err)
	}
	run(t, c, "DROP FUNCTION ks.abs", text)
}

// While a function runs in an endless loop, other clients are served. It ends with a warning and an error.
func TestEndlessUserFunction(t *testing.T) {
	srv := cqltest.RunT(t, functions.Enable(), cqltest.WithSettings(map[string]string{
		"user_defined_functions_warn_timeout": "20ms", "user_defined_functions_fail_timeout": "200ms",
	}))
	c, other := connect(t, srv, client.Options{}), connect(t, srv, client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY)", "INSERT INTO ks.t (k) VALUES (1)",
		"CREATE FUNCTION ks.endless (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'while (true) a++;'")
	ended := make(chan error, 1)
	var result *client.Result
	go func() {
		var err error
		result, err = c.Query(testContext(t), "SELECT endless(k) FROM ks.t", nil, nil)
		ended <- err
	}()
	var err error
	served := 0
	for running := true; running; served++ {
		run(t, other, "SELECT * FROM ks.t WHERE k = 1")
		select {
		case err = <-ended:
			running = false
		default:
		}
	}
	var e *cqlerr.Error
	const text = "User defined function ks.endless : (int) -> int ran longer than "
	if !errors.As(err, &e) || e.Code != cqlerr.FunctionFailure || !strings.HasSuffix(e.Message, text+"200ms") {
		t.Errorf("the loop ends with %v", err)
	}
	if result == nil || len(result.Warnings) != 1 || result.Warnings[0] != text+"20ms" {
		t.Errorf("the answer is %+v", result)
	}
	if served < 20 {
		t.Errorf("another client got only %d answers meanwhile", served)
	}
}

// A prepared statement calls a function that is replaced, and failures name the function.
func TestUserFunctionIsReplaced(t *testing.T) {
	// Memory is used up before the time, however busy the machine is.
	long := map[string]string{"user_defined_functions_warn_timeout": "1m", "user_defined_functions_fail_timeout": "1m"}
	c := connect(t, cqltest.RunT(t, functions.Enable(), cqltest.WithSettings(long)), client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY)", "INSERT INTO ks.t (k) VALUES (1)",
		"CREATE FUNCTION ks.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
		"CREATE FUNCTION ks.large (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS "+
			"'String s = a.toString(); while (true) s += s;'")
	const text = "SELECT f(k) FROM ks.t"
	p, err := c.Prepare(testContext(t), text, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Execute(testContext(t), p, nil, nil); err != nil {
		t.Fatal(err)
	}
	run(t, c, text, "CREATE OR REPLACE FUNCTION ks.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a / 0;'")
	var e *cqlerr.Error
	if _, err = c.Execute(testContext(t), p, nil, nil); !errors.As(err, &e) || e.Code != cqlerr.FunctionFailure {
		t.Errorf("the prepared statement calls the function as it was: %v", err)
	}
	for _, failing := range []struct{ statement, function, text string }{
		{text, "f", "java.lang.ArithmeticException: / by zero"},
		{"INSERT INTO ks.t (k) VALUES (ks.large(1))", "large", "java.lang.OutOfMemoryError"},
	} {
		_, err := c.Query(testContext(t), failing.statement, nil, nil)
		if !errors.As(err, &e) || e.Code != cqlerr.FunctionFailure || !strings.Contains(e.Message, failing.text) {
			t.Fatalf("%s: %v", failing.statement, err)
		}
		d := e.Detail.(cqlerr.FunctionDetail)
		if d.Keyspace != "ks" || d.Function != failing.function || strings.Join(d.ArgTypes, "") != "int" {
			t.Errorf("%s: %+v", failing.statement, d)
		}
	}
}

// Clients get events about functions of the program. A stored definition is without the function: its body runs.
func TestProgramFunction(t *testing.T) {
	srv := cqltest.RunT(t, functions.Enable())
	c := connect(t, srv, client.Options{})
	run(t, c, createKeyspace)
	if err := c.Register(testContext(t), protocol.SchemaChanges); err != nil {
		t.Fatal(err)
	}
	const statement = "CREATE OR REPLACE FUNCTION ks.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 0;'"
	bind := func(*schema.Function) (schema.GoFunc, error) {
		return func(args [][]byte) ([]byte, error) { return bytes.Clone(args[0]), nil }, nil
	}
	parts := inside.Of(srv)
	for range 2 {
		if err := parts.Function(testContext(t), statement, bind); err != nil {
			t.Fatal(err)
		}
	}
	expectEvents(t, c, "CREATED FUNCTION ks.f", "UPDATED FUNCTION ks.f")
	if row := run(t, c, "SELECT ks.f(7) FROM system.local").Rows[0]; types.DecodeInt(row[0]) != 7 {
		t.Errorf("f(7) is %x", row[0])
	}
	if err := parts.Function(testContext(t), "DROP FUNCTION ks.f", bind); err == nil {
		t.Error("DROP FUNCTION defines a function")
	}
	read, err := schema.Decode(schema.Encode(parts.Store.Catalog()))
	if err != nil {
		t.Fatal(err)
	}
	args := []types.Type{types.Int}
	f, stored := parts.Store.Catalog().Keyspace("ks").Function("f", args), read.Keyspace("ks").Function("f", args)
	if f.Go == nil || stored.Go != nil || stored.CQL() != f.CQL() {
		t.Errorf("%s is stored as\n%s", f.CQL(), stored.CQL())
	}
}
