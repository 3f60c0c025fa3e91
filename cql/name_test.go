package cql

import "testing"

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"v": "v", "a_1": "a_1", "V": `"V"`, "order": `"order"`, "null": `"null"`, "1a": `"1a"`, "_a": `"_a"`,
		`a"b`: `"a""b"`, "": `""`, "é": `"é"`, "key": "key", "type": "type", "text": "text", "true": "true",
	} {
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) is %s, want %s", name, got, want)
		}
	}
}

// What the parser never builds prints sensibly as well: no minus joins a number, none begins a comment.
func TestMinus(t *testing.T) {
	five := &Literal{Kind: IntegerLiteral, Text: "5"}
	minus := &Arithmetic{Op: '-', Right: &ColumnRef{Name: "a"}}
	for want, term := range map[string]Term{
		"- 5":      &Arithmetic{Op: '-', Right: five},
		"-a":       minus,
		"- -a":     &Arithmetic{Op: '-', Right: minus},
		"5 - -a":   &Arithmetic{Op: '-', Left: five, Right: minus},
		"5 - 5":    &Arithmetic{Op: '-', Left: five, Right: five},
		"(int)5":   &TypeHint{Type: TypeName{Name: "int"}, Value: five},
		`("int")5`: &TypeHint{Type: TypeName{Name: "int", User: true}, Value: five},
	} {
		if got := term.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
