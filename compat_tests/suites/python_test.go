package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestOneReplica gives a keyspace one replica, whether its number is a number or a place for one.
func TestOneReplica(t *testing.T) {
	path := filepath.Join(t.TempDir(), "__init__.py")
	const three = `"{'class': 'SimpleStrategy', 'replication_factor': '3'}" "{{'replication_factor': '{1}'}}".format(ks, rf)`
	const one = `"{'class': 'SimpleStrategy', 'replication_factor': '1'}" "{{'replication_factor': '1'}}".format(ks, rf)`
	if err := os.WriteFile(path, []byte(three), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := oneReplica(path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != one {
		t.Errorf("%s %v", got, err)
	}
}

// TestTestFiles finds files of tests on two levels, but for those to skip.
func TestTestFiles(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"a/test_one.py", "a/base.py", "a/b/test_two.py", "a/test_skip.py", "test_out.py"} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := testFiles(root, "a", func(file string) bool { return file != "test_skip.py" })
	if want := []string{"a/test_one.py", "a/b/test_two.py"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v %v, want %v", got, err, want)
	}
}
