package prompt

import (
	"strings"
	"sync"

	"github.com/nyaosorg/go-readline-ny"

	"github.com/cqld/cqld/protocol/client/shell"
)

// The colours can be read on dark and on light backgrounds: bold blue, green, cyan and magenta, and comments are faint.
const (
	keywordColor = "\x1b[0;1;34m"
	textColor    = "\x1b[0;32m"
	numberColor  = "\x1b[0;36m"
	nameColor    = "\x1b[0;35m"
	commentColor = "\x1b[0;2m"
	plainColor   = "\x1b[0m"
)

// highlighter finds the parts of a line that have colours. The editor asks for each colour in turn.
type highlighter struct {
	open      string // the string, name or comment of earlier lines in which the line begins
	continued bool   // the line does not begin a statement

	line  string // last line that was split
	spans map[string][][]int
}

// begin prepares for the line after a line; pending is the incomplete statement so far.
func (h *highlighter) begin(last, pending string) {
	if h == nil {
		return
	}
	h.continued, h.spans = pending != "", nil
	if pending == "" {
		h.open = ""
		return
	}
	text := h.open + last
	h.open = ""
	if parts := shell.Parts(text); len(parts) > 0 && parts[len(parts)-1].Open {
		h.open = text[parts[len(parts)-1].Start:]
	}
}

// colors are the editor's rules, a rule for each colour.
func (h *highlighter) colors() (all []readline.Highlight) {
	for _, color := range []string{keywordColor, textColor, numberColor, nameColor, commentColor} {
		all = append(all, readline.Highlight{Pattern: colored{h, color}, Sequence: color})
	}
	return all
}

// colored finds the parts of a line in one colour.
type colored struct {
	*highlighter
	color string
}

// FindAllStringIndex returns the beginnings and ends of the parts.
func (c colored) FindAllStringIndex(line string, _ int) [][]int {
	if c.spans == nil || c.line != line {
		c.split(line)
	}
	return c.spans[c.color]
}

// split finds the parts of all colours.
func (h *highlighter) split(line string) {
	h.line, h.spans = line, map[string][][]int{}
	before := len(h.open)
	text := h.open + line
	for _, p := range shell.Parts(text) {
		color := ""
		switch p.Kind {
		case shell.PartWord:
			if !h.isKeyword(text, p) {
				continue
			}
			color = keywordColor
		case shell.PartText:
			color = textColor
		case shell.PartNumber:
			color = numberColor
		case shell.PartName:
			color = nameColor
		case shell.PartComment:
			color = commentColor
		}
		if p.End > before {
			h.spans[color] = append(h.spans[color], []int{max(p.Start-before, 0), p.End - before})
		}
	}
}

// isKeyword reports whether a word is a keyword of the grammar or begins a command of the shell. Beside a point it is a
// name.
func (h *highlighter) isKeyword(text string, p shell.Part) bool {
	before, word := strings.TrimRight(text[:p.Start], " \t"), strings.ToUpper(text[p.Start:p.End])
	if strings.HasSuffix(before, ".") || strings.HasPrefix(text[p.End:], ".") {
		return false
	}
	begins := before == "" && !h.continued || strings.HasSuffix(before, ";")
	return coloredWords()[word] || begins && shell.IsCommand(word) ||
		before == `\` && !h.continued && coloredWords()[before+word]
}

// coloredWords are the keywords, and the commands that begin with a backslash.
var coloredWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, word := range keywordNames() {
		all[word] = true
	}
	for _, command := range shell.Commands() {
		if command[0] == '\\' {
			all[strings.ToUpper(command)] = true
		}
	}
	return all
})
