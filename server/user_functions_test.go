package server_test

import (
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// A text whose plan is kept does not go on calling a native function when there is a user's that fits as well. A
// prepared statement does, as in Cassandra.
func TestUserFunctionTakesThePlace(t *testing.T) {
	c := connect(t, cqltest.RunT(t), client.Options{})
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
