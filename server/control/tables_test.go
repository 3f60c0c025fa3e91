package control_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// shop is a client of a server with controls, which has a keyspace and a table.
type shop struct {
	t *testing.T
	*cqltest.Server
	conn *client.Conn
}

func newShop(t *testing.T, options ...cqltest.Option) *shop {
	t.Helper()
	srv := cqltest.RunT(t, append(options, cqltest.WithControls())...)
	srv.Exec(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		"CREATE TABLE shop.t (k int PRIMARY KEY, v text)")
	return &shop{t, srv, dial(t, srv.Addr())}
}

func dial(t *testing.T, addr string) *client.Conn {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	return conn
}

// try runs a statement and returns its rows, the cells as CQL prints them.
func (s *shop) try(statement string) ([]string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := s.conn.Query(ctx, statement, nil, nil)
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, row := range r.Rows {
		var cells []string
		for i, c := range r.Columns {
			if row[i] == nil {
				cells = append(cells, "null")
			} else {
				cells = append(cells, c.Type.Format(row[i]))
			}
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	return rows, nil
}

func (s *shop) run(statement string) []string {
	s.t.Helper()
	rows, err := s.try(statement)
	if err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
	return rows
}

// want runs a statement and compares its rows.
func (s *shop) want(statement string, want ...string) {
	s.t.Helper()
	if rows := s.run(statement); !slices.Equal(rows, want) {
		s.t.Errorf("%s: %q, want %q", statement, rows, want)
	}
}

// refused wants a statement to be refused with a text.
func (s *shop) refused(statement, want string) {
	s.t.Helper()
	if _, err := s.try(statement); err == nil || !strings.Contains(err.Error(), want) {
		s.t.Errorf("%s: error %v, want %s", statement, err, want)
	}
}

// TestClockTable moves, sets, freezes, runs and resets the clock.
func TestClockTable(t *testing.T) {
	s := newShop(t)
	s.run("INSERT INTO shop.t (k) VALUES (1) USING TTL 3600")
	s.run("UPDATE cqld_control.clock SET advance = 59m WHERE key = 'local'")
	s.want("SELECT k FROM shop.t", "1")
	s.want("SELECT ahead, frozen FROM cqld_control.clock", "59m false")
	s.run("UPDATE cqld_control.clock SET advance = 2m WHERE key = 'local'")
	s.want("SELECT k FROM shop.t")
	s.run("UPDATE cqld_control.clock SET frozen = true, now = '2030-01-01 00:00:00Z' WHERE key = 'local'")
	s.want("SELECT now, frozen FROM cqld_control.clock WHERE key = 'local'", "'2030-01-01T00:00:00.000Z' true")
	s.run("UPDATE cqld_control.clock SET advance = 1d, frozen = false WHERE key = 'local'")
	if now := s.Clock().Now(); now.Before(time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)) || now.Year() != 2030 || s.Clock().Frozen() {
		t.Errorf("the clock shows %v", now)
	}
	s.run("DELETE FROM cqld_control.clock WHERE key = 'local'")
	if ahead := s.Clock().Ahead(); ahead != 0 {
		t.Errorf("after a reset the clock is %v ahead", ahead)
	}
	s.refused("UPDATE cqld_control.clock SET advance = 1mo WHERE key = 'local'", "months")
	s.refused("UPDATE cqld_control.clock SET advance = 9999y WHERE key = 'local'", "months")
	s.refused("UPDATE cqld_control.clock SET advance = 999999d WHERE key = 'local'", "longer than a hundred years")
	s.refused("UPDATE cqld_control.clock SET ahead = 1h WHERE key = 'local'", "ahead cannot be written")
	s.refused("UPDATE cqld_control.clock SET advance = 1h WHERE key = 'x'", "There is one clock")
}

// TestFaultTable has requests fail by rules that are inserted, changed, counted and deleted. The controls themselves
// never fail.
func TestFaultTable(t *testing.T) {
	s := newShop(t)
	s.run(`INSERT INTO cqld_control.faults (name, kind, table_name, consistency, act, level, required, alive, times)
		VALUES ('a', 'write', 't', {'ONE', 'quorum'}, 'unavailable', 'QUORUM', 3, 1, 2)`)
	_, err := s.try("INSERT INTO shop.t (k) VALUES (1)")
	told, ok := cqlerr.As(err)
	want := cqlerr.UnavailableDetail{Consistency: cqlerr.Quorum, Required: 3, Alive: 1}
	if !ok || told.Code != cqlerr.Unavailable || told.Detail != want {
		t.Errorf("the error is %v, detail %+v", err, told)
	}
	s.want("SELECT name, matched, acted, position, times FROM cqld_control.faults", "'a' 1 1 1 2")
	s.run("INSERT INTO cqld_control.faults (name, act) VALUES ('all', 'drop')")
	s.run("UPDATE cqld_control.faults SET act = 'write_timeout', after_applying = true, message = 'late' WHERE name = 'a'")
	_, err = s.try("INSERT INTO shop.t (k) VALUES (2)")
	told, ok = cqlerr.As(err)
	timeout := cqlerr.TimeoutDetail{Consistency: cqlerr.Quorum, BlockFor: 1, WriteType: "SIMPLE"}
	if !ok || told.Code != cqlerr.WriteTimeout || told.Detail != timeout || told.Message != "late" {
		t.Errorf("the error is %v, detail %+v", err, told)
	}
	if _, err := s.try("SELECT k FROM shop.t"); err == nil {
		t.Error("the connection is not dropped")
	}
	s.conn = dial(t, s.Addr())
	s.run("DELETE FROM cqld_control.faults WHERE name = 'all'")
	s.want("SELECT k FROM shop.t", "2")
	s.run("INSERT INTO cqld_control.faults (name, kind, delay) VALUES ('slow', 'select', 30ms)")
	began := time.Now()
	s.run("SELECT k FROM shop.t")
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("a delayed request took %v", took)
	}
	s.run("UPDATE cqld_control.faults SET times = null, consistency = null WHERE name = 'a'")
	s.want("SELECT name, times, consistency, acted FROM cqld_control.faults", "'a' null null 0", "'slow' null null 1")
	if rules := s.Faults().List(); len(rules) != 2 || strings.Contains(rules[0].String(), "times=") ||
		!strings.Contains(rules[1].String(), "delay=30ms") {
		t.Errorf("the rules are %v", rules)
	}
	for statement, want := range map[string]string{
		"(name, act) VALUES ('x', 'nope')":                               "act is 'nope': want one of cas_write_unknown, ",
		"(name, kind) VALUES ('x', 'insert')":                            "it has neither an act nor a delay; acts are cas_write_unknown, ",
		"(name, act, kind) VALUES ('x', 'drop', 'inserts')":              `the kind is "inserts"`,
		"(name, act, consistency) VALUES ('x', 'drop', {'MOST'})":        "no consistency level 'MOST'",
		"(name, act, text_matches) VALUES ('x', 'drop', '(')":            "text_matches: ",
		"(name, act, probability) VALUES ('x', 'drop', 2)":               "want a number from 0 to 1",
		"(name, act, times) VALUES ('x', 'drop', -1)":                    "times is -1",
		"(name, act, message) VALUES ('x', 'drop', 'm')":                 "The act drop has no message",
		"(name, act, acted) VALUES ('x', 'drop', 1)":                     "acted cannot be written",
		"(name, delay) VALUES ('x', -1s)":                                "the delay is -1s",
		"(name, act) VALUES ('x', 'drop') USING TTL 1":                   "Expiring columns are not supported by virtual tables",
		"(name, act) VALUES ('x', 'drop') USING TIMESTAMP 1":             "Custom timestamp is not supported by virtual tables",
		"(name, act) VALUES ('x', 'drop') IF NOT EXISTS":                 "Conditional updates are not supported by virtual tables",
		"(name, act, write_type) VALUES ('x', 'write_failure', 'OTHER')": "write_type is 'OTHER'",
	} {
		s.refused("INSERT INTO cqld_control.faults "+statement, want)
	}
	s.run("TRUNCATE cqld_control.faults")
	s.want("SELECT name FROM cqld_control.faults")
	s.run("INSERT INTO shop.t (k) VALUES (3)")
}

