package compat_tests

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
)

var defining = flag.Duration("defining", time.Second, "how long TestConcurrentDefinitions lasts")

// definers is how many clients define at the same time.
const definers = 200

// raced matches the errors of Cassandra for a client that loses a race: the text describes the change that another
// client made meanwhile.
var raced = map[cqlerr.Code]*regexp.Regexp{
	cqlerr.AlreadyExists: regexp.MustCompile(`^Cannot add (already existing table|existing keyspace) "`),
	cqlerr.Invalid: regexp.MustCompile(`^(keyspace \w+ does not exist|table \w+ does not exist|` +
		`(Keyspace|Table|Type) '[\w.]+' (doesn't|does not) exist|A user type with name '\w+' already exists|` +
		`Undefined column name \w+ in table [\w.]+|Column with name '\w+' already exists|Column \w+ was not found in table '[\w.]+'|` +
		`Index '\w+' already exists|Index \w+ is a duplicate of existing index \w+|` +
		`Materialized view '[\w.]+' doesn't exist|Base table '\w+' doesn't exist|Index '[\w.]+' doesn't exist'|` +
		`Cannot drop a table when materialized views still depend on it \([\w., ]+\)|` +
		`Cannot execute this query as it might involve data filtering .*|Cannot drop column w on base table \w+ with materialized views|` +
		`Cannot drop user type '[\w.]+' as it is still used by tables \w+)$`),
	cqlerr.Unprepared: regexp.MustCompile(`^Prepared query with ID \w+ not found`),
}

// TestConcurrentDefinitions has many clients define, alter, drop, truncate, write and read concurrently, each in its
// own tables and in shared ones. They see no errors except lost races, their own tables have the rows that they wrote,
// and after a kill of the server nothing is lost.
func TestConcurrentDefinitions(t *testing.T) {
	if *addr != "" {
		t.Skip("kills its own server")
	}
	server := newDiskServer(t)
	to := server.start(t)
	first := dialDefiner(t, to, 0)
	for i := range 4 {
		first.must(fmt.Sprintf("CREATE KEYSPACE k%d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", i))
	}
	all := make([]*definer, definers)
	for i := range all {
		all[i] = dialDefiner(t, to, i)
	}
	var running sync.WaitGroup
	end := time.Now().Add(*defining)
	for _, d := range all {
		running.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				d.own()
				d.shared()
			}
		})
	}
	running.Wait()
	done := 0
	for _, d := range all {
		done += d.statements
		d.conn.Close()
	}
	t.Logf("%d statements", done)
	schema := first.must("DESCRIBE SCHEMA WITH INTERNALS")
	server.kill(t)
	first = dialDefiner(t, server.start(t), 0)
	if again := first.must("DESCRIBE SCHEMA WITH INTERNALS"); !slices.EqualFunc(schema.Rows, again.Rows, equalRows) {
		t.Errorf("the schema has %d elements, and had %d, or others", len(again.Rows), len(schema.Rows))
	}
	for _, d := range all {
		d.conn = first.conn
		for table := range d.tables {
			d.check(table)
		}
	}
	first.conn.Close()
}

func equalRows(a, b [][]byte) bool { return slices.EqualFunc(a, b, slices.Equal) }

// definer is one client. It alone defines and writes to its own tables.
type definer struct {
	t          *testing.T
	conn       *client.Conn
	id         int
	random     *rand.Rand
	tables     map[string]int // the rows of each of its tables that are there
	statements int
}

func dialDefiner(t *testing.T, addr string, id int) *definer {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &definer{t: t, conn: conn, id: id, random: rand.New(rand.NewPCG(1, uint64(id))), tables: map[string]int{}}
}

func (d *definer) run(cql string) (*client.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d.statements++
	return d.conn.Query(ctx, cql, nil, nil)
}

// must runs a statement that no other client can make fail.
func (d *definer) must(cql string) *client.Result {
	r, err := d.run(cql)
	if err != nil {
		d.t.Errorf("%s: %v", cql, err)
		return &client.Result{}
	}
	return r
}

// own runs a statement on one of the client's own tables.
func (d *definer) own() {
	table := fmt.Sprintf("k%d.own_%d_%d", d.id%3, d.id, d.random.IntN(3))
	rows, there := d.tables[table]
	switch n := d.random.IntN(12); {
	case !there:
		d.must("CREATE TABLE " + table + " (k int PRIMARY KEY, v text)")
		d.tables[table] = 0
	case n == 0:
		d.must("DROP TABLE " + table)
		delete(d.tables, table)
	case n == 1:
		d.must("TRUNCATE " + table)
		d.tables[table] = 0
	case n == 2:
		d.check(table)
	default:
		d.must(fmt.Sprintf("INSERT INTO %s (k, v) VALUES (%d, 'x')", table, rows))
		d.tables[table]++
	}
}

// check reads one of its tables.
func (d *definer) check(table string) {
	if r := d.must("SELECT k FROM " + table); len(r.Rows) != d.tables[table] {
		d.t.Errorf("%s has %d rows, want %d", table, len(r.Rows), d.tables[table])
	}
}

// common are statements about the shared tables.
var common = []string{
	"CREATE TABLE %s (k int PRIMARY KEY, v text)", "CREATE TABLE IF NOT EXISTS %s (k int PRIMARY KEY, v text)",
	"DROP TABLE %s", "DROP TABLE IF EXISTS %s", "TRUNCATE %s", "ALTER TABLE %s ADD w int", "ALTER TABLE %s DROP w",
	"INSERT INTO %s (k, v) VALUES (1, 'x')", "INSERT INTO %s (k, w) VALUES (2, 2)", "SELECT * FROM %s", "SELECT w FROM %s",
	"CREATE TYPE %s (a int)", "DROP TYPE %s", "CREATE INDEX ON %s (v)", "DROP INDEX %s_v_idx", "SELECT k FROM %s WHERE v = 'x'",
	"CREATE MATERIALIZED VIEW %[1]s_by_v AS SELECT * FROM %[1]s WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k)",
	"DROP MATERIALIZED VIEW %s_by_v", "DROP MATERIALIZED VIEW IF EXISTS %s_by_v", "SELECT * FROM %s_by_v",
}

// shared does something that others do too, plain or prepared.
func (d *definer) shared() {
	cql := common[d.random.IntN(len(common))]
	cql = fmt.Sprintf(cql, fmt.Sprintf("k%d.t%d", d.random.IntN(4), d.random.IntN(5)))
	if d.random.IntN(100) == 0 {
		cql = []string{
			"DROP KEYSPACE k3", "CREATE KEYSPACE k3 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		}[d.random.IntN(2)]
	}
	run := d.run
	if d.random.IntN(2) == 0 {
		run = d.prepared
	}
	_, err := run(cql)
	if e, ok := cqlerr.As(err); err != nil && (!ok || raced[e.Code] == nil || !raced[e.Code].MatchString(e.Message)) {
		d.t.Errorf("%s: %v", cql, err)
	}
}

func (d *definer) prepared(cql string) (*client.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d.statements++
	p, err := d.conn.Prepare(ctx, cql, "")
	if err != nil {
		return nil, err
	}
	return d.conn.Execute(ctx, p, nil, nil)
}
