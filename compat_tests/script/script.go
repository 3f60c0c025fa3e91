package script

import (
	"fmt"
	"slices"
	"strings"
)

// Script is a file of blocks after a comment.
type Script struct {
	Comment  []string // the lines that begin with # at the top, except Settings and Stamp
	Settings string   // of the server, with semicolons between them: tables_warn_threshold=3; group_by_enabled=false
	Stamp    string   // the server it was recorded from: Cassandra 5.0.8
	Blocks   []*Block

	Logins *Logins // nil: the server has no logins
}

// Kind is how a block prints the answers to its statements.
type Kind string

// The kinds: Exec shows that statements succeed or fail, Each also shows the rows of each, Query the rows of one.
const (
	Exec  Kind = "exec"
	Each  Kind = "each"
	Query Kind = "query"
)

// Block is some statements and their answers.
type Block struct {
	Line       int // in the file
	Kind       Kind
	Comment    []string // lines that begin with #, above the block
	Statements []string // as written, with their semicolons
	Expected   []string // the answer of Cassandra
	Bound      []string // with bound values: the differences from Expected, as Block.changes writes it
	Parts      []string // with bound parts of values: the differences from the answer with whole values
	Ours       []string // the answer of cqld instead of Expected; nil if it is the same
	expectOurs bool
}

const (
	settingsPrefix = "# settings: "
	stampPrefix    = "# recorded from: "
	separator      = "----"
	boundSeparator = "---- bound"
	partsSeparator = "---- parts"
	oursSeparator  = "---- cqld"
)

// answerSeparators are the lines that may follow an answer.
var answerSeparators = []string{boundSeparator, partsSeparator, oursSeparator}

// unboundPrefix begins the comment of a block whose literals stay, with the reason.
const unboundPrefix = "# unbound: "

// Prefixes of comments that set how the statements of a block are sent.
const (
	levelPrefix = "# consistency: "
	pagePrefix  = "# page: "
)

// tagged returns the text after a prefix in the comment of the block; "" if no line has the prefix.
func (b *Block) tagged(prefix string) string {
	for _, c := range b.Comment {
		if text, ok := strings.CutPrefix(c, prefix); ok {
			return text
		}
	}
	return ""
}

// plainPrefix begins the comment of a block whose statements are never prepared, with the reason.
const plainPrefix = "# plain: "

// binding is the part of a block with the answers for a binding.
func (b *Block) binding(binding Binding) Binding {
	if b.tagged(unboundPrefix) != "" || b.tagged(plainPrefix) != "" {
		return Unbound
	}
	return binding
}

// Parse reads a script.
func Parse(text string) (*Script, error) {
	s := &Script{}
	p := &parser{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	for p.more() && strings.HasPrefix(p.peek(), "#") {
		line := p.next()
		if stamp, ok := strings.CutPrefix(line, stampPrefix); ok {
			s.Stamp = stamp
		} else if settings, ok := strings.CutPrefix(line, settingsPrefix); ok {
			s.Settings = settings
		} else {
			s.Comment = append(s.Comment, line)
		}
	}
	for {
		for p.more() && p.peek() == "" {
			p.next()
		}
		if !p.more() {
			return s, nil
		}
		b, err := p.block()
		if err != nil {
			return nil, err
		}
		s.Blocks = append(s.Blocks, b)
	}
}

// parser walks over the lines of a script.
type parser struct {
	lines []string
	at    int
}

func (p *parser) more() bool   { return p.at < len(p.lines) }
func (p *parser) peek() string { return p.lines[p.at] }

func (p *parser) next() string {
	p.at++
	return p.lines[p.at-1]
}

// block reads a block up to the empty line after it.
func (p *parser) block() (*Block, error) {
	b := &Block{}
	for p.more() && strings.HasPrefix(p.peek(), "#") {
		b.Comment = append(b.Comment, p.next())
	}
	if !p.more() {
		return nil, fmt.Errorf("line %d: a comment without a block", p.at)
	}
	b.Line = p.at + 1
	b.Kind = Kind(p.next())
	if b.Kind != Exec && b.Kind != Each && b.Kind != Query {
		return nil, fmt.Errorf("line %d: a block begins with exec, each or query, not %q", b.Line, b.Kind)
	}
	statement := ""
	for p.more() && p.peek() != separator && p.peek() != "" {
		statement += p.next()
		if !complete(statement) {
			statement += "\n"
			continue
		}
		b.Statements = append(b.Statements, statement)
		statement = ""
	}
	if statement != "" || len(b.Statements) == 0 {
		return nil, fmt.Errorf("line %d: a statement that no semicolon ends", b.Line)
	}
	if b.Kind == Query && len(b.Statements) != 1 {
		return nil, fmt.Errorf("line %d: a query block has one statement", b.Line)
	}
	if p.more() && p.peek() == separator {
		p.next()
	}
	b.Expected = p.answer()
	if p.more() && p.peek() == boundSeparator {
		p.next()
		b.Bound = p.answer()
	}
	if p.more() && p.peek() == partsSeparator {
		p.next()
		b.Parts = p.answer()
	}
	if !p.more() || p.next() != oursSeparator {
		return b, nil
	}
	for p.more() && p.peek() != "" {
		b.Ours = append(b.Ours, p.next())
	}
	if len(b.Ours) == 0 {
		return nil, fmt.Errorf("line %d: nothing after %q", p.at, oursSeparator)
	}
	return b, nil
}

// answer reads the lines of an answer.
func (p *parser) answer() []string {
	var lines []string
	for p.more() && p.peek() != "" && !slices.Contains(answerSeparators, p.peek()) {
		lines = append(lines, p.next())
	}
	return lines
}

// complete reports whether a statement ends at the end of its last line. A batch ends after APPLY BATCH.
func complete(statement string) bool {
	if !strings.HasSuffix(statement, ";") {
		return false
	}
	upper := strings.ToUpper(statement)
	return !strings.HasPrefix(upper, "BEGIN ") || strings.Contains(upper, "APPLY BATCH")
}

// String is the script as a file, with Expected and Ours as they are.
func (s *Script) String() string {
	var b strings.Builder
	for _, c := range s.Comment {
		fmt.Fprintln(&b, c)
	}
	if s.Settings != "" {
		fmt.Fprintln(&b, settingsPrefix+s.Settings)
	}
	if s.Stamp != "" {
		fmt.Fprintln(&b, stampPrefix+s.Stamp)
	}
	for _, block := range s.Blocks {
		fmt.Fprintln(&b)
		for _, c := range block.Comment {
			fmt.Fprintln(&b, c)
		}
		fmt.Fprintln(&b, block.Kind)
		for _, st := range block.Statements {
			fmt.Fprintln(&b, st)
		}
		fmt.Fprintln(&b, separator)
		writeAnswer(&b, "", block.Expected)
		writeAnswer(&b, boundSeparator, block.Bound)
		writeAnswer(&b, partsSeparator, block.Parts)
		writeAnswer(&b, oursSeparator, block.Ours)
	}
	return b.String()
}

// writeAnswer writes the lines of an answer, if there is one, and the separator before it.
func writeAnswer(b *strings.Builder, separator string, lines []string) {
	if separator != "" && lines != nil {
		fmt.Fprintln(b, separator)
	}
	for _, l := range lines {
		fmt.Fprintln(b, l)
	}
}

// Tail returns the queries after the last block of another kind: when repeated, they must give the same answers.
func (s *Script) Tail() []*Block {
	for i := len(s.Blocks); i > 0; i-- {
		if s.Blocks[i-1].Kind != Query {
			return s.Blocks[i:]
		}
	}
	return s.Blocks
}
