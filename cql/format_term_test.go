package cql

import "testing"

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
