// Package prompt is the shell at a terminal: a prompt with history and completion for a session of package shell.
//
// Run reads lines and gives them to the session (prompt.go). Tab completes words: complete.go finds what the grammar
// allows at the cursor, names.go finds the names that the schema has for that place, and values.go the symbols and the
// kinds of values. schema.go reads the schema from the server in the background.
//
// The line editor is github.com/nyaosorg/go-readline-ny: it asks the terminal nothing, so its prompt comes at once.
// editor.go binds its keys, terminal.go reads them, and highlight.go colours the line. A terminal that cannot
// move its cursor edits lines itself.
package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/protocol/client/shell"
)

// Options are the parameters of a prompt.
type Options struct {
	History   string // path of the file; "": lines are not kept after the end
	NoHistory bool   // lines are not written to the file
}

// Prompt is a terminal with a session.
type Prompt struct {
	o       Options
	editor  *editor
	session *shell.Session
	schema  *schema
	colors  *highlighter // nil: none
}

// Supported reports whether the standard input and output are a terminal that lines can be edited on.
func Supported() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// exitTerminated is the exit code after SIGTERM, as shells report it.
const exitTerminated = 128 + 15

// Run connects and runs the typed lines until EXIT or Ctrl-D.
func Run(ctx context.Context, so shell.Options, o Options) error {
	setSize()
	p := &Prompt{o: o, editor: newEditor()}
	defer p.editor.terminal.release()
	// Between two prompts Ctrl-C is a signal, which must not end the process.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	defer close(terminated)
	defer signal.Stop(terminated)
	go func() {
		if _, ok := <-terminated; ok {
			p.editor.terminal.release()
			os.Exit(exitTerminated)
		}
	}()
	p.editor.complete = p.complete
	if so.Color {
		p.colors = &highlighter{}
	}
	p.readHistory()
	so.Terminal = true
	so.In = &typedLines{editor: p.editor}
	so.More = more
	so.Width = width
	so.AskPassword = func() (string, error) { return p.editor.readPassword("Password: ") }
	so.History = p.history
	if so.Username != "" && so.Password == "" {
		var err error
		if so.Password, err = so.AskPassword(); err != nil {
			return err
		}
	}
	var err error
	if p.session, err = shell.Start(ctx, so); err != nil {
		return err
	}
	defer p.session.Close()
	if err := p.session.Greet(ctx); err != nil {
		return err
	}
	p.schema = newSchema(so)
	defer p.schema.close()
	return p.loop(ctx)
}

// loop reads lines and runs them.
func (p *Prompt) loop(ctx context.Context) error {
	for !p.session.Ended() {
		line, err := p.editor.readLine(p.session.Prompt(), p.colors)
		switch {
		case errors.Is(err, errInterrupted):
			p.session.Reset()
			p.colors.begin("", "")
			continue
		case errors.Is(err, io.EOF):
			fmt.Println()
			return nil
		case err != nil:
			return err
		}
		before := p.session.Pending()
		if err := p.run(ctx, line+"\n"); err != nil {
			return err
		}
		p.remember(before, line)
		p.colors.begin(line+"\n", p.session.Pending())
	}
	return nil
}

// run runs a line. Ctrl-C cancels its statements.
func (p *Prompt) run(ctx context.Context, line string) error {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	_, err := p.session.Feed(ctx, line)
	if changesSchema(line) {
		p.schema.forget()
	}
	return err
}

// changesSchema reports whether a line may have changed the schema.
func changesSchema(line string) bool {
	upper := strings.ToUpper(line)
	for _, word := range []string{"CREATE", "ALTER", "DROP", "SOURCE", "LOGIN", "APPLY"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// remember adds a line to the history: a statement of several lines as one, once it is complete. Lines with passwords
// are left out.
func (p *Prompt) remember(before, line string) {
	if p.session.Pending() != "" {
		return
	}
	whole := strings.TrimSpace(strings.ReplaceAll(before+line, "\n", " "))
	if whole == "" || secret.Hide(whole) != whole || strings.HasPrefix(strings.ToUpper(whole), "LOGIN ") {
		return
	}
	p.editor.remember(whole)
	if p.o.History == "" || p.o.NoHistory {
		return
	}
	f, err := os.OpenFile(p.o.History, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // a prompt without history is better than none
	}
	_, _ = fmt.Fprintln(f, whole) // likewise
	_ = f.Close()
}

// maxHistory is the size from which the file of the history is cut to keptLines.
const maxHistory = 1 << 20

func (p *Prompt) readHistory() {
	if p.o.History == "" {
		return
	}
	_ = os.MkdirAll(filepath.Dir(p.o.History), 0o700) // if it fails, opening the file does too
	f, err := os.Open(p.o.History)
	if err != nil {
		return
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxHistory)
	for in.Scan() {
		p.editor.remember(in.Text())
	}
	if info, err := f.Stat(); err != nil || info.Size() < maxHistory || p.o.NoHistory {
		return
	}
	kept := strings.Join(p.history(keptLines), "\n") + "\n"
	_ = os.WriteFile(p.o.History, []byte(kept), 0o600) // it stays long
}

// history returns the last n lines.
func (p *Prompt) history(n int) []string { return p.editor.history[max(0, len(p.editor.history)-n):] }

// typedLines reads the lines after a command such as COPY FROM STDIN.
type typedLines struct {
	editor *editor
	left   string
}

// Read reads a line or a part of it.
func (t *typedLines) Read(b []byte) (int, error) {
	if t.left == "" {
		line, err := t.editor.readLine("[copy] ", nil)
		if errors.Is(err, errInterrupted) {
			err = io.EOF
		}
		if err != nil {
			return 0, err
		}
		t.left = line + "\n"
	}
	n := copy(b, t.left)
	t.left = t.left[n:]
	return n, nil
}

// width is the number of columns of the terminal, or 0.
func width() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// The keys that matter between two pages.
const (
	keyCtrlC = 3
	keyCtrlD = 4
)

// more waits between two pages. As in less, q ends the result, and space or return shows the next page.
func more() bool {
	fmt.Print("---MORE---")
	in := int(os.Stdin.Fd())
	before, err := term.MakeRaw(in)
	if err != nil {
		fmt.Println()
		return true
	}
	defer fmt.Println()
	defer func() { _ = term.Restore(in, before) }() // the editor sets its own mode
	for {
		var key [1]byte
		if n, err := os.Stdin.Read(key[:]); n == 0 || err != nil {
			return false
		}
		switch key[0] {
		case 'q', 'Q', keyCtrlC, keyCtrlD:
			return false
		case ' ', '\r', '\n', 'j', 'f':
			return true
		}
	}
}
