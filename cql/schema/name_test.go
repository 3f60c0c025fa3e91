package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
)

func TestCheckTableName(t *testing.T) {
	long := strings.Repeat("x", 223)
	for name, want := range map[string]*recordedError{
		"a": nil, "1a": nil, "_": nil, "A": nil, long[1:]: nil,
		"a-b": {"0x2300", `k.a-b: Table name must not be empty or not contain non-alphanumeric-underscore characters ` +
			`(got "a-b")`},
		"é": {"0x2300", `k.é: Table name must not be empty or not contain non-alphanumeric-underscore characters (got "é")`},
		long: {"0x2300", "k." + long + ": Table name must not be more than 222 characters long (got 223 characters for " +
			`"` + long + `")`},
	} {
		checkError(t, schema.CheckTableName("k", name), want)
	}
}

func TestTableID(t *testing.T) {
	for text, want := range map[string]string{
		"5bc52802-de25-35ed-aeab-188eecebb123":  "5bc52802de2535edaeab188eecebb123",
		"1-2-3-4-5":                             "00000001000200030004000000000005",
		"15bc52802-de25-35ed-aeab-188eecebb":    "5bc52802de2535edaeab000188eecebb",
		"5bc52802-de25-35ed-aeab-188eecebb1234": "",
		"5bc52802de2535edaeab188eecebb123":      "",
		"-1-2-3-4-5":                            "",
		"ffffffffffffffff-1-1-1-1":              "",
	} {
		id, given, err := schema.TableID([]schema.Property{{Name: "comment"}, {Name: "id", Text: text}})
		if !given {
			t.Errorf("%s is not seen", text)
		}
		if want == "" {
			checkError(t, err, &recordedError{"0x2300", "Invalid table id"})
		} else if got := fmt.Sprintf("%x", id); got != want || err != nil {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	if _, given, err := schema.TableID(nil); given || err != nil {
		t.Errorf("an id without one: %v, %v", given, err)
	}
}

func TestCheckTableID(t *testing.T) {
	c := sample(t)
	table := *c.Table("a", "t")
	table.Name = "other"
	checkError(t, c.CheckTableID(&table), &recordedError{
		"0x2300",
		"The id 01020100-0000-0000-0000-000000000000 of table a.other is that of table a.t already",
	})
	table.ID = [16]byte{9}
	checkError(t, c.CheckTableID(&table), nil)
}
