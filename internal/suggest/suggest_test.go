package suggest

import "testing"

// TestNearest finds misspelled, abbreviated and unknown names.
func TestNearest(t *testing.T) {
	names := []string{"listen", "log-level", "log-format", "memory", "memory-limit", "tls"}
	for word, want := range map[string]string{
		"lsten": "listen", "lisetn": "listen", "loglevel": "log-level", "log_format": "log-format", "memori": "memory",
		"tl": "tls", "level": "log-level", "xyz": "", "frobnicate": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s is near %q, want %q", word, got, want)
		}
	}
}
