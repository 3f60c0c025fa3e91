package prompt

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// newNames are hints for the name of something that is being created.
func newNames(before []string) []string {
	kinds := map[string]string{
		"TABLE": "new_table_name", "COLUMNFAMILY": "new_table_name", "INDEX": "new_index_name", "USER": "username",
	}
	kind := strings.ToUpper(before[min(1, len(before)-1)])
	switch last := strings.ToUpper(before[len(before)-1]); {
	case creates(before) && kinds[kind] != "":
		return []string{"<" + kinds[kind] + ">"}
	case strings.EqualFold(before[0], "CREATE") && kinds[kind] == "new_table_name" && (last == "(" || last == ","):
		return []string{"<new_column_name>"}
	case strings.EqualFold(before[0], "ALTER") && (last == "ADD" || last == "EXISTS" && kind != ""):
		return []string{map[bool]string{true: "<new_field_name>", false: "<new_column_name>"}[kind == "TYPE"]}
	}
	return []string{"<identifier>", "<quotedName>"}
}

// has reports whether one of the tokens is one of the words.
func has(all []string, words ...string) bool {
	return slices.ContainsFunc(all, func(t string) bool { return slices.Contains(words, strings.ToUpper(t)) })
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
	inKeyspace := has(before[:min(2, len(before))], "TABLE", "COLUMNFAMILY", "TYPE", "MATERIALIZED", "FUNCTION")
	switch {
	case creates(before) && !dotted && inKeyspace:
		return slices.DeleteFunc(with(nil), func(k string) bool { return strings.HasPrefix(k, "system") })
	case last == "WITH" && second == "MASKED":
		return with(c.names.functions[keyspace])
	case creates(before), first == "ALTER" && (last == "ADD" || last == "EXISTS" && second == "NOT"):
		return nil
	case last == "EXISTS" && second != "NOT" && len(before) > 1:
		return with(c.objects(strings.ToUpper(before[1]), keyspace))
	case last == "KEYSPACE" && (first == "DROP" || first == "ALTER"):
		return quoted(slices.DeleteFunc(slices.Clone(c.names.keyspaces), func(k string) bool {
			return strings.HasPrefix(k, "system_") && (first == "DROP" || !alterable[k]) || k == "system"
		}))
	case last == "USE", last == "KEYSPACE":
		return quoted(c.names.keyspaces)
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
	return c.columns(before, whole)
}

// creates reports whether the name of something is being created.
func creates(before []string) bool {
	return strings.EqualFold(before[0], "CREATE") && !has(before, "(", "ON", "AS", "WITH")
}

// alterable are the keyspaces of the system whose replication can be changed.
var alterable = map[string]bool{"system_auth": true, "system_distributed": true, "system_traces": true}

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
	case "FUNCTION":
		return c.names.functions[keyspace]
	case "AGGREGATE":
		return c.names.aggregates[keyspace]
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
	all := []string{"varchar", "frozen<", "list<", "map<", "set<", "tuple<", "vector<"}
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
)

// optionsOf returns the options of the object that a statement defines.
func optionsOf(before []string) []string {
	switch strings.ToUpper(before[1]) {
	case "KEYSPACE":
		if strings.EqualFold(before[0], "CREATE") && !has(before, "REPLICATION") {
			return keyspaceOptions[:1] // which a keyspace needs
		}
		return keyspaceOptions
	case "ROLE":
		return nil // they are keywords
	}
	return tableOptions
}

// columns returns the columns of the statement's table that can stand after before, and functions. Before the table is
// named, these are the columns of all tables of the keyspace.
func (c *completer) columns(before, whole []string) (all []string) {
	first := strings.ToUpper(whole[0])
	switch table, named := c.table(whole); {
	case c.names.columns[table] != nil:
		all = quoted(c.names.columns[table])
		if first == "INSERT" { // each once
			all = slices.DeleteFunc(all, func(n string) bool { return slices.Contains(before, n) })
		}
		if writes := first == "UPDATE" || first == "DELETE"; writes && has(before, "WHERE") && !has(before, "IF") {
			all = quoted(c.names.keys[table])
		} else if writes {
			all = slices.DeleteFunc(all, func(n string) bool { return slices.Contains(c.names.keys[table], unquote(n)) })
		}
	case !named && (first == "SELECT" || first == "DELETE"):
		for table, columns := range c.names.columns {
			if table[0] == c.keyspace {
				all = append(all, quoted(columns)...)
			}
		}
	}
	if first == "SELECT" && !has(before, "FROM") {
		all = append(all, functionNames...)
		all = append(all, quoted(c.names.functions[c.keyspace])...)
		all = append(all, quoted(c.names.aggregates[c.keyspace])...)
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

// table finds the table of a statement, and reports whether one is named, even if it is not known.
func (c *completer) table(whole []string) (table [2]string, named bool) {
	for i, t := range whole {
		if !slices.Contains([]string{"FROM", "INTO", "UPDATE", "TABLE", "ON"}, strings.ToUpper(t)) ||
			i+1 >= len(whole) {
			continue
		}
		named = true
		table = [2]string{c.keyspace, unquote(whole[i+1])}
		if i+3 < len(whole) && whole[i+2] == "." {
			table = [2]string{table[1], unquote(whole[i+3])}
		}
		if _, ok := c.names.columns[table]; ok {
			return table, true
		}
	}
	return table, named
}