// TestFaultActs has each act that is an error reach the client with all its fields. Those that are not given are those
// of one replica that does not answer.
func TestFaultActs(t *testing.T) {
	s := newShop(t)
	const one = "Reasons:[{Replica:127.0.0.1 Reason:0}]"
	for columns, want := range map[string]string{
		"act = 'unavailable'": "0x1000 {Consistency:ONE Required:1 Alive:0}",
		"act = 'read_timeout', level = 'TWO', block_for = 2, received = 1":     "0x1200 {Consistency:TWO Received:1 BlockFor:2 WriteType: DataPresent:false Contentions:0}",
		"act = 'read_timeout', data_present = true":                            "0x1200 {Consistency:ONE Received:0 BlockFor:1 WriteType: DataPresent:true Contentions:0}",
		"act = 'write_timeout', write_type = 'BATCH_LOG'":                      "0x1100 {Consistency:ONE Received:0 BlockFor:1 WriteType:BATCH_LOG DataPresent:false Contentions:0}",
		"act = 'read_failure'":                                                 "0x1300 {Consistency:ONE Received:0 BlockFor:1 " + one + " WriteType: DataPresent:false}",
		"act = 'write_failure', reasons = {'::1': 1, '127.0.0.2': 3}":          "0x1500 {Consistency:ONE Received:0 BlockFor:1 Reasons:[{Replica:127.0.0.2 Reason:3} {Replica:::1 Reason:1}] WriteType:SIMPLE DataPresent:false}",
		"act = 'cas_write_unknown', level = 'serial', received = 1":            "0x1700 {Consistency:SERIAL Received:1 BlockFor:1 WriteType: DataPresent:false Contentions:0}",
		"act = 'overloaded'":                                                   "0x1001 <nil>",
		"act = 'is_bootstrapping'":                                             "0x1002 <nil>",
		"act = 'truncate_error'":                                               "0x1003 <nil>",
		"act = 'server_error'":                                                 "0x0 <nil>",
		"act = 'invalid', message = 'no'":                                      "0x2200 <nil>",
		"act = 'syntax_error'":                                                 "0x2000 <nil>",
		"act = 'unauthorized'":                                                 "0x2100 <nil>",
		"act = 'config_error'":                                                 "0x2300 <nil>",
		"act = 'overloaded', client = '127.0.0.1', opcode = 'QUERY', call = 1": "0x1001 <nil>",
		"act = 'overloaded', text_contains = 'FROM shop', text_matches = '^S'": "0x1001 <nil>",
		"act = 'overloaded', application = 'cqld client', probability = 1":     "0x1001 <nil>",
	} {
		s.run("TRUNCATE cqld_control.faults")
		s.run("UPDATE cqld_control.faults SET " + columns + " WHERE name = 'x'")
		_, err := s.try("SELECT k FROM shop.t")
		told, ok := cqlerr.As(err)
		if !ok {
			t.Errorf("%s: error %v", columns, err)
			continue
		}
		if got := fmt.Sprintf("%#x %+v", uint32(told.Code), told.Detail); got != want {
			t.Errorf("%s:\n%s, want\n%s", columns, got, want)
		}
	}
}

