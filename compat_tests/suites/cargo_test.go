package main

import (
	"reflect"
	"testing"
)

// TestReadCargo finds the binaries of tests among all that cargo builds.
func TestReadCargo(t *testing.T) {
	const said = `{"reason":"compiler-artifact","manifest_path":"/c/dep/Cargo.toml","target":{"name":"dep"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/c/scylla/Cargo.toml","target":{"name":"integration"},"profile":{"test":true},"executable":"/t/integration-1"}
{"reason":"compiler-artifact","manifest_path":"/c/scylla/Cargo.toml","target":{"name":"tool"},"profile":{"test":false},"executable":"/t/tool"}
{"reason":"build-finished","success":true}
`
	got, err := readCargo([]byte(said))
	if err != nil {
		t.Fatal(err)
	}
	if want := []rustBinary{{"integration", "/t/integration-1", "/c/scylla"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if _, err := readCargo([]byte("error: no such crate")); err == nil {
		t.Error("a line that is not JSON was read")
	}
}

func TestPanicked(t *testing.T) {
	for output, want := range map[string]string{
		"running 1 test\n\nthread 'a' (7) panicked at src/a.rs:3:5:\ncalled unwrap\nnote: run with\nthread 'b' panicked at b.rs:1:1:\nother\n": "called unwrap",
		"thread 'a' panicked at a.rs:3:5:\nassertion `left == right` failed: rows\n  left: 1\n right: 2\n\nmore\n":                             "assertion `left == right` failed: rows left: 1 right: 2",
		"Segmentation fault\n": "Segmentation fault",
	} {
		if got := panicked(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

func TestWantScylla(t *testing.T) {
	for test, want := range map[string]bool{
		"scylla::network::connection::tests::a": true,
		"scylla::routing::locator::test::a":     false,
		"integration::session::pager::a":        true,
		"integration::ccm::tls::a":              false,
	} {
		if wantScylla(test) != want {
			t.Errorf("%s: want %v", test, want)
		}
	}
}
