package script

import "testing"

func TestWithoutChance(t *testing.T) {
	for message, want := range map[string]string{
		"java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 2": "java.lang.ArrayIndexOutOfBoundsException",
		"java.lang.ArrayIndexOutOfBoundsException":                                     "java.lang.ArrayIndexOutOfBoundsException",
		"reason: NullPointerException Cannot invoke \"x()\"\nbecause \"tn\" is null":   "reason: NullPointerException",
		"java.lang.NumberFormatException: For input string: \"a\"":                     "java.lang.NumberFormatException: For input string: \"a\"",
		"received 0 responses and 1 failures: UNKNOWN from /127.0.0.1:7000":            "received 0 responses and 1 failures: UNKNOWN from /{node}",
		"Undefined column name x in table ks.t":                                        "Undefined column name x in table ks.t",
	} {
		if got := withoutChance(message); got != want {
			t.Errorf("%s is shown as %s, want %s", message, got, want)
		}
	}
}
