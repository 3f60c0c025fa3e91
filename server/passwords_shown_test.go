package server

import (
	"strings"
	"testing"

	"github.com/cqld/cqld/protocol"
)

// Passwords are in no text that is kept or shown.
func TestShownTextsHaveNoPasswords(t *testing.T) {
	const text = "CREATE ROLE r WITH password = 'secret' AND LOGIN = true"
	long := strings.Repeat(" ", 2*maxRecent)
	texts := []string{shorten(text), shortened(text), shorten(text + long)}
	for _, m := range []protocol.Request{
		&protocol.Query{Query: text}, &protocol.Prepare{Query: text},
		&protocol.Batch{Children: []protocol.BatchChild{{Query: text}}},
	} {
		texts = append(texts, task(m))
	}
	for _, got := range texts {
		if strings.Contains(got, "secret") || !strings.Contains(got, "CREATE ROLE r") {
			t.Errorf("%q", got)
		}
	}
}
