package script

import "testing"

// TestSortSignatures gives both texts in an order that a node may have.
func TestSortSignatures(t *testing.T) {
	for text, want := range map[string]string{
		"Invalid call to function f, none of its type signatures match (known type signatures: " +
			"ks.f : (text) -> int, ks.f : (int, map<int, text>) -> int, ks.f : () -> int)": //
		"Invalid call to function f, none of its type signatures match (known type signatures: " +
			"ks.f : () -> int, ks.f : (int, map<int, text>) -> int, ks.f : (text) -> int)",
		"Ambiguous call to function f (can be matched by following signatures: ks.f : (text) -> int, ks.f : (int) -> int)" +
			": use type casts to disambiguate": //
		"Ambiguous call to function f (can be matched by following signatures: ks.f : (int) -> int, ks.f : (text) -> int)" +
			": use type casts to disambiguate",
		"Undefined column name b, a in table t": "Undefined column name b, a in table t",
	} {
		if got := sortSignatures(text); got != want {
			t.Errorf("%s\ngives\n%s", text, got)
		}
	}
}
