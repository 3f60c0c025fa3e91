package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/grammar"
	"github.com/cqld/cqld/protocol/client/shell"
)

// complete completes the word before the cursor.
func (p *Prompt) complete(line string, pos int) (head string, words []string, tail string) {
	runes := []rune(line)
	before, after := string(runes[:pos]), string(runes[pos:])
	p.schema.refresh()
	c := completer{names: p.schema.names(), keyspace: p.session.Keyspace()}
	keep, words := c.words(p.session.Pending()+before, after)
	head = before[:len(before)-keep]
	if len(words) == 1 && !strings.HasSuffix(words[0], ".") && !strings.HasSuffix(words[0], "/") &&
		!strings.HasPrefix(after, " ") {
		words[0] += " "
	}
	return head, words, after
}

// completer completes a word with names of a schema.
type completer struct {
	names    *names
	keyspace string
}

// words returns the words that can stand at the end of a text instead of its last keep bytes.
func (c *completer) words(source, after string) (keep int, all []string) {
	statement := source[lastStatement(source):]
	if path, ok := openString(statement); ok {
		return len(path), files(statement, path)
	}
	partial := statement[lastWord(statement):]
	prefix := statement[:len(statement)-len(partial)]
	for _, w := range c.candidates(prefix, partial, statement+after) {
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
			return len(name) > len(partial) && strings.EqualFold(name[:len(partial)], partial)
		}
	}
	return len(word) >= len(partial) && strings.EqualFold(word[:len(partial)], partial) && word != partial
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
	"CONSISTENCY": levels, "SERIAL": {"CONSISTENCY"}, "PAGING": {"ON", "OFF"}, "EXPAND": {"ON", "OFF"},
	"TRACING": {"ON", "OFF", "TREE"},
	"SHOW":    {"VERSION", "HOST", "SESSION", "REPLICAS"}, "CAPTURE": {"OFF"}, "HELP": nil, `\FORMAT`: shell.Formats,
	"EXIT": {}, "QUIT": {},
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
		return []string{"SERIAL", "LOCAL_SERIAL"}
	case first == "SHOW" && len(before) == 3:
		return quoted(c.names.keyspaces)
	case first == "HELP" || first == "?":
		return shell.HelpTopics()
	case first == "LOGIN" && len(before) == 1:
		return quoted(c.names.roles)
	case ok && len(before) == 1:
		return arguments
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
	named := viable(prefix + "zzz")
	if batch := lastInBatch(prefix); batch != "" {
		before = tokens(batch)
		whole = batch + whole[min(len(prefix), len(whole)):]
	}
	all := keywords(prefix, partial)
	if named || before[len(before)-1] == "." || viable(prefix+`"zzz"`) {
		if named {
			all = slices.DeleteFunc(all, func(w string) bool {
				return !quote.IsReserved(strings.ToLower(w)) &&
					!starters[w]
			})
		}
		all = append(all, c.identifiers(before, tokens(whole))...)
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
	"CONTAINS": true, "KEY": true,
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

// viable reports whether a text is the beginning of a statement: its only error is that it ends.
func viable(prefix string) bool {
	_, _, err := parser.Parse(prefix)
	return err == nil || strings.HasPrefix(err.Error(), "line 0:-1 ")
}

// quoted returns names as they are written in statements.
func quoted(all []string) (out []string) {
	for _, n := range all {
		out = append(out, quote.Name(n))
	}
	return out
}

// identifiers returns names for the place after the tokens before, of the statement whole.
func (c *completer) identifiers(before, whole []string) []string {
	last := strings.ToUpper(before[len(before)-1])
	second := ""
	if len(before) > 1 {
		second = strings.ToUpper(before[len(before)-2])
	}
	first := strings.ToUpper(before[0])
	keyspace := c.keyspace
	if last == "." {
		keyspace = unquote(before[len(before)-2])
		if len(before) > 2 {
			last = strings.ToUpper(before[len(before)-3])
		} else {
			last = ""
		}
	}
	dotted := before[len(before)-1] == "."
	with := func(all []string) []string {
		out := quoted(all)
		if !dotted {
			for _, k := range c.names.keyspaces {
				out = append(out, quote.Name(k)+".")
			}
		}
		return out
	}
	creates := first == "CREATE" && !slices.ContainsFunc(before, func(t string) bool {
		return t == "(" ||
			strings.EqualFold(t, "ON")
	})
	switch {
	case last == "EXISTS" && second != "NOT" && len(before) > 1:
		return with(c.objects(strings.ToUpper(before[1]), keyspace))
	case last == "USE", last == "KEYSPACE":
		return quoted(c.names.keyspaces)
	case creates:
		return nil
	case last == "INDEX" || last == "TYPE" || last == "VIEW" || last == "FUNCTION" || last == "AGGREGATE":
		return with(c.objects(last, keyspace))
	case slices.Contains([]string{"FROM", "INTO", "UPDATE", "TABLE", "COLUMNFAMILY", "TRUNCATE", "ON"}, last):
		return with(c.names.tables[keyspace])
	case (last == "DESCRIBE" || last == "DESC") && len(before) < 4:
		return append(with(slices.Concat(c.names.tables[keyspace], c.names.indexes[keyspace])),
			quoted(c.names.keyspaces)...)
	case last == "OF" || last == "TO" || last == "ROLE" || last == "USER":
		return quoted(c.names.roles)
	case (last == "WITH" || last == "AND") && (first == "CREATE" || first == "ALTER"):
		return optionsOf(before)
	case definesColumn(before):
		return append(typeNames(), with(c.names.types[keyspace])...)
	}
	return c.columns(whole)
}

// unquote is the name that a token stands for.
func unquote(token string) string {
	if strings.HasPrefix(token, `"`) {
		return strings.Trim(token, `"`)
	}
	return strings.ToLower(token)
}

// objects are the names of a kind in a keyspace.
func (c *completer) objects(kind, keyspace string) []string {
	switch kind {
	case "INDEX":
		return c.names.indexes[keyspace]
	case "TYPE":
		return c.names.types[keyspace]
	case "VIEW", "MATERIALIZED":
		return c.names.views[keyspace]
	case "FUNCTION", "AGGREGATE":
		return c.names.functions[keyspace]
	case "KEYSPACE":
		return c.names.keyspaces
	case "ROLE", "USER":
		return c.names.roles
	}
	return c.names.tables[keyspace]
}

// definesColumn reports whether the place is after the name of a column that is being defined: its type follows.
func definesColumn(before []string) bool {
	n := len(before)
	if n < 4 || !strings.EqualFold(before[0], "CREATE") && !strings.EqualFold(before[0], "ALTER") {
		return false
	}
	if last := before[n-1]; last == "<" || last == "," && slices.Contains(before, "<") {
		return true
	}
	previous := before[n-2]
	return isWord(before[n-1][0]) && (previous == "(" || previous == "," || strings.EqualFold(previous, "ADD"))
}

// typeNames are the types without parameters, and the beginnings of others.
func typeNames() []string {
	all := []string{"frozen<", "list<", "map<", "set<", "tuple<", "vector<"}
	for _, t := range types.Natives() {
		all = append(all, t.String())
	}
	return all
}

// Options that WITH can set.
var (
	tableOptions = []string{
		"additional_write_policy", "allow_auto_snapshot", "bloom_filter_fp_chance", "caching", "cdc", "comment",
		"compaction", "compression",
		"crc_check_chance", "default_time_to_live", "gc_grace_seconds", "id", "incremental_backups",
		"max_index_interval", "memtable",
		"memtable_flush_period_in_ms", "min_index_interval", "read_repair", "speculative_retry",
	}
	keyspaceOptions = []string{"replication", "durable_writes"}
	roleOptions     = []string{
		"PASSWORD", "HASHED PASSWORD", "LOGIN", "SUPERUSER", "OPTIONS",
		"ACCESS TO DATACENTERS", "ACCESS TO ALL DATACENTERS",
	}
)

// optionsOf returns the options of the object that a statement defines.
func optionsOf(before []string) []string {
	switch strings.ToUpper(before[1]) {
	case "KEYSPACE":
		return keyspaceOptions
	case "ROLE":
		return roleOptions
	}
	return tableOptions
}

// columns returns the columns of the statement's table, and functions; if the table is not known, the columns of all
// tables of the keyspace.
func (c *completer) columns(whole []string) (all []string) {
	if table, ok := c.table(whole); ok {
		all = quoted(c.names.columns[table])
	} else {
		for table, columns := range c.names.columns {
			if table[0] == c.keyspace {
				all = append(all, quoted(columns)...)
			}
		}
	}
	if strings.EqualFold(whole[0], "SELECT") {
		all = append(all, functionNames...)
		all = append(all, quoted(c.names.functions[c.keyspace])...)
	}
	return all
}

// functionNames are Cassandra's functions that a SELECT uses most.
var functionNames = []string{
	"avg", "count", "max", "min", "sum", "token", "ttl", "writetime", "maxwritetime", "cast", "now",
	"current_timestamp", "current_date",
	"to_date", "to_timestamp", "to_unix_timestamp", "min_timeuuid", "max_timeuuid", "to_json", "from_json", "uuid",
	"abs", "round", "exp", "log",
	"log10", "similarity_cosine", "similarity_euclidean", "similarity_dot_product", "map_keys", "map_values",
	"collection_count",
}

// table finds the table of a statement.
func (c *completer) table(whole []string) (table [2]string, ok bool) {
	for i, t := range whole {
		if !slices.Contains([]string{"FROM", "INTO", "UPDATE", "TABLE", "ON"}, strings.ToUpper(t)) ||
			i+1 >= len(whole) {
			continue
		}
		table = [2]string{c.keyspace, unquote(whole[i+1])}
		if i+3 < len(whole) && whole[i+2] == "." {
			table = [2]string{table[1], unquote(whole[i+3])}
		}
		if _, ok := c.names.columns[table]; ok {
			return table, true
		}
	}
	return table, false
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
		return c.columns(append([]string{"COPY", "TABLE"}, before[1:]...))
	case last == "TO":
		return []string{"STDOUT", "'"}
	case last == "FROM":
		return []string{"STDIN", "'"}
	case last == "WITH" || last == "AND":
		return shell.CopyOptions(slices.ContainsFunc(before, func(t string) bool { return strings.EqualFold(t, "TO") }))
	case slices.ContainsFunc(before, func(t string) bool { return strings.EqualFold(t, "WITH") }):
		return []string{"AND"}
	case slices.ContainsFunc(before, func(t string) bool {
		return strings.EqualFold(t, "TO") || strings.EqualFold(t,
			"FROM")
	}):
		return []string{"WITH"}
	}
	return []string{"TO", "FROM"}
}
