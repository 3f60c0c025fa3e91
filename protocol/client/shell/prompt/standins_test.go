package prompt

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/protocol/client/shell"
)

const hotels = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
CREATE TYPE shop.street (name text, number int);
CREATE TYPE shop.address (at frozen<street>, town text);
CREATE TABLE shop.orders (customer int, day date, line int, note text static, item text, price decimal,
	PRIMARY KEY ((customer, day), line)) WITH CLUSTERING ORDER BY (line DESC) AND comment = 'the ''orders''';
CREATE INDEX orders_item ON shop.orders (item);
CREATE CUSTOM INDEX orders_price ON shop.orders (price) USING 'StorageAttachedIndex';
CREATE MATERIALIZED VIEW shop.by_item AS SELECT customer, day, line, item FROM shop.orders
	WHERE item IS NOT NULL AND customer IS NOT NULL AND day IS NOT NULL AND line IS NOT NULL
	PRIMARY KEY (item, customer, day, line);
CREATE TABLE shop.dense (k int, c int, v int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE;
CREATE TABLE shop.thin (k int PRIMARY KEY, b int, a text) WITH COMPACT STORAGE;
CREATE TABLE shop."Guests" (name text PRIMARY KEY, home frozen<address>, tags set<text>);
CREATE FUNCTION shop.twice(n int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return n * 2;';
CREATE FUNCTION shop.plus(a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;';
CREATE AGGREGATE shop.total(int) SFUNC plus STYPE int FINALFUNC twice INITCOND 0;
`

// TestStandIns runs commands of the shell on stand-ins for other servers.
func TestStandIns(t *testing.T) {
	backend := cqltest.RunT(t, functions.Enable()).Addr()
	t.Chdir(t.TempDir())
	authority, err := certificates.NewAuthority("stand-in")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config, err := authority.ServerConfig(pair)
	if err != nil {
		t.Fatal(err)
	}
	setup := []string{hotels}
	for i := range 20 {
		setup = append(setup, fmt.Sprintf("INSERT INTO shop.orders (customer, day, line, item) "+
			"VALUES (%d, '2024-01-01', %d, 'x');", i%4, i))
	}
	if err := os.WriteFile("same.cql", []byte(hotels), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := shellOptions(backend)
	if out := runShell(t, plain, nil, setup...); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	expected := map[string]string{}
	for _, command := range sameOutput {
		expected[command] = runShell(t, plain, nil, "USE shop;", command)
	}
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			o := plain
			s := &standIn{profile: &p, backend: backend}
			var secure *tls.Config
			if p.tls {
				secure, o.TLS = config, &tls.Config{RootCAs: authority.Pool()}
			}
			if p.authenticator != "" {
				o.Username, o.Password = user, password
			}
			o.Addr = s.start(t, secure)
			s.checkPing(t, &o)
			s.checkCommands(t, o)
			s.checkDescriptions(t, o, expected)
			s.checkColors(t, o)
			s.checkCompletion(t, o)
		})
	}
}

func shellOptions(addr string) shell.Options {
	return shell.Options{
		Login:          shell.Login{Addr: addr, Timeout: 10 * time.Second},
		RequestTimeout: 10 * time.Second, Format: shell.FormatTable, Name: "<stdin>",
	}
}

// runShell runs lines and returns their output, including errors. then is called before the session ends.
func runShell(t *testing.T, o shell.Options, then func(*shell.Session), lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	o.Out, o.Err = &out, &out
	s, err := shell.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if then != nil {
		then(s)
	}
	for _, line := range lines {
		if _, err := s.Feed(t.Context(), line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// checkPing asks for SUPPORTED, unless the server wants a login first.
func (s *standIn) checkPing(t *testing.T, o *shell.Options) {
	t.Helper()
	want := " answers, protocol v4\n"
	switch {
	case s.authenticator != "":
		want = " answers and asks for a password\n"
	case s.refusal == "":
		want = " answers, protocol v5\n"
	}
	var out bytes.Buffer
	if err := shell.Ping(t.Context(), o.Addr, o.TLS, &out); err != nil || out.String() != o.Addr+want {
		t.Errorf("ping: %s, error %v", out.String(), err)
	}
}

// printedError matches an error of a statement.
var printedError = regexp.MustCompile(`(?m)^<stdin>:\d+:(.*)$`)

// checkCommands runs commands, and compares their errors with the expected ones.
func (s *standIn) checkCommands(t *testing.T, o shell.Options) {
	t.Helper()
	out := runShell(t, o, func(session *shell.Session) {
		if err := session.Greet(t.Context()); err != nil {
			t.Error(err)
		}
	}, "USE shop;", "CONSISTENCY LOCAL_QUORUM", "PAGING 7", "SELECT line FROM orders;", "SHOW HOST",
		`\plan SELECT * FROM orders WHERE customer = 1 AND day = '2024-01-01'`, `\diagram`, "TRACING ON",
		"SELECT line FROM orders;", "TRACING OFF", "SHOW SESSION 12345678-1234-1234-1234-123456789abc", `\top`, `\live`,
		"SHOW REPLICAS 5", "COPY orders (customer, day, line, item) TO 'rows.csv';",
		"COPY orders (customer, day, line, item) FROM 'rows.csv';", "CONSISTENCY ONE",
		"INSERT INTO orders (customer, day, line) VALUES (0, '2024-01-01', 0);", "SELECT count(*) FROM orders;",
		"LOGIN nobody 'wrong'", "SELECT key FROM system.local;")
	for _, want := range []string{
		"Connected to " + cmp.Or(s.local["cluster_name"], "Test Cluster") + " at ",
		"| Cassandra " + s.local["release_version"] + " | CQL spec " + s.local["cql_version"] + " | ",
		"(20 rows)", "Partitions  1\n", "┌ orders ", "20 rows exported to 1 files", "20 rows imported from 1 files",
		"    20\n", "\n local\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q", want)
		}
	}
	var got []string
	for _, m := range printedError.FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	notRecorded := "This needs a cqld that was started with --test-controls, which records statements."
	want := []string{"Session 12345678-1234-1234-1234-123456789abc wasn't found.", notRecorded, notRecorded}
	if s.untraced {
		want = []string{
			"The server has not traced the statement.", "The server shows no traces: unconfigured table sessions",
			notRecorded, notRecorded,
		}
	}
	if s.writeLevel != 0 {
		want = append(want, `InvalidRequest: Error from server: code=2200 [Invalid query] message="Consistency level ONE is `+
			`not supported for this operation. Supported consistency levels are: LOCAL_QUORUM"`)
	}
	if s.authenticator != "" {
		want = append(want, fmt.Sprintf(`('Unable to connect to any servers', {'%s': AuthenticationFailed('Failed to `+
			`authenticate to %[1]s: Error from server: code=0100 [Bad credentials] message="Invalid credentials"')})`, o.Addr))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the errors are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if t.Failed() {
		t.Log(out)
	}
}

// sameOutput are commands with the same output as on the cqld, except for options of tables. Servers without types,
// indexes, views and functions know the first ones only.
var sameOutput = []string{
	"SELECT day, line FROM orders LIMIT 5;", "DESCRIBE TABLES", `DESCRIBE "Guests"`, `DESC TABLE shop."Guests"`,
	"DESCRIBE ONLY KEYSPACE shop", "DESCRIBE TABLE nope", "DESCRIBE nope", "DESCRIBE nope.nope", "DESCRIBE KEYSPACE nope",
	"DESCRIBE INDEX nope", "DESCRIBE TYPE nope",

	"DESCRIBE KEYSPACE", "DESCRIBE shop", "DESCRIBE SCHEMA", "DESCRIBE COLUMNFAMILY orders", "DESCRIBE dense",
	"DESCRIBE thin", "DESCRIBE shop.by_item", "DESCRIBE INDEX orders_item", "DESCRIBE MATERIALIZED VIEW by_item",
	"DESCRIBE TYPE address", "DESCRIBE TYPES", "DESCRIBE FUNCTION twice", "DESCRIBE FUNCTIONS", "DESCRIBE AGGREGATE total",
	"DESCRIBE AGGREGATES", `\diff same.cql`,
}

// ofTablesOnly is how many of sameOutput need tables only.
const ofTablesOnly = 11

// beforeOptions matches the beginning of the options of a table or view.
var beforeOptions = regexp.MustCompile(`(?m)^(\)| ) WITH `)

// checkDescriptions compares DESCRIBE with what the shell prints on the cqld, whose definitions have more options.
func (s *standIn) checkDescriptions(t *testing.T, o shell.Options, expected map[string]string) {
	t.Helper()
	commands := sameOutput
	if slices.Contains(s.noTables, "system_schema.types") {
		commands = commands[:ofTablesOnly]
	}
	common := func(text string) string {
		lines := strings.Split(beforeOptions.ReplaceAllString(text, "$1 WITH\n    AND "), "\n")
		return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
			option, _, _ := strings.Cut(strings.TrimPrefix(line, "    AND "), " = ")
			// The tables have no value of cdc unless it is set; the chances of read repair ended with 4.0.
			return option == "extensions" || option == "cdc" || slices.Contains(s.noColumns, option) ||
				strings.HasSuffix(option, "read_repair_chance") && slices.Contains(s.noColumns, "read_repair")
		}), "\n")
	}
	for _, command := range commands {
		got, want := common(runShell(t, o, nil, "USE shop;", command)), common(expected[command])
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", command, got, want)
		}
	}
	out := runShell(t, o, nil, "DESCRIBE KEYSPACES", "DESCRIBE TABLES", "DESCRIBE CLUSTER", "DESCRIBE FULL SCHEMA",
		"DESCRIBE TABLE orders", "DESCRIBE TABLE shop.orders WITH INTERNALS")
	for _, want := range []string{
		"shop", "Keyspace shop\n-------------\ndense  \"Guests\"  orders  thin\n", "Partitioner: ",
		"CREATE KEYSPACE system_schema WITH ", "No keyspace specified and no current keyspace\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if (s.noDescribe != nil) != strings.Contains(out, "The server has no DESCRIBE") {
		t.Errorf("WITH INTERNALS:\n%s", out)
	}
}

