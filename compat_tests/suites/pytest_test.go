package main

import (
	"reflect"
	"testing"
)

// TestReadJUnit reads each way in which a test ends. The last fails when it cleans up, after it has passed.
func TestReadJUnit(t *testing.T) {
	const report = `<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="2" failures="1" skipped="1" tests="6" time="0.1">
<testcase classname="a.T" name="test_one" time="0.001" />
<testcase classname="a.T" name="test_two"><failure message="AssertionError: 1 != 2&#10;more">trace</failure></testcase>
<testcase classname="a.T" name="test_three"><skipped type="pytest.skip" message="not here">why</skipped></testcase>
<testcase classname="" name="a.b"><error message="collection failure">trace</error></testcase>
<testcase classname="a.T" name="test_four" />
<testcase classname="a.T" name="test_four"><error message="failed on teardown">trace</error></testcase>
</testsuite></testsuites>`
	got, err := readJUnit([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome{
		{"a.T.test_one", passed, ""},
		{"a.T.test_two", failed, "AssertionError: 1 != 2"},
		{"a.T.test_three", skipped, "not here"},
		{"a.b", failed, "collection failure"},
		{"a.T.test_four", passed, ""},
		{"a.T.test_four", failed, "failed on teardown"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if _, err := readJUnit([]byte("<testsuites><testsuite>")); err == nil {
		t.Error("half a report was read")
	}
}
