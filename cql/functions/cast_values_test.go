package functions

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// CAST as text prints every recorded value as Cassandra does.
func TestCastRecordedValues(t *testing.T) {
	checked := 0
	for _, typ := range types.Natives() {
		data, err := os.ReadFile(filepath.Join("../types/testdata/values", typ.String()+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			fields := strings.Split(line, "\t")
			if line[0] == '#' || fields[4] == "-" || strings.HasPrefix(fields[4], "server error ") {
				continue
			}
			b, err := hex.DecodeString(strings.TrimPrefix(fields[2], "empty"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.Unquote(`"` + strings.ReplaceAll(fields[4], `"`, `\"`) + `"`)
			if err != nil {
				t.Fatal(err)
			}
			if got := castToText(t, typ, append([]byte{}, b...)); got != want {
				t.Errorf("%s %x: got %q, want %q", typ, b, got, want)
			}
			checked++
		}
	}
	if checked < 800 {
		t.Errorf("only %d values can be cast", checked)
	}
}

// castToText calls the function that casts values of a type, if there is one; none is needed for text.
func castToText(t *testing.T, from types.Type, b []byte) string {
	t.Helper()
	for _, f := range castFunctions {
		if f.Name != CastName("text") || f.Args[0] != from {
			continue
		}
		v, err := f.Call(&Call{Args: []types.Value{{Bytes: b}}})
		if err != nil {
			t.Fatalf("%s %x: %v", from, b, err)
		}
		if v.Bytes == nil {
			return "null"
		}
		return string(v.Bytes)
	}
	return string(b)
}
