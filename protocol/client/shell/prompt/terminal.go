package prompt

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nyaosorg/go-readline-ny/keys"
	"golang.org/x/term"
)

// The size of a terminal that does not know its own.
const (
	defaultColumns = 80
	defaultLines   = 24
)

// minColumns is the smallest width that lines are drawn for.
const minColumns = 20

// terminal gives the editor keys. Between two prompts Ctrl-C is a signal, and all other keys wait.
type terminal struct {
	out   *bufio.Writer         // of the editor
	bound func(key string) bool // whether a key has a command

	typed  []byte // read, not used yet
	pushed string // a key that is read again; "": none

	inCommand bool // the line is not drawn when the size changes: a command reads keys, or the line is hidden
	searching bool

	reading chan typedBytes // nil: no read runs
	changed chan os.Signal  // the size
	resized func(columns, lines int)

	mode    sync.Mutex  // guards the modes
	own     *term.State // as of the start
	waiting *term.State // between two prompts; nil: no line is edited
}

// typedBytes are the result of a read.
type typedBytes struct {
	bytes []byte
	err   error
}

// newTerminal takes the terminal until release.
func newTerminal(out *bufio.Writer, plain bool) *terminal {
	t := &terminal{out: out, changed: make(chan os.Signal, 1)}
	if len(sizeSignals) > 0 {
		signal.Notify(t.changed, sizeSignals...)
	}
	if own, err := term.GetState(int(os.Stdin.Fd())); err == nil && !plain {
		t.own = own
		keepKeys()
	}
	return t
}

// release gives the terminal the mode of the start.
func (t *terminal) release() {
	t.mode.Lock()
	defer t.mode.Unlock()
	for _, mode := range []*term.State{t.waiting, t.own} {
		if mode != nil {
			_ = term.Restore(int(os.Stdin.Fd()), mode) // the terminal may be gone
		}
	}
	t.waiting, t.own = nil, nil
}

// Open begins the editing of a line.
func (t *terminal) Open(resized func(columns, lines int)) (err error) {
	t.mode.Lock()
	defer t.mode.Unlock()
	t.resized = resized
	t.waiting, err = term.MakeRaw(int(os.Stdin.Fd()))
	return err
}

// Close ends the editing of a line.
func (t *terminal) Close() error {
	t.mode.Lock()
	defer t.mode.Unlock()
	if t.waiting == nil {
		return nil
	}
	waiting := t.waiting
	t.waiting = nil
	return term.Restore(int(os.Stdin.Fd()), waiting)
}

// Size is the size that lines are drawn for.
func (t *terminal) Size() (columns, lines int, err error) {
	columns, lines, err = term.GetSize(int(os.Stdout.Fd()))
	if err != nil || columns <= 0 {
		return defaultColumns, defaultLines, nil
	}
	return max(columns, minColumns), lines, nil
}

// read waits for keys. A line that waits is drawn again when the size changes.
func (t *terminal) read() error {
	if t.reading == nil {
		done := make(chan typedBytes, 1)
		t.reading = done
		go func() {
			b := make([]byte, 4096)
			n, err := os.Stdin.Read(b)
			done <- typedBytes{b[:n], err}
		}()
	}
	for {
		changed := t.changed
		if t.inCommand || t.resized == nil {
			changed = nil // the change waits
		}
		select {
		case got := <-t.reading:
			t.reading = nil
			t.typed = append(t.typed, got.bytes...)
			return got.err
		case <-changed:
			columns, lines, _ := t.Size()
			t.resized(columns, lines)
			_ = t.out.Flush() // an error returns with the next key
		}
	}
}

// next takes a character.
func (t *terminal) next() (rune, error) {
	for !utf8.FullRune(t.typed) {
		if err := t.read(); err != nil {
			return 0, err
		}
	}
	r, n := utf8.DecodeRune(t.typed)
	t.typed = t.typed[n:]
	return r, nil
}

// GetKey returns a key, or all printable characters that were typed since the last one: a pasted text is drawn once.
func (t *terminal) GetKey() (string, error) {
	for {
		key, err := t.key()
		if err != nil {
			return "", err
		}
		special := key[0] < ' ' || key[0] == 0x7f
		switch {
		case t.searching && special && !strings.Contains("\b\x7f\x12\x13\x07", key):
			t.pushed, t.searching = key, false
			return keys.Enter, nil // ends the search with the line that was found
		case t.searching, !special, t.bound == nil, t.bound(key):
			return key, nil
		case len(key) == 2 && (key[1] >= ' ' || t.bound(key[1:])):
			return key[1:], nil // Escape, then another key
		}
		_, _ = t.out.WriteString("\a") // an error returns with the next key
		_ = t.out.Flush()
	}
}

// key returns a key as the editor names it.
func (t *terminal) key() (string, error) {
	if key := t.pushed; key != "" {
		t.pushed = ""
		return key, nil
	}
	r, err := t.next()
	switch {
	case err != nil:
		return "", err
	case r == '\n': // typed while the terminal had its own mode
		return keys.Enter, nil
	case r == 0x1b:
		return t.sequence()
	case r < ' ' || r == 0x7f || t.searching:
		return string(r), nil
	}
	text := []byte(string(r))
	n := 0
	for n < len(t.typed) && utf8.FullRune(t.typed[n:]) && t.typed[n] >= ' ' && t.typed[n] != 0x7f {
		_, size := utf8.DecodeRune(t.typed[n:])
		n += size
	}
	text = append(text, t.typed[:n]...)
	t.typed = t.typed[n:]
	return string(text), nil
}

// sameKeys are keys that terminals send in other ways than the editor expects.
var sameKeys = map[string]string{
	"\x1b[1~": keys.Home, "\x1b[7~": keys.Home, "\x1b[4~": keys.End, "\x1b[8~": keys.End, "\x1b\x7f": keys.AltBackspace,
	"\x1b[1;3C": keys.CtrlRight, "\x1b[1;3D": keys.CtrlLeft, "\x1bOc": keys.CtrlRight, "\x1bOd": keys.CtrlLeft,
	"\x1bOA": keys.Up, "\x1bOB": keys.Down, "\x1bOC": keys.Right, "\x1bOD": keys.Left,
	"\x1bOH": keys.Home, "\x1bOF": keys.End,
}

// sequence returns the key whose sequence goes on after Escape.
func (t *terminal) sequence() (string, error) {
	key := "\x1b"
	for {
		r, err := t.next()
		if err != nil {
			return "", err
		}
		if key += string(r); key == "\x1b\x1b" {
			key = "\x1b"
			continue
		}
		switch {
		case len(key) == 2 && (r == '[' || r == 'O'):
			continue
		case key[1] == '[' && r >= ' ' && r < '@': // a parameter
			continue
		}
		if same := sameKeys[key]; same != "" {
			return same, nil
		}
		return key, nil
	}
}

// line reads a line that the terminal edits.
func (t *terminal) line() (string, error) {
	for {
		if line, rest, ok := bytes.Cut(t.typed, []byte("\n")); ok {
			t.typed = rest
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if err := t.read(); err != nil {
			if len(t.typed) == 0 || err != io.EOF { //nolint:errorlint // as os.File returns it
				return "", err
			}
			line := string(t.typed)
			t.typed = nil
			return line, nil
		}
	}
}
