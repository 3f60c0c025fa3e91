package server

import (
	"strings"
	"testing"
)

// Passwords are in no text that is kept or shown.
func TestShownTextsHaveNoPasswords(t *testing.T) {
	const text = "CREATE ROLE r WITH password = 'secret' AND LOGIN = true"
	for _, got := range []string{shorten(text), shortened(text), shorten(text + strings.Repeat(" ", 2*longestRecent))} {
		if strings.Contains(got, "secret") || !strings.Contains(got, "CREATE ROLE r") {
			t.Errorf("%q", got)
		}
	}
}