// TestBatches runs controls in a batch of their own.
func TestBatches(t *testing.T) {
	s := newShop(t)
	s.run(`BEGIN UNLOGGED BATCH
		INSERT INTO cqld_control.snapshots (name) VALUES ('start');
		UPDATE cqld_control.clock SET frozen = true WHERE key = 'local';
		APPLY BATCH`)
	s.want("SELECT name FROM cqld_control.snapshots", "'start'")
	if !s.Clock().Frozen() {
		t.Error("the clock runs")
	}
	s.refused("BEGIN BATCH INSERT INTO cqld_control.snapshots (name) VALUES ('x'); APPLY BATCH",
		"Cannot include a virtual table statement in a logged batch")
	s.refused(`BEGIN UNLOGGED BATCH INSERT INTO cqld_control.snapshots (name) VALUES ('x');
		INSERT INTO shop.t (k) VALUES (1); APPLY BATCH`,
		"Mutations for virtual and regular tables cannot exist in the same batch")
}

// TestSnapshotTable goes back to what the server held.
func TestSnapshotTable(t *testing.T) {
	s := newShop(t)
	s.run("INSERT INTO shop.t (k, v) VALUES (1, 'a')")
	s.run("INSERT INTO cqld_control.snapshots (name) VALUES ('start')")
	s.run("UPDATE shop.t SET v = 'b' WHERE k = 1")
	s.run("CREATE TABLE shop.other (k int PRIMARY KEY)")
	s.run("UPDATE cqld_control.snapshots SET restore = true WHERE name = 'start'")
	s.want("SELECT k, v FROM shop.t", "1 'a'")
	s.refused("SELECT * FROM shop.other", "does not exist")
	s.want("SELECT name, restored FROM cqld_control.snapshots", "'start' 1")
	s.refused("UPDATE cqld_control.snapshots SET restore = true WHERE name = 'x'", "There is no snapshot 'x'")
	s.refused("UPDATE cqld_control.snapshots SET restore = false WHERE name = 'start'", "can only be set to true")
	s.run("DELETE FROM cqld_control.snapshots WHERE name = 'start'")
	s.want("SELECT name FROM cqld_control.snapshots")
}

