// Package secret removes passwords from the text of statements before it reaches a log, trace, error or table. It
// works on words, not on the grammar, because the text most often shown is one with a syntax error. In doubt it
// removes more.
package secret

import (
	"math"
	"strings"
)

// Stars replaces the part of a text that is removed.
const Stars = "*******"

// Hide returns a text without the part that may contain a password.
func Hide(text string) string {
	if start := Start(text); start < len(text) {
		return strings.TrimRight(text[:start], " \t\r\n") + " " + Stars
	}
	return text
}

// words precede passwords. They match in any case and inside other words.
var words = []string{"password", "salted_hash"}

// Names reports whether a name says that its value is a password.
func Names(name string) bool {
	_, found := afterWord(name)
	return found
}

// Start returns the index at which Hide cuts a text, or its length if nothing is removed.
//
// The cut is after the word PASSWORD, as in Cassandra's audit log. It is earlier if a string or a comment precedes
// that word; in CREATE and ALTER of a role or user also at the first word that is not an option, since PASSWORD may
// be misspelled, missing or misplaced. A SELECT, INSERT, UPDATE or DELETE that only has a column of such a name,
// without a string after it, is not cut.
func Start(text string) int {
	start, found := afterWord(text)
	if found || hasWord(text, "role") || hasWord(text, "user") {
		s := scan(text)
		if found && s.aboutRows && !s.roles && !strings.ContainsAny(text[start:], "'$") {
			return len(text)
		}
		start = min(start, s.secretStart(found))
	}
	return start
}

// afterWord returns the index after the first of words, or the length of the text if it has none of them.
func afterWord(text string) (end int, found bool) {
	end = len(text)
	for _, w := range words {
		if i := indexFold(text[:end], w); i >= 0 {
			end, found = i+len(w), true
		}
	}
	return end, found
}

// hasWord reports whether a word is in a text, in any case.
func hasWord(text, word string) bool { return indexFold(text, word) >= 0 }

// indexFold is the index of a lower-case ASCII word in a text in any case, or -1.
func indexFold(text, word string) int {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// options are the words that may follow the name of a role.
var options = map[string]bool{
	"IF": true, "NOT": true, "EXISTS": true, "WITH": true, "AND": true, "PASSWORD": true, "HASHED": true, "LOGIN": true,
	"NOLOGIN": true, "SUPERUSER": true, "NOSUPERUSER": true, "TRUE": true, "FALSE": true, "OPTIONS": true, "ACCESS": true,
	"TO": true, "FROM": true, "ALL": true, "DATACENTERS": true, "CIDRS": true,
}

// scanned has the facts that Start needs about a text. The first word does not identify a statement about roles: it
// may be misspelled, or be in a batch.
type scanned struct {
	aboutRows bool // the first word is of a statement that reads or writes rows
	roles     bool // ROLE or USER is among the words
	role      bool // after CREATE or ALTER
	literal   int  // index of the first string
	comment   int  // index of the first comment
	other     int  // index of the first word after ROLE or USER and the name that is not an option
}

// secretStart returns the index of a cut before the word PASSWORD, or math.MaxInt if there is none. password reports
// whether the text has that word.
func (s *scanned) secretStart(password bool) int {
	switch {
	case !s.role && !password:
		return math.MaxInt
	case s.aboutRows:
		return s.literal
	}
	return min(s.literal, s.comment, s.other)
}

func scan(text string) scanned {
	out := scanned{literal: len(text), comment: len(text), other: len(text)}
	named, afterVerb := false, false // the name of the role was seen; the last word is CREATE or ALTER
	s := scanner{text: text}
	for first := true; s.next(); first = first && s.kind == comment {
		w := strings.ToUpper(text[s.start:s.end])
		switch {
		case s.kind == comment:
			out.comment = min(out.comment, s.start)
			continue
		case s.kind == literal:
			out.literal = min(out.literal, s.start)
			named = named || out.role
		case s.kind == symbol:
		case first && rowVerbs[w]:
			out.aboutRows = true
		case w == "CREATE" || w == "ALTER":
			afterVerb = true
			if named {
				out.other = min(out.other, s.start)
			}
			continue
		case (w == "ROLE" || w == "USER") && !out.role:
			out.roles, out.role = true, afterVerb
		case out.role && !named && (w == "IF" || w == "NOT" || w == "EXISTS"):
		case out.role && !named:
			named = true
		case out.role && !options[w]:
			out.other = min(out.other, s.start)
		}
		afterVerb = false
	}
	return out
}

// rowVerbs are the words that statements about rows begin with.
var rowVerbs = map[string]bool{"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true}

// kind is the kind of a token.
type kind int

const (
	symbol  kind = iota // any character
	word                // letters and digits, or a name in double quotes
	literal             // a string
	comment
)

// scanner splits a text into words, strings, comments and other characters. An unterminated token extends to the end
// of the text.
type scanner struct {
	text       string
	start, end int // of the token
	kind       kind
}

// next moves to the next token; it returns false at the end.
func (s *scanner) next() bool {
	for s.end < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.end]) >= 0 {
		s.end++
	}
	s.start = s.end
	rest := s.text[s.start:]
	switch {
	case rest == "":
		return false
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
		s.find(comment, rest, 2, "\n")
	case strings.HasPrefix(rest, "/*"):
		s.find(comment, rest, 2, "*/")
	case strings.HasPrefix(rest, "$$"):
		s.find(literal, rest, 2, "$$")
	case rest[0] == '\'':
		s.find(literal, rest, 1, "'") // a quote inside begins the next one
	case rest[0] == '"':
		s.find(word, rest, 1, `"`)
	case isWord(rest[0]):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		s.kind, s.end = word, s.start+n
	default:
		s.kind, s.end = symbol, s.start+1
	}
	return true
}

// find ends a token after its closing text.
func (s *scanner) find(k kind, rest string, from int, closing string) {
	s.kind, s.end = k, len(s.text)
	if i := strings.Index(rest[from:], closing); i >= 0 {
		s.end = s.start + from + i + len(closing)
	}
}

// isWord reports whether a byte is part of a word.
func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
