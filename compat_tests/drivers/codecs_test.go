package drivers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// The files of testdata import these.
	_ "github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	_ "github.com/datastax/go-cassandra-native-protocol/compression/snappy"
	_ "github.com/datastax/go-cassandra-native-protocol/frame"
	_ "github.com/datastax/go-cassandra-native-protocol/message"
	_ "github.com/datastax/go-cassandra-native-protocol/segment"
	_ "gopkg.in/inf.v0"
)

// TestOtherCodecs compares our codec with independent ones: for each message, for values, and for all answers in the
// transcripts. It runs the tests of our packages with a file of testdata added, which may import modules that cqld does
// not require.
func TestOtherCodecs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for in, file := range map[string]string{
		"protocol/interop_test.go":                 "protocol_test.go",
		"cql/types/gocql_test.go":                  "types_test.go",
		"cql/types/gocql_values_test.go":           "values_test.go",
		"compat_tests/transcripts/interop_test.go": "transcripts_test.go",
	} {
		replace[filepath.Join(root, filepath.FromSlash(in))] = filepath.Join(root, "compat_tests", "drivers", "testdata", file)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	for of, run := range map[string]string{
		"protocol": "^TestInterop", "cql/types": "Gocql|Apache", "compat_tests/transcripts": "^TestSessions$",
	} {
		t.Run(of, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", list, "-run", run, "github.com/cqld/cqld/"+of)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "no tests to run") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