// TestStatementTable shows what clients have run, and not the controls.
func TestStatementTable(t *testing.T) {
	s := newShop(t)
	s.run("INSERT INTO shop.t (k) VALUES (7)")
	s.run("SELECT * FROM shop.t")
	_, _ = s.try("SELECT nope FROM shop.t") // is shown
	s.want("SELECT number, kind, keyspace_name, table_name, partitions, full_scan, returned, consistency FROM cqld_control.statements",
		"1 'insert' 'shop' 't' ['7'] false 0 'ONE'", "2 'select' 'shop' 't' [] true 1 'ONE'", "3 null null null [] false 0 'ONE'")
	s.want("SELECT error FROM cqld_control.statements WHERE number = 3", "'Undefined column name nope in table shop.t'")
	s.refused("DELETE FROM cqld_control.statements WHERE number = 3", "TRUNCATE forgets them")
	s.run("TRUNCATE cqld_control.statements")
	s.want("SELECT number FROM cqld_control.statements")
}

// TestNodeTable stops, starts, slows, partitions, adds and removes nodes of a ring.
func TestNodeTable(t *testing.T) {
	s := newShop(t, cqltest.Ring(3))
	s.run("UPDATE cqld_control.nodes SET up = false, slow = 20ms WHERE number = 2")
	s.run("UPDATE cqld_control.nodes SET partitioned = true WHERE number = 3")
	s.want("SELECT number, datacenter, up, partitioned, slow FROM cqld_control.nodes",
		"1 'datacenter1' true false null", "2 'datacenter1' false false 20ms", "3 'datacenter1' true true null")
	s.run("UPDATE cqld_control.nodes SET up = true, slow = 0s WHERE number = 2")
	s.refused("INSERT INTO cqld_control.nodes (number, datacenter) VALUES (7, 'dc2')", "The next node has the number 4")
	s.refused("UPDATE cqld_control.nodes SET up = true WHERE number = 9", "There is no node 9")
	s.refused("UPDATE cqld_control.nodes SET rack = 'x' WHERE number = 1", "rack cannot be written")
	s.run("INSERT INTO cqld_control.nodes (number, datacenter, rack) VALUES (4, 'dc2', 'r2')")
	s.run("DELETE FROM cqld_control.nodes WHERE number = 3")
	s.want("SELECT number, datacenter, rack, up FROM cqld_control.nodes",
		"1 'datacenter1' 'rack1' true", "2 'datacenter1' 'rack1' true", "4 'dc2' 'r2' true")
	alone := newShop(t)
	alone.want("SELECT number FROM cqld_control.nodes")
	alone.refused("UPDATE cqld_control.nodes SET up = false WHERE number = 1", "one node alone")
}

// TestWithoutControls has no keyspace of controls where nobody asked for it, also not in a fork or by a restore. Its
// name is reserved.
func TestWithoutControls(t *testing.T) {
	with, without := newShop(t), cqltest.RunT(t)
	for name, srv := range map[string]*cqltest.Server{"started": without, "forked": with.Fork(t)} {
		s := &shop{t, srv, dial(t, srv.Addr())}
		s.refused("SELECT * FROM cqld_control.clock", "keyspace cqld_control does not exist")
		s.refused("CREATE KEYSPACE cqld_control WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"not user-modifiable")
		s.want("SELECT * FROM system_virtual_schema.keyspaces WHERE keyspace_name = 'cqld_control'")
		if name == "started" {
			srv.Restore(with.Snapshot())
			s.want("SELECT k FROM shop.t")
			s.refused("SELECT * FROM cqld_control.clock", "keyspace cqld_control does not exist")
		}
	}
	with.Restore(cqltest.RunT(t).Snapshot())
	with.want("SELECT frozen FROM cqld_control.clock", "false")
	forked := cqltest.RunT(t).Fork(t, cqltest.WithControls())
	s := &shop{t, forked, dial(t, forked.Addr())}
	s.want("SELECT frozen FROM cqld_control.clock", "false")
	s.refused("DROP TABLE cqld_control.clock", "not user-modifiable")
	s.refused("ALTER TABLE cqld_control.clock ADD x int", "not user-modifiable")
}

// TestCoordinators shows which node has coordinated a request, and has requests fail at one of them.
func TestCoordinators(t *testing.T) {
	s := newShop(t, cqltest.Ring(3))
	s.run("INSERT INTO cqld_control.faults (name, node, kind, act) VALUES ('third', 3, 'select', 'overloaded')")
	s.run("INSERT INTO shop.t (k) VALUES (1)")
	for number := 2; number <= 3; number++ {
		conn := dial(t, s.Node(number).Addr())
		_, err := conn.Query(t.Context(), "SELECT v FROM shop.t", nil, nil)
		e, _ := cqlerr.As(err)
		if refused := e != nil && e.Code == cqlerr.Overloaded; refused != (number == 3) || err != nil && !refused {
			t.Errorf("node %d: %v", number, err)
		}
	}
	s.want("SELECT kind, node FROM cqld_control.statements", "'insert' 1", "'select' 2", "'select' 3")
	s.want("SELECT node, matched FROM cqld_control.faults", "3 1")
}
