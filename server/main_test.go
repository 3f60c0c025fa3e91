package server_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// sleepers is how many parallel tests run at a time: they wait most of the time, and Go's default is one per
// processor.
const sleepers = 8

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(fmt.Sprint(sleepers)) // a number is always taken
	}
	os.Exit(m.Run())
}
