package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-colorable"
	"github.com/nyaosorg/go-readline-ny"
	"github.com/nyaosorg/go-readline-ny/keys"
	"github.com/nyaosorg/go-readline-ny/moji"
)

// editor reads lines from the terminal.
type editor struct {
	lines    readline.Editor
	terminal *terminal
	plain    bool // the terminal edits lines, since it cannot move its cursor
	history  history

	// complete returns the words that can stand after head, a beginning of the text before the cursor.
	complete func(before, after string) (head string, words []string)
	tabbed   string // the text before the cursor as of the last Tab, which lists words if it did not change

	// Up and Down go through the lines of the history that begin with prefix.
	at            int    // the line that is shown
	prefix, shown string // shown is the line as of the last Up or Down
}

// errInterrupted is the result of Ctrl-C.
var errInterrupted = errors.New("interrupted")

// keptLines is how many lines of the history are kept.
const keptLines = 1000

// history are the lines that were typed.
type history []string

// Len is the number of lines.
func (h *history) Len() int { return len(*h) }

// At returns a line.
func (h *history) At(i int) string { return (*h)[i] }

// cursorSequences hide and show the cursor around each key. Programs that read the terminal do not expect them.
var cursorSequences = strings.NewReplacer("\x1b[?25l", "", "\x1b[?25h\x1b[s\x1b[u", "")

// screen is the terminal as the editor writes to it.
type screen struct{ io.Writer }

