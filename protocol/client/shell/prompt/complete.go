package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/grammar"
	"github.com/cqld/cqld/protocol/client/shell"
)

// complete returns the words that can stand at the cursor after head, a beginning of the text before it.
func (p *Prompt) complete(before, after string) (head string, words []string) {
	p.schema.refresh()
	c := completer{names: p.schema.names(schemaWait), keyspace: p.session.Keyspace()}
	keep, words := c.complete(p.session.Pending()+before, after)
	return before[:len(before)-keep], words
}

// schemaWait is how long Tab waits for the names of the schema.
const schemaWait = 300 * time.Millisecond

// completer completes a word with names of a schema.
type completer struct {
	names    *names
	keyspace string
}

// maxForced is how many words a completion adds if only one is possible each time.
const maxForced = 8

// complete returns the texts that can stand at the end of source instead of its last keep bytes. If there is one, it
// goes on with the keywords and symbols that have to follow.
func (c *completer) complete(source, after string) (keep int, all []string) {
	keep, all = c.words(source, after)
	switch {
	case len(all) == 0:
		return keep, nil
	case slices.ContainsFunc(all, isHint), len(commonPrefix(all)) < keep, all[0] == ";" && len(all) == 1:
		// The editor inserts the common beginning of words. The empty one makes it insert nothing: no part of a hint,
		// not less than what was typed, and no end of the statement.
		return 0, append(all, "")
	case len(all) > 1 && strings.HasSuffix(source, ")") && after == "":
		return 0, []string{" "}
	case len(all) > 1:
		return keep, all
	}
	before, text := source[:len(source)-keep], all[0]
	joins := strings.ContainsAny(text[:1], ",:")
	if keep == 0 && before != "" && !joins && !strings.ContainsAny(before[len(before)-1:], " \t\n([{<.") {
		text = " " + text
	}
	if strings.ContainsAny(text[len(text)-1:], "./'<-") {
		return keep, []string{text}
	}
	if after != "" {
		if !strings.HasPrefix(after, " ") {
			text += " "
		}
		return keep, []string{text}
	}
	if !strings.HasSuffix(text, " ") {
		text += " "
	}
	for range maxForced {
		if _, _, err := parser.Parse(before + text); err == nil {
			break // it is complete
		}
		_, next := c.words(before+text, "")
		if len(next) == 0 || slices.ContainsFunc(next, func(w string) bool { return !c.isForced(before+text, w) }) {
			break
		}
		if len(next) > 1 {
			text += commonPrefix(next)
			break
		}
		if text += next[0]; strings.HasSuffix(text, "'") || strings.HasSuffix(text, " ") {
			break
		}
		text += " "
	}
	return keep, []string{text}
}

// isForced reports whether a word is typed for the user if nothing else is possible: a keyword, a symbol, or a column
// of the statement's table. A semicolon is not, since it runs the statement, nor the name of a table, which may be
// dropped.
func (c *completer) isForced(statement, word string) bool {
	if !isWord(word[0]) {
		return word != ";" && !isHint(word) && word[0] != '"'
	}
	table, _ := c.table(tokens(statement))
	return slices.Contains(keywordNames(), word) || slices.Contains(c.names.columns[table], word) || word == "replication"
}