// checkColors selects with colours, which the shell chooses by the kinds of columns.
func (s *standIn) checkColors(t *testing.T, o shell.Options) {
	t.Helper()
	o.Color = true
	out := runShell(t, o, nil, "SELECT day, line FROM shop.orders LIMIT 1;")
	if !strings.Contains(out, "\x1b[0;1;31mday") || !strings.Contains(out, "\x1b[0;1;36mline") {
		t.Errorf("%q", out)
	}
}

// checkCompletion completes names.
func (s *standIn) checkCompletion(t *testing.T, o shell.Options) {
	t.Helper()
	n, err := read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := completer{names: n, keyspace: "shop"}
	for _, test := range [][3]string{
		{"USE sh", "", "shop"},
		{"SELECT * FROM or", "", "orders"},
		{"SELECT it", " FROM orders", "item"},
		{"SELECT * FROM system.lo", "", "local"},
	} {
		if _, words := c.complete(test[0], test[1]); !slices.Contains(strings.Fields(strings.Join(words, " ")), test[2]) {
			t.Errorf("%s completes to %q", test[0], words)
		}
	}
}

// TestGreetingWithoutAnswer greets on a server that ends the connection instead of describing itself. The session
// connects again.
func TestGreetingWithoutAnswer(t *testing.T) {
	s := &standIn{profile: &profile{hangUp: "system.local"}, backend: cqltest.RunT(t).Addr()}
	out := runShell(t, shellOptions(s.start(t, nil)), func(session *shell.Session) {
		if err := session.Greet(t.Context()); err != nil {
			t.Error(err)
		}
	}, "COPY system_schema.keyspaces (keyspace_name) TO STDOUT;", "SELECT keyspace_name FROM system_schema.keyspaces;")
	for _, want := range []string{"Connected to unknown at ", " rows)"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// TestTLSWanted connects to a server that takes TLS only, without it.
func TestTLSWanted(t *testing.T) {
	o := shellOptions(cqltest.RunT(t, cqltest.WithTLS()).Addr())
	if _, err := shell.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Error(err)
	}
}
