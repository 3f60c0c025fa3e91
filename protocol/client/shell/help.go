package shell

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// helpTopic is a topic of HELP: a command of the shell or a statement.
type helpTopic struct {
	name, text string
	statement  bool
}

// helpTopics are the topics in alphabetical order, commands first.
var helpTopics = []helpTopic{
	{name: "CAPTURE", text: `CAPTURE 'file' | OFF
Append results to a file instead of showing them. Errors and the output of
commands are still shown. Without argument: say whether results are captured.`},
	{name: "CLEAR", text: "CLEAR, CLS\nClear the terminal."},
	{name: "CONSISTENCY", text: `CONSISTENCY [level]
Set or show the consistency level of statements: ANY, ONE, TWO, THREE, QUORUM,
ALL, LOCAL_ONE, LOCAL_QUORUM, EACH_QUORUM, and for reads SERIAL, LOCAL_SERIAL.`},
	{name: "COPY", text: `COPY table [(columns)] TO   'file' | STDOUT [WITH option = value [AND ...]]
COPY table [(columns)] FROM 'files' | STDIN [WITH option = value [AND ...]]
Write a table as CSV, or read it. Options: DELIMITER, QUOTE, ESCAPE, HEADER,
NULL, DATETIMEFORMAT, MAXATTEMPTS, REPORTFREQUENCY, DECIMALSEP, THOUSANDSSEP,
BOOLSTYLE, NUMPROCESSES (connections), CONFIGFILE, RATEFILE;
FROM: MAXROWS, SKIPROWS, SKIPCOLS, MAXPARSEERRORS, MAXINSERTERRORS, ERRFILE,
INGESTRATE, TTL, RESUME, and CHUNKSIZE, MINBATCHSIZE, MAXBATCHSIZE, PREPAREDSTATEMENTS
with their defaults only; TO: PAGESIZE, PAGETIMEOUT, BEGINTOKEN, ENDTOKEN,
MAXOUTPUTSIZE, FLOATPRECISION, DOUBLEPRECISION, and ENCODING with utf8 only.
WITH RESUME = true notes what is imported in a file import_KEYSPACE_TABLE.resume;
the same command continues there after it was interrupted.
cqld export and import copy whole keyspaces exactly, and continue when repeated.`},
	{name: "DESCRIBE", text: `DESCRIBE KEYSPACES | TABLES | TYPES | FUNCTIONS | AGGREGATES | CLUSTER
DESCRIBE [FULL] SCHEMA
DESCRIBE [ONLY] KEYSPACE [name]
DESCRIBE TABLE | INDEX | TYPE | FUNCTION | AGGREGATE | MATERIALIZED VIEW name
DESCRIBE name
List names, or print the CQL that defines something. WITH INTERNALS adds ids and
dropped columns. DESC is short for DESCRIBE.`},
	{name: "EXIT", text: "EXIT, QUIT\nEnd the shell. Ctrl-D does so too."},
	{name: "EXPAND", text: "EXPAND [ON | OFF]\nPrint each row as lines of names and values, or say whether this is " +
		"on."},
	{name: "HELP", text: "HELP [topics], ?\nList the topics, or explain some."},
	{name: "HISTORY", text: "HISTORY [n]\nPrint the last n lines that were typed; 50 if n is missing."},
	{name: "LOGIN", text: "LOGIN role ['password']\nLog in as another role; the password is asked for if it is " +
		"missing."},
	{name: "PAGING", text: `PAGING [ON | OFF | rows]
Read results page by page, 100 rows at a time or as many as given, or say
whether this is on.`},
	{name: "SERIAL", text: `SERIAL CONSISTENCY [SERIAL | LOCAL_SERIAL]
Set or show the consistency level of conditions (IF …).`},
	{name: "SHOW", text: `SHOW VERSION | HOST
SHOW SESSION id
SHOW REPLICAS token [keyspace]
Print versions, the server, a trace, or the nodes with a token's replicas.`},
	{name: "SOURCE", text: "SOURCE 'file'\nRun the statements of a file. Failed statements do not end it."},
	{name: "TRACING", text: `TRACING [ON | TREE | OFF]
Print what the server did for each statement, as a table or as a timeline with
bars, or say whether this is on.`},
	{name: `\DIAGRAM`, text: `\diagram [keyspace]` + "\nDraw the tables of a keyspace as boxes."},
	{name: `\DIFF`, text: `\diff FILE | ADDR` + "\nPrint the CQL that turns the schema of this server into that of " +
		"a file or server."},
	{name: `\FORMAT`, text: `\format table | json | jsonl | csv | markdown | vertical` +
		"\nSet the format of results."},
	{name: `\LIVE`, text: `\live` + "\nPrint statements as clients run them, until Ctrl-C. It needs cqld " +
		"--test-controls."},
	{name: `\PLAN`, text: `\plan SELECT …` + "\nSay what a query reads, before it runs."},
	{name: `\TIMING`, text: `\timing` + "\nPrint how long statements take, or stop it."},
	{name: `\TOP`, text: `\top` + "\nList the tables and statements that cost most. It needs cqld --test-controls."},
	{name: `\WATCH`, text: `\watch [time] [statement]` + "\nRepeat a statement, or the last one, until Ctrl-C; by " +
		"default every 2s."},
	{name: `\WIDTH`, text: `\width n | off` + "\nCut cells of tables on the terminal to n columns, with … at the end."},

	{statement: true, name: "ALTER", text: `ALTER KEYSPACE name WITH option = value [AND ...]
ALTER TABLE name ADD column type | DROP column | RENAME column TO column
ALTER TABLE name WITH option = value [AND ...]
ALTER TYPE name ADD field type | RENAME field TO field
ALTER ROLE name WITH option = value [AND ...]
ALTER MATERIALIZED VIEW name WITH option = value [AND ...]`},
	{statement: true, name: "BATCH", text: `BEGIN [UNLOGGED | COUNTER] BATCH [USING TIMESTAMP microseconds]
	statement; ...
APPLY BATCH`},
	{statement: true, name: "CREATE", text: `
CREATE KEYSPACE [IF NOT EXISTS] name WITH replication = {'class': strategy, ...}
CREATE TABLE [IF NOT EXISTS] name (column type [STATIC], ..., PRIMARY KEY (...))
	[WITH CLUSTERING ORDER BY (...) AND option = value ...]
CREATE [CUSTOM] INDEX [IF NOT EXISTS] [name] ON table (column) [USING 'sai']
CREATE TYPE [IF NOT EXISTS] name (field type, ...)
CREATE MATERIALIZED VIEW [IF NOT EXISTS] name AS SELECT ... PRIMARY KEY (...)
CREATE FUNCTION | AGGREGATE ...
CREATE ROLE [IF NOT EXISTS] name [WITH option = value ...]`},
	{statement: true, name: "DELETE", text: `DELETE [columns] FROM table [USING TIMESTAMP microseconds]
	WHERE key = value [AND ...] [IF EXISTS | IF condition [AND ...]]`},
	{statement: true, name: "DROP", text: `
DROP KEYSPACE | TABLE | INDEX | TYPE | MATERIALIZED VIEW | FUNCTION | AGGREGATE |
	ROLE [IF EXISTS] name`},
	{statement: true, name: "GRANT", text: `GRANT permission | ALL ON resource TO role
GRANT role TO role`},
	{statement: true, name: "INSERT", text: `INSERT INTO table (columns) VALUES (values) [IF NOT EXISTS]
	[USING TIMESTAMP microseconds AND TTL seconds]
INSERT INTO table JSON 'object' [DEFAULT NULL | UNSET]`},
	{statement: true, name: "LIST", text: `LIST ROLES [OF role] [NORECURSIVE]
LIST USERS
LIST permission | ALL PERMISSIONS [ON resource] [OF role]`},
	{statement: true, name: "REVOKE", text: `REVOKE permission | ALL ON resource FROM role
REVOKE role FROM role`},
	{statement: true, name: "SELECT", text: `SELECT [JSON] [DISTINCT] * | selectors FROM table
	[WHERE relation [AND ...]] [GROUP BY columns] [ORDER BY column [DESC], ...]
	[PER PARTITION LIMIT n] [LIMIT n] [ALLOW FILTERING]`},
	{statement: true, name: "TRUNCATE", text: "TRUNCATE [TABLE] table"},
	{statement: true, name: "TYPES", text: `ascii bigint blob boolean counter date decimal double duration float inet int
smallint text time timestamp timeuuid tinyint uuid varchar varint
list<type> set<type> map<type, type> tuple<types> vector<type, n> frozen<type>`},
	{statement: true, name: "UPDATE", text: `UPDATE table [USING TIMESTAMP microseconds AND TTL seconds]
	SET column = value, ... WHERE key = value [AND ...]
	[IF EXISTS | IF condition [AND ...]]`},
	{statement: true, name: "USE", text: "USE keyspace"},
}

