package prompt

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol/client/shell"
)

// isHint reports whether a word says what to type instead of being it.
func isHint(word string) bool { return len(word) > 2 && word[0] == '<' && strings.HasSuffix(word, ">") }

// symbols are what can stand between words of CQL.
var symbols = []string{"(", ")", ",", "=", "{", "}", "[", "]", "<", ">", "<=", ">=", "!=", ":", ";"}

// withSymbols adds the symbols and hints that the grammar allows after prefix, or replaces the words where a value of a
// known type is expected.
func (c *completer) withSymbols(prefix string, words []string) []string {
	before := tokens(prefix)
	if first := strings.ToUpper(before[0]); shell.IsCommand(first) {
		return words
	}
	if end := c.valueEnd(before); end != "" {
		return []string{end}
	}
	if text := optionText(before); text != "" {
		return []string{text}
	}
	number, text := viable(prefix+"1"), viable(prefix+"'x'")
	if number && text {
		if value := c.value(before); value != "" {
			return []string{value}
		}
		if has(before[len(before)-1:], "=", "<", ">", "[", "CONTAINS", "LIKE") {
			return []string{"<term>"}
		}
	}
	if number && !text {
		words = append(words, "<wholenumber>")
	}
	for _, symbol := range symbols {
		next := symbol
		if symbol == ":" {
			next = ": 1" // between a key and a value, not before the name of a marker
		}
		if viable(prefix+next) && (symbol != "[" || c.hasElements(before)) {
			words = append(words, symbol)
		}
	}
	return words
}

// hasElements reports whether an index can follow the last of these tokens: it is a list or map, or not a known column.
func (c *completer) hasElements(before []string) bool {
	table, _ := c.table(before)
	kind, known := c.names.columnTypes[[3]string{table[0], table[1], unquote(before[len(before)-1])}]
	return !known || strings.HasPrefix(kind, "list<") || strings.HasPrefix(kind, "map<")
}

// value returns a hint about the value that is expected at the end of a statement, or the bracket with which it begins;
// "" if that is not known.
func (c *completer) value(before []string) string {
	n := len(before)
	if n < 2 {
		return ""
	}
	table, _ := c.table(before)
	if columns, at := insertedValue(before); columns != nil {
		if at >= len(columns) || before[n-1] != "," && before[n-1] != "(" {
			return ""
		}
		return c.valueOf(table, "value for "+columns[at], unquote(columns[at]))
	}
	if column := unquote(before[n-2]); strings.Contains("<=>", before[n-1]) {
		return c.valueOf(table, "term", column)
	}
	return ""
}

// insertedValue returns the columns of an INSERT whose list of values is open, and the index of the value at its end.
// Outside of such a list it returns nil.
func insertedValue(before []string) (columns []string, at int) {
	open, end := slices.Index(before, "("), slices.Index(before, ")")
	if !strings.EqualFold(before[0], "INSERT") || open < 0 || end < open || end+2 >= len(before) || before[end+2] != "(" {
		return nil, 0
	}
	level := 0
	for _, t := range before[end+3:] {
		switch {
		case strings.Contains("([{", t):
			level++
		case strings.Contains(")]}", t):
			level--
		case t == "," && level == 0:
			at++
		}
	}
	if level != 0 {
		return nil, 0
	}
	for i := open + 1; i < end; i += 2 {
		columns = append(columns, before[i])
	}
	return columns, at
}

// valueEnd returns the symbol after a complete value of an INSERT, or "".
func (c *completer) valueEnd(before []string) string {
	columns, at := insertedValue(before)
	last := before[len(before)-1]
	switch complete := isWord(last[0]) || last[0] == '\''; {
	case columns == nil || !complete:
		return ""
	case at+1 < len(columns):
		return ","
	}
	return ")"
}

// optionClasses are the options whose value is a map with a class, and the classes.
var optionClasses = map[string][]string{
	"replication": {"NetworkTopologyStrategy", "SimpleStrategy"},
	"compaction": {
		"LeveledCompactionStrategy", "SizeTieredCompactionStrategy", "TimeWindowCompactionStrategy",
		"UnifiedCompactionStrategy",
	},
	"compression": {"DeflateCompressor", "LZ4Compressor", "NoopCompressor", "SnappyCompressor", "ZstdCompressor"},
}

// optionSteps are the texts that follow in the value of such an option.
var optionSteps = []struct{ after, text string }{
	{"=", "{'class': '"},
	{"= {", "'class': '"},
	{"{ 'class'", ": '"},
	{"{ 'class' :", "'"},
	{"'class' : 'SimpleStrategy'", ", 'replication_factor': "},
	{"'class' : 'SimpleStrategy' ,", "'replication_factor': "},
	{"'class' : 'NetworkTopologyStrategy'", ", "},
	{"'class' : 'NetworkTopologyStrategy' ,", "<dc_name>"},
	{"'replication_factor'", ": "},
	{"'replication_factor' :", "<wholenumber>"},
}

// openOption is the option whose value is incomplete at the end of a definition, or "".
func openOption(before []string) string {
	for i := len(before) - 1; i > 0 && before[i] != "}"; i-- {
		if name := strings.ToLower(before[i-1]); before[i] == "=" && optionClasses[name] != nil {
			return name
		}
	}
	return ""
}

// optionText returns what follows in the value of an option of a definition, or "".
func optionText(before []string) string {
	if !has(before[:1], "CREATE", "ALTER") || !has(before, "WITH") {
		return ""
	}
	if openOption(before) != "" {
		for _, step := range optionSteps {
			words := strings.Fields(step.after)
			if n := len(before) - len(words); n >= 0 && slices.Equal(before[n:], words) {
				return step.text
			}
		}
		return ""
	}
	if before[len(before)-1] == "=" {
		return "<term>"
	}
	return ""
}

// valueOf is the hint for a value of a column.
func (c *completer) valueOf(table [2]string, what, column string) string {
	kind := c.names.columnTypes[[3]string{table[0], table[1], column}]
	kind = strings.TrimSuffix(strings.TrimPrefix(kind, "frozen<"), ">")
	switch name, _, _ := strings.Cut(kind, "<"); name {
	case "":
		return ""
	case "list", "vector":
		return "["
	case "set", "map":
		return "{"
	}
	return "<" + what + " (" + kind + ")>"
}

// classes completes the class of an option.
func classes(statement, content string) (all []string) {
	before := tokens(statement[:len(statement)-len(content)-1])
	n := len(before)
	if n < 4 || before[n-1] != ":" || before[n-2] != "'class'" {
		return nil
	}
	for _, class := range optionClasses[openOption(before)] {
		if fits(class, content) {
			all = append(all, class)
		}
	}
	if len(all) == 1 {
		all[0] += "'"
	}
	return all
}