// Write writes without hiding the cursor.
func (s screen) Write(b []byte) (int, error) {
	if _, err := cursorSequences.WriteString(s.Writer, string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func newEditor() *editor {
	// The editor escapes characters that some terminals do not combine. The shell leaves that to the terminal.
	moji.SurrogatePairOk, moji.AmbiguousIsWide = true, false
	moji.ZeroWidthJoinSequenceOk, moji.VariationSequenceOk, moji.ModifierSequenceOk = false, false, false
	out := bufio.NewWriter(screen{colorable.NewColorableStdout()})
	kind := strings.ToLower(os.Getenv("TERM"))
	plain := runtime.GOOS != "windows" && slices.Contains([]string{"", "dumb", "cons25"}, kind)
	e := &editor{terminal: newTerminal(out, plain), plain: plain}
	e.lines = readline.Editor{
		Out: out, Tty: e.terminal, History: &e.history, AfterCommand: combine,
		LineFeedWriter: func(r readline.Result, w io.Writer) (int, error) {
			switch r {
			case readline.INTR:
				return io.WriteString(w, "^C\r\n")
			case readline.ENTER:
				return io.WriteString(w, "\r\n")
			}
			return 0, nil
		},
	}
	for key, command := range map[keys.Code]func(b *readline.Buffer) readline.Result{
		keys.CtrlI: e.tab, keys.CtrlR: e.search, keys.CtrlK: kill,
		keys.Up: e.older, keys.CtrlP: e.older, keys.Down: e.newer, keys.CtrlN: e.newer,
		// Undo does not know combined characters.
		keys.CtrlZ: beep, keys.CtrlUnderbar: beep, keys.CtrlQ: beep, keys.CtrlV: beep,
	} {
		e.lines.BindKey(key, readline.AnonymousCommand(func(_ context.Context, b *readline.Buffer) readline.Result {
			return command(b)
		}))
	}
	return e
}

// readLine reads a line, in colours if h is not nil.
func (e *editor) readLine(prompt string, h *highlighter) (string, error) {
	if e.plain {
		fmt.Print(prompt)
		return e.terminal.line()
	}
	e.lines.PromptWriter = func(w io.Writer) (int, error) { return io.WriteString(w, prompt) }
	e.lines.Highlight, e.lines.ResetColor, e.lines.DefaultColor = nil, "", ""
	if h != nil {
		e.lines.Highlight, e.lines.ResetColor, e.lines.DefaultColor = h.colors(), plainColor, plainColor
	}
	e.at, e.prefix, e.shown, e.tabbed = len(e.history), "", "", ""
	e.terminal.bound = func(key string) bool {
		_, inserted := e.lines.LookupCommand(key).(readline.SelfInserter)
		return !inserted
	}
	return readFrom(&e.lines)
}

// readFrom reads a line from an editor.
func readFrom(lines *readline.Editor) (string, error) {
	line, err := lines.ReadLine(context.Background())
	if errors.Is(err, readline.CtrlC) {
		err = errInterrupted
	}
	if err != nil {
		return "", err
	}
	return line, nil
}

// readPassword reads a line that is not shown.
func (e *editor) readPassword(prompt string) (string, error) {
	hidden := readline.Editor{
		Writer: io.Discard, Tty: e.terminal,
		PromptWriter: func(io.Writer) (int, error) { return fmt.Print(prompt) }, // the terminal shows no keys then
	}
	e.terminal.bound, e.terminal.inCommand = nil, true
	password, err := readFrom(&hidden)
	e.terminal.inCommand = false
	fmt.Println()
	return password, err
}

// remember adds a line to the history.
func (e *editor) remember(line string) { e.history = append(e.history, line) }

func beep(b *readline.Buffer) readline.Result {
	_, _ = b.Out.WriteString("\a") // an error of a terminal returns with the next key, here and below
	return readline.CONTINUE
}

// kill deletes the text after the cursor. The rest may have other colours then.
func kill(b *readline.Buffer) readline.Result {
	readline.CmdKillLine.Call(context.Background(), b)
	b.DrawFromHead()
	return readline.CONTINUE
}

// show replaces the line.
func show(b *readline.Buffer, line string) {
	b.Cursor = len(b.Buffer)
	b.ReplaceAndRepaint(0, line)
}

// older shows the last older line of the history that begins with the typed text.
func (e *editor) older(b *readline.Buffer) readline.Result {
	if line := b.String(); line != e.shown {
		e.at, e.prefix, e.shown = len(e.history), line, line
	}
	for i := e.at - 1; i >= 0; i-- {
		if line := e.history[i]; line != e.shown && strings.HasPrefix(line, e.prefix) {
			e.at, e.shown = i, line
			show(b, line)
			return readline.CONTINUE
		}
	}
	return beep(b)
}

// newer goes back from older lines, at last to the typed text.
func (e *editor) newer(b *readline.Buffer) readline.Result {
	if b.String() != e.shown || e.at == len(e.history) {
		return beep(b)
	}
	line := e.prefix
	for e.at++; e.at < len(e.history); e.at++ {
		if found := e.history[e.at]; found != e.shown && strings.HasPrefix(found, e.prefix) {
			line = found
			break
		}
	}
	e.shown = line
	show(b, line)
	return readline.CONTINUE
}

// search searches the history. A key that does not belong to the search ends it, and is typed in the line that was
// found. If none was, the line stays.
func (e *editor) search(b *readline.Buffer) readline.Result {
	before := b.String()
	e.terminal.inCommand, e.terminal.searching = true, true
	readline.CmdISearchBackward.Call(context.Background(), b)
	e.terminal.inCommand, e.terminal.searching = false, false
	if len(b.Buffer) == 0 && before != "" {
		show(b, before)
	}
	return readline.CONTINUE
}

// maxListed is how many words are listed without asking.
const maxListed = 100

// tab completes the word before the cursor as far as all words agree. Pressed again it lists them.
func (e *editor) tab(b *readline.Buffer) readline.Result {
	before := b.SubString(0, b.Cursor)
	head, words := e.complete(before, b.SubString(b.Cursor, len(b.Buffer)))
	if len(words) == 0 {
		return beep(b)
	}
	start := 0 // the cell at which the word begins
	for n := 0; n < len(head); start++ {
		n += b.Buffer[start].Moji.Len()
	}
	list := e.tabbed == before
	if completed := head + commonPrefix(words); completed != before {
		b.ReplaceAndRepaint(start, completed[len(head):])
		list = false
	}
	if e.tabbed = b.SubString(0, b.Cursor); !list || len(words) == 1 {
		return readline.CONTINUE
	}
	if len(words) <= maxListed || e.wants(b, fmt.Sprintf("Display all %d possibilities? (y or n) ", len(words))) {
		columns, _, _ := e.terminal.Size()
		_, _ = b.Out.WriteString("\r\n" + inColumns(words, columns))
		b.RepaintAll()
	}
	return readline.CONTINUE
}

// wants asks a question on the next line.
func (e *editor) wants(b *readline.Buffer, question string) bool {
	_, _ = b.Out.WriteString("\r\n" + question)
	e.terminal.inCommand = true
	defer func() { e.terminal.inCommand = false }()
	for {
		switch key, err := b.GetKey(); {
		case err == nil && strings.EqualFold(key, "y"):
			return true
		case err != nil, strings.EqualFold(key, "n"), key == keys.CtrlC, key == keys.CtrlD, key == keys.Enter:
			_, _ = b.Out.WriteString("\r\n")
			b.RepaintAll()
			return false
		}
	}
}

// inColumns arranges words in columns, each of which is read downwards.
func inColumns(words []string, width int) string {
	widest := 0
	for _, w := range words {
		widest = max(widest, utf8.RuneCountInString(w)+1)
	}
	columns := max(width/max(widest, 1), 1)
	rows := (len(words) + columns - 1) / columns
	var b strings.Builder
	for row := range rows {
		for i := row; i < len(words); i += rows {
			if b.WriteString(words[i]); i+rows < len(words) {
				b.WriteString(strings.Repeat(" ", widest-utf8.RuneCountInString(words[i])))
			}
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// combined is a character with marks that take no column, such as accents.
type combined struct {
	readline.Moji
	marks string
}

// Len is the number of bytes.
func (c combined) Len() int { return c.Moji.Len() + len(c.marks) }

// WriteTo writes the text.
func (c combined) WriteTo(w io.Writer) (int64, error) {
	n, err := c.Moji.WriteTo(w)
	if err != nil {
		return n, err
	}
	m, err := io.WriteString(w, c.marks)
	return n + int64(m), err
}

// PrintTo draws the text.
func (c combined) PrintTo(w io.Writer) {
	c.Moji.PrintTo(w)
	_, _ = io.WriteString(w, c.marks) // as the editor's characters do
}

// combine joins the marks in a line with the characters before them. The editor would show them as numbers.
func combine(b *readline.Buffer) {
	kept, cursor := 0, b.Cursor
	for i, c := range b.Buffer {
		if mark, ok := c.Moji.(moji.EscCodePoint); ok && kept > 0 {
			before := &b.Buffer[kept-1].Moji
			if last, ok := (*before).(combined); ok {
				*before = combined{last.Moji, last.marks + string(rune(mark))}
			} else {
				*before = combined{*before, string(rune(mark))}
			}
			if i < b.Cursor {
				cursor--
			}
			continue
		}
		b.Buffer[kept] = c
		kept++
	}
	if kept < len(b.Buffer) {
		b.Buffer, b.Cursor = b.Buffer[:kept], cursor
		b.ResetViewStart()
		b.DrawFromHead()
	}
}
