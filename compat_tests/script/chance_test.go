package script

import "testing"

func TestWithoutChance(t *testing.T) {
	const bounds, failure = "java.lang.ArrayIndexOutOfBoundsException", "received 0 responses and 1 failures: UNKNOWN from "
	for message, want := range map[string]string{
		bounds + ": Index 2 out of bounds for length 2": bounds,
		bounds: bounds,
		"reason: NullPointerException Cannot invoke \"x()\"\nas it is null": "reason: NullPointerException",
		"java.lang.NumberFormatException: For input string":                 "java.lang.NumberFormatException: For input string",
		failure + "/127.0.0.1:7000":                                         failure + "/{node}",
		"Undefined column name x in table ks.t":                             "Undefined column name x in table ks.t",
	} {
		if got := withoutChance(message); got != want {
			t.Errorf("%s is shown as %s, want %s", message, got, want)
		}
	}
}