// helpAliases are other names of topics.
var helpAliases = map[string]string{
	"CLS": "CLEAR", "DESC": "DESCRIBE", "QUIT": "EXIT", "BEGIN": "BATCH", "APPLY": "BATCH", "FORMAT": `\FORMAT`,
	"WATCH": `\WATCH`, "WIDTH": `\WIDTH`,
	"PLAN": `\PLAN`, "DIFF": `\DIFF`, "DIAGRAM": `\DIAGRAM`, "TIMING": `\TIMING`, "LIVE": `\LIVE`, "TOP": `\TOP`,
}

func (s *Session) helpCommand(_ context.Context, a arguments) error {
	if a.none() {
		for _, statements := range []bool{false, true} {
			var names []string
			for _, t := range helpTopics {
				if t.statement == statements {
					names = append(names, strings.ToLower(t.name))
					if !strings.HasPrefix(t.name, `\`) {
						names[len(names)-1] = t.name
					}
				}
			}
			title := map[bool]string{false: "Shell commands:", true: "CQL statements:"}[statements]
			s.print("\n%s\n%s\n%s", title, strings.Repeat("=", len(title)), columnize(names))
		}
		s.print("\nHELP topic explains one. Tab completes words and names.\n")
		return nil
	}
	for _, token := range a.tokens {
		topic := strings.ToUpper(token.text)
		if alias, ok := helpAliases[topic]; ok {
			topic = alias
		}
		i := slices.IndexFunc(helpTopics, func(t helpTopic) bool { return t.name == topic })
		if i < 0 {
			s.printError("*** No help on " + token.text)
			continue
		}
		s.print("\n%s\n\n", strings.TrimPrefix(helpTopics[i].text, "\n"))
	}
	return nil
}

// defaultHistory is how many lines HISTORY prints.
const defaultHistory = 50

func (s *Session) historyCommand(_ context.Context, a arguments) error {
	n := defaultHistory
	if !a.none() {
		count, _ := a.one()
		given, err := strconv.Atoi(count)
		if err != nil {
			return a.improper()
		}
		n = given
	}
	if s.o.History == nil {
		return shown("There is no history: statements are not typed.")
	}
	for _, line := range s.o.History(n) {
		s.print("%s\n", line)
	}
	return nil
}

// HelpTopics are the topics of HELP.
func HelpTopics() (all []string) {
	for _, t := range helpTopics {
		all = append(all, t.name)
	}
	return all
}

// Commands are the commands of the shell, in capitals or with a backslash.
func Commands() (all []string) {
	for name := range commands {
		if isLetter(name[0]) && name != "use" {
			all = append(all, strings.ToUpper(name))
		}
	}
	for name := range extras {
		all = append(all, `\`+name)
	}
	slices.Sort(all)
	return all
}

// IsCommand reports whether a word in capitals begins a command of the shell that is no statement.
func IsCommand(word string) bool {
	return strings.HasPrefix(word, `\`) || word != "USE" && commands[strings.ToLower(word)] != nil
}

// copyOptions are the options of COPY in both directions, then those of TO and of FROM.
var copyOptions = [3][]string{
	{
		"BOOLSTYLE", "CONFIGFILE", "DATETIMEFORMAT", "DECIMALSEP", "DELIMITER", "ESCAPE", "HEADER", "MAXATTEMPTS",
		"NULL", "NUMPROCESSES", "QUOTE",
		"RATEFILE", "REPORTFREQUENCY", "THOUSANDSSEP",
	},
	{"BEGINTOKEN", "DOUBLEPRECISION", "ENDTOKEN", "FLOATPRECISION", "MAXOUTPUTSIZE", "PAGESIZE", "PAGETIMEOUT"},
	{"ERRFILE", "INGESTRATE", "MAXINSERTERRORS", "MAXPARSEERRORS", "MAXROWS", "RESUME", "SKIPCOLS", "SKIPROWS", "TTL"},
}

// CopyOptions are the options of COPY TO or COPY FROM.
func CopyOptions(to bool) []string {
	if to {
		return slices.Concat(copyOptions[0], copyOptions[1])
	}
	return slices.Concat(copyOptions[0], copyOptions[2])
}