func commonPrefix(all []string) string {
	prefix := all[0]
	for _, w := range all {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// words returns the words that can stand at the end of a text instead of its last keep bytes.
func (c *completer) words(source, after string) (keep int, all []string) {
	statement := source[lastStatement(source):]
	if content, ok := openString(statement); ok {
		if hint := c.value(tokens(statement[:len(statement)-len(content)-1])); isHint(hint) {
			return 0, []string{hint}
		}
		return len(content), append(files(statement, content), classes(statement, content)...)
	}
	partial := statement[lastWord(statement):]
	prefix := statement[:len(statement)-len(partial)]
	candidates := c.candidates(prefix, partial, statement+after)
	if partial == "" && strings.TrimSpace(prefix) != "" {
		candidates = c.withSymbols(prefix, candidates)
	}
	for _, w := range candidates {
		if fits(w, partial) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	return len(partial), all
}

// lastStatement returns where the last statement of a text begins. A batch is completed like its last statement.
func lastStatement(source string) int {
	quoted := byte(0)
	begin := 0
	for i := range len(source) {
		switch ch := source[i]; {
		case quoted != 0:
			if ch == quoted {
				quoted = 0
			}
		case ch == '\'' || ch == '"':
			quoted = ch
		case ch == ';':
			begin = i + 1
		}
	}
	return begin
}

// openString returns the beginning of a string that has no end.
func openString(source string) (string, bool) {
	if strings.Count(source, "'")%2 == 0 {
		return "", false
	}
	return source[strings.LastIndexByte(source, '\'')+1:], true
}

// files returns the files whose paths begin with path, in a command that takes one.
func files(statement, path string) (all []string) {
	fields := strings.Fields(strings.ToUpper(statement))
	if len(fields) == 0 || !slices.Contains([]string{"SOURCE", "CAPTURE", "COPY"}, fields[0]) {
		return nil
	}
	found, _ := filepath.Glob(globEscape.Replace(path) + "*") // a bad pattern matches nothing
	for _, f := range found {
		if info, err := os.Stat(f); err == nil && info.IsDir() {
			f += "/"
		} else {
			f += "'"
		}
		all = append(all, f)
	}
	return all
}

var globEscape = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// lastWord returns where the word or quoted name at the end of a text begins.
func lastWord(s string) int {
	if strings.Count(s, `"`)%2 == 1 {
		return strings.LastIndexByte(s, '"')
	}
	i := len(s)
	for i > 0 && isWord(s[i-1]) {
		i--
	}
	if i > 0 && s[i-1] == '\\' {
		i--
	}
	return i
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// fits reports whether a word begins with the typed letters, in which the quote of a name may be missing.
func fits(word, partial string) bool {
	if !strings.HasPrefix(partial, `"`) {
		if name, ok := strings.CutPrefix(word, `"`); ok && partial != "" {
			return len(name) >= len(partial) && strings.EqualFold(name[:len(partial)], partial)
		}
	}
	return len(word) >= len(partial) && strings.EqualFold(word[:len(partial)], partial)
}

// tokens splits a text into words and single characters.
func tokens(s string) (all []string) {
	for i := 0; i < len(s); {
		switch {
		case isWord(s[i]):
			n := i
			for n < len(s) && isWord(s[n]) {
				n++
			}
			all = append(all, s[i:n])
			i = n
		case s[i] == '"' || s[i] == '\'':
			end := strings.IndexByte(s[i+1:], s[i])
			if end < 0 {
				return append(all, s[i:])
			}
			all = append(all, s[i:i+end+2])
			i += end + 2
		default:
			if !strings.ContainsRune(" \t\r\n", rune(s[i])) {
				all = append(all, s[i:i+1])
			}
			i++
		}
	}
	return all
}

// commandArguments are the words after commands of the shell.
var commandArguments = map[string][]string{
	"CONSISTENCY": append([]string{";", "<enter>"}, levels...), "SERIAL": {"CONSISTENCY"},
	"PAGING": {"ON", "OFF", "<wholenumber>", ";", "<enter>"}, "EXPAND": {"ON", "OFF", ";", "<enter>"},
	"TRACING": {"ON", "OFF", "TREE", ";", "<enter>"},
	"SHOW":    {"VERSION", "HOST", "SESSION", "REPLICAS"}, "CAPTURE": {"OFF", ";", "<enter>"}, "HELP": nil,
	"EXIT": {}, "QUIT": {}, `\FORMAT`: shell.Formats,
	"CLEAR": {}, "CLS": {}, "HISTORY": {}, "LOGIN": {}, "SOURCE": {}, `\TIMING`: {}, `\DIFF`: {}, `\TOP`: {},
	`\LIVE`: {},
}

var levels = []string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE",
}

// candidates returns words for the place after prefix; whole is the statement, including the text after the cursor.
func (c *completer) candidates(prefix, partial, whole string) []string {
	before := tokens(prefix)
	if len(before) > 0 && before[0] == `\` && len(before) > 1 {
		before = append([]string{`\` + before[1]}, before[2:]...)
	}
	if len(before) == 0 {
		all := append([]string{"DESC"}, shell.Commands()...)
		return append(all, keywords(prefix, partial)...)
	}
	first := strings.ToUpper(before[0])
	switch arguments, ok := commandArguments[first]; {
	case first == "SERIAL" && len(before) == 2:
		return []string{"SERIAL", "LOCAL_SERIAL", ";", "<enter>"}
	case first == "SHOW" && len(before) == 2 && strings.EqualFold(before[1], "SESSION"):
		return []string{"<uuid>"}
	case first == "SHOW" && len(before) == 2 && strings.EqualFold(before[1], "REPLICAS"):
		return []string{"-", "<wholenumber>"}
	case first == "SHOW" && len(before) == 3:
		return quoted(c.names.keyspaces)
	case first == "HELP" || first == "?":
		return shell.HelpTopics()
	case first == "LOGIN" && len(before) == 1:
		return quoted(c.names.roles)
	case ok && len(before) == 1:
		return arguments
	case ok && partial == "" && len(arguments) > 0:
		return []string{";", "<enter>"}
	case ok:
		return nil
	case first == "COPY":
		return c.copyWords(before)
	case first == `\PLAN` || first == `\WATCH`:
		return c.candidates(strings.TrimLeft(prefix[strings.Index(prefix, before[0][1:])+len(before[0])-1:], " "),
			partial, whole)
	case first == "DESC":
		prefix = "DESCRIBE" + prefix[strings.Index(strings.ToUpper(prefix), "DESC")+len("DESC"):]
	case first == `\DIAGRAM`:
		return quoted(c.names.keyspaces)
	}
	named := viable(prefix + " zzz")
	if batch := lastInBatch(prefix); batch != "" {
		before = tokens(batch)
		whole = batch + whole[min(len(prefix), len(whole)):]
	}
	all := slices.DeleteFunc(keywords(prefix, partial), func(w string) bool { return isUsed(before, w) })
	if before[len(before)-1] == "." {
		all = nil
	}
	if named || viable(prefix+` "zzz"`) {
		if named {
			all = slices.DeleteFunc(all, func(w string) bool {
				return !quote.IsReserved(strings.ToLower(w)) && !(starters[w] && isKeyword(prefix, w))
			})
		}
		names := c.identifiers(before, tokens(whole))
		if (len(names) == 0 || creates(before)) && named && partial == "" {
			names = append(names, newNames(before)...)
		}
		all = append(all, names...)
	}
	return all
}

// starters are keywords that are also names, but are meant as keywords where both are possible.
var starters = map[string]bool{
	"DISTINCT": true, "JSON": true, "KEYSPACES": true, "TABLES": true, "TYPES": true, "FUNCTIONS": true,
	"CLUSTER": true, "TYPE": true,
	"FUNCTION": true, "AGGREGATE": true, "AGGREGATES": true, "EXISTS": true, "ONLY": true, "STATIC": true,
	"CLUSTERING": true, "TTL": true,
	"TIMESTAMP": true, "COUNTER": true, "ROLE": true, "ROLES": true, "USER": true, "USERS": true, "CUSTOM": true,
	"CONTAINS": true, "KEY": true, "ALL": true, "UNMASK": true, "SELECT_MASKED": true, "MBEAN": true, "MBEANS": true,
	"DEFAULT": true,
}

// isUsed reports whether a list already has a keyword that it can have once: a permission, or an option after USING.
func isUsed(before []string, word string) bool {
	if has(before[:1], "GRANT", "REVOKE") {
		return word != "PERMISSION" && has(before[1:], word)
	}
	if word != "TIMESTAMP" && word != "TTL" {
		return false
	}
	for i := len(before) - 1; i > 0; i-- {
		if strings.EqualFold(before[i], "USING") {
			return has(before[i:], word)
		}
	}
	return false
}

// isKeyword reports whether a word means another thing than a name after prefix: something can follow it that cannot
// follow a name, or it is one of the lists that DESCRIBE prints.
func isKeyword(prefix, word string) bool {
	if strings.EqualFold(strings.TrimSpace(prefix), "DESCRIBE") {
		return true
	}
	if isComplete(prefix+word) && !isComplete(prefix+"zzz") {
		return true
	}
	for _, next := range []string{" zzz", " 'x'", " ORDER", " ON", " ROLES"} {
		if viable(prefix+word+next) && !viable(prefix+"zzz"+next) {
			return true
		}
	}
	return false
}

// lastInBatch returns the last statement of a batch that is open, or "".
func lastInBatch(prefix string) string {
	all := tokens(prefix)
	if len(all) < 2 || !strings.EqualFold(all[0], "BEGIN") {
		return ""
	}
	upper, at := strings.ToUpper(prefix), -1
	for _, word := range []string{"INSERT ", "UPDATE ", "DELETE "} {
		at = max(at, strings.LastIndex(upper, word))
	}
	if at < 0 {
		return ""
	}
	return prefix[at:]
}

// keywordNames are the keywords of the grammar.
var keywordNames = sync.OnceValue(func() (all []string) {
	for _, name := range grammar.NewCqlLexer(nil).SymbolicNames {
		if word, ok := strings.CutPrefix(name, "K_"); ok {
			all = append(all, word)
		}
	}
	return append(all, "TABLE") // the same token as COLUMNFAMILY
})

// keywords returns the keywords that can follow prefix and begin with partial. They are in lower case if partial is.
func keywords(prefix, partial string) (all []string) {
	for _, word := range keywordNames() {
		if !fits(word, partial) || !viable(prefix+word) {
			continue
		}
		if partial != "" && partial == strings.ToLower(partial) {
			word = strings.ToLower(word)
		}
		all = append(all, word)
	}
	return all
}

// isComplete reports whether a text is a statement.
func isComplete(text string) bool {
	_, _, err := parser.Parse(text)
	return err == nil
}

// viable reports whether a text is the beginning of a statement: its only error is that it ends.
func viable(prefix string) bool {
	_, _, err := parser.Parse(prefix)
	return err == nil || strings.HasPrefix(err.Error(), "line 0:-1 ")
}

// copyWords returns words for COPY, which is no statement of the grammar.
func (c *completer) copyWords(before []string) []string {
	n := len(before)
	open := slices.Index(before, "(") >= 0 && !slices.Contains(before, ")")
	last := strings.ToUpper(before[n-1])
	switch {
	case n == 1:
		return c.identifiers([]string{"COPY", "TABLE"}, before)
	case n == 3 && last == ".":
		return quoted(c.names.tables[unquote(before[1])])
	case open:
		return c.columns(before, append([]string{"COPY", "TABLE"}, before[1:]...))
	case last == "TO":
		return []string{"STDOUT", "'"}
	case last == "FROM":
		return []string{"STDIN", "'"}
	case last == "WITH" || last == "AND":
		return shell.CopyOptions(has(before, "TO"))
	case has(before, "WITH"):
		return []string{"AND"}
	case has(before, "TO", "FROM"):
		return []string{"WITH"}
	}
	return []string{"TO", "FROM"}
}
