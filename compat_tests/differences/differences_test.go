package differences_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/differences"
)

const page = `# Differences

Some words.

## 100: Statements

**101** GROUP BY is not
supported. [Script](../compat_tests/scripts/differences/101_group_by.txt)

## 200: Values

**201** A value is another. (no script: Cassandra hangs)
`

func TestParse(t *testing.T) {
	got, err := differences.Parse(page)
	want := []differences.Difference{
		{Number: "101", Text: "GROUP BY is not\nsupported.", Script: "101_group_by.txt"},
		{Number: "201", Text: "A value is another.", Reason: "Cassandra hangs"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestParseRefuses breaks the page in each way that it can be wrong.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, put, want string }{
		{"(no script: Cassandra hangs)", "", "difference 201 ends neither"},
		{"(no script: Cassandra hangs)", "(no script: )", "difference 201 ends neither"},
		{"101_group_by", "102_group_by", "the script of another"},
		{"**201**", "**301**", "difference 301 stands in the area 200"},
		{"**201**", "**101**", "difference 101 stands behind 101"},
		{"**201**", "**21**", "does not begin with a number"},
		{"A value", strings.Repeat("A value", 70), "make it several"},
		{page, "", "no differences"},
	} {
		_, err := differences.Parse(strings.Replace(page, c.old, c.put, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %s", c.put, c.old, err, c.want)
		}
	}
}
