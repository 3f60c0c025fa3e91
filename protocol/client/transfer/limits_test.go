package transfer

import (
	"bufio"
	"errors"
	"strings"
	"testing"
)

// TestLongLines reads lines without end, which would fill the memory.
func TestLongLines(t *testing.T) {
	const limit = 100
	buffered := func(text string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(text), 16) }
	for name, read := range map[string]func(text string) error{
		"JSON": func(text string) error {
			_, err := (&jsonReader{buffered(`{"a": "` + text + "\"}\n"), limit}).next(&table{columns: []*column{}})
			return err
		},
		"CSV": func(text string) error {
			_, err := (&csvReader{in: buffered(text + "\n"), limit: limit}).record()
			return err
		},
		"quoted CSV": func(text string) error {
			_, err := (&csvReader{in: buffered(`"` + text + "\n\"\n"), limit: limit}).record()
			return err
		},
		"COPY": func(text string) error {
			_, err := (&LineReader{Dialect: Dialect{',', '"', '"'}, in: buffered(text + "\n"), limit: limit}).Next()
			return err
		},
		"the shell": func(text string) error {
			_, err := ReadLine(buffered(text+"\n"), limit)
			return err
		},
	} {
		if err := read(strings.Repeat("x", limit/2)); errors.Is(err, errLongLine) {
			t.Errorf("%s: a line that is short enough: %v", name, err)
		}
		if err := read(strings.Repeat("x", 10*limit)); !errors.Is(err, errLongLine) {
			t.Errorf("%s: a long line: %v", name, err)
		}
	}
}
