package wire

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// keyspaces are all that recordings make; another server than one of our own may still have them.
var keyspaces = []string{"wire", "wire3", "ty", "ev3", "ev4", "ev5", "rf3_3", "rf3_4", "rf3_5", "x"}

// setUp makes the tables that a file of recordings found. A statement that is refused is not an error: the exchanges
// that need it show it.
func setUp(t *testing.T, addr, file string, all []*exchange, texts map[string]string) {
	t.Helper()
	c, err := open(addr, connState{version: 4, ready: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run := func(cql string) {
		if err := c.query(cql); err != nil {
			t.Logf("%s: setting up: %.100s: %v", file, cql, err)
		}
	}
	for _, k := range keyspaces {
		run("DROP KEYSPACE IF EXISTS " + k)
	}
	number := file[:2]
	if number == "01" || number == "02" {
		return
	}
	schema, err := os.ReadFile("schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	for cql := range strings.Lines(string(schema)) {
		run(strings.TrimSpace(cql))
	}
	for _, cql := range ownSchema(number, all) {
		run(cql)
	}
	if number == "05" {
		prepareUnderKeyspace(t, addr)
	}
	if number == "06" || number == "08" {
		prepareAll(t, c, readRecording(t, "recorded/05-prepare-execute.txt"), texts)
	}
}

// prepareAll prepares the statements of the v4 connections of another file: batches name the statements by their ids.
func prepareAll(t *testing.T, c *connection, all []*exchange, texts map[string]string) {
	t.Helper()
	prepared := [][]byte{[]byte("UPDATE wire.n SET c = c + 1 WHERE k = ?"), []byte("UPDATE wire.t SET v = ? WHERE k = ?")}
	for _, x := range all {
		if x.state.version == 4 && len(x.request) > 13 && x.request[4] == opPrepare {
			prepared = append(prepared, x.request[13:])
		}
	}
	for _, text := range prepared {
		body := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
		if err := c.ask(opPrepare, body, opResult); err != nil {
			t.Logf("preparing %s: %v", text, err)
		}
		texts[idOf(string(text))] = string(text)
	}
}

// idOf is the id of a prepared text in hex.
func idOf(text string) string {
	id := md5.Sum([]byte(text))
	return hex.EncodeToString(id[:])
}

// prepareUnderKeyspace prepares a qualified statement on a connection that said USE: it gets two ids.
func prepareUnderKeyspace(t *testing.T, addr string) {
	t.Helper()
	c, err := open(addr, connState{version: 4, ready: true, keyspace: "wire"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const text = "SELECT * FROM wire.t WHERE k = ?"
	if err := c.ask(opPrepare, append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...), opResult); err != nil {
		t.Fatal(err)
	}
}

// ownSchema are the statements that only one file needs.
func ownSchema(number string, all []*exchange) []string {
	switch number {
	case "04":
		return []string{ // by exchanges of v3 that are left out of the recording
			"INSERT INTO wire.t (k, v) VALUES (100, 'named') USING TIMESTAMP 1",
			"INSERT INTO wire.t (k, v) VALUES (101, 'x') USING TIMESTAMP 1",
			"INSERT INTO wire.t (k, v) VALUES (102, 'x') USING TIMESTAMP 1",
			"INSERT INTO wire.t (k, v) VALUES (103, 'x') USING TIMESTAMP 1",
			"DELETE v FROM wire.t USING TIMESTAMP 2000 WHERE k = 100",
		}
	case "05":
		var made []string
		for v := 3; v <= 5; v++ {
			made = append(made,
				fmt.Sprintf("CREATE TABLE wire.alt%d (k int PRIMARY KEY, v int)", v),
				fmt.Sprintf("CREATE TYPE wire.ut%d (a int)", v),
				fmt.Sprintf("CREATE TABLE wire.utt%d (k int PRIMARY KEY, u frozen<ut%d>)", v, v))
		}
		return made
	case "07":
		var made []string // under v3 they are left out of the recording
		for _, x := range all {
			if text := x.text(); strings.Contains(text, " ev4") {
				if strings.HasPrefix(text, "CREATE MATERIALIZED VIEW") {
					break
				}
				made = append(made, strings.ReplaceAll(text, "ev4", "ev3"))
			}
		}
		return append(made, "CREATE TABLE ev3.c2 (k int PRIMARY KEY) WITH comment = 'c'")
	case "08":
		return rowsOfEarlier()
	case "09":
		return append(rowsOfEarlier(), typeTables(all)...)
	case "10":
		return []string{"CREATE TABLE wire.big (k int PRIMARY KEY, v blob)"}
	case "12":
		made := append(rowsOfEarlier(),
			"CREATE TABLE wire.le (k text PRIMARY KEY)",
			"CREATE TABLE wire.vb (k int PRIMARY KEY, v text)",
			"CREATE INDEX wix ON wire.c (a)")
		for v := 3; v <= 5; v++ {
			made = append(made, fmt.Sprintf("CREATE FUNCTION wire.boom%d (x int) RETURNS NULL ON NULL INPUT RETURNS int "+
				`LANGUAGE java AS 'throw new RuntimeException("boom");'`, v))
		}
		return made
	case "14":
		made := []string{
			"CREATE KEYSPACE x WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"CREATE TABLE x.tomb (k int, c int, v int, PRIMARY KEY (k, c))",
		}
		for c := range 5 {
			made = append(made, fmt.Sprintf("DELETE FROM x.tomb WHERE k = 2 AND c = %d", c))
		}
		return made
	}
	return nil
}

// rowsOfEarlier are the rows of wire.t that recordings of other files left there.
func rowsOfEarlier() []string {
	rows := map[int]string{
		50: "b", 51: "b", 52: "c", 53: "b", 54: "k", 56: "k", 60: strings.Repeat("w", 60000), 61: strings.Repeat("w", 3000),
		101: "x", 102: "a", 103: "a",
	}
	for k := 200; k <= 210; k++ {
		rows[k] = "u"
	}
	made := []string{"INSERT INTO wire.t (k) VALUES (100) USING TIMESTAMP 1"}
	for k, v := range rows {
		made = append(made, fmt.Sprintf("INSERT INTO wire.t (k, v) VALUES (%d, '%s') USING TIMESTAMP 1", k, v))
	}
	return made
}

const declared = "metadata of a column declared "

var typeTable = regexp.MustCompile(`ty\.c\d+`)

// typeTables makes a table for each type that a title of 09 declares.
func typeTables(all []*exchange) []string {
	made := []string{
		"CREATE KEYSPACE ty WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TYPE ty.inner (x int, y date)",
		"CREATE TYPE ty.u (a int, b text, c frozen<list<int>>, d duration)",
		"CREATE TYPE ty.nest (i frozen<inner>, l list<frozen<inner>>)",
		`CREATE TYPE ty."Odd Name" ("F 1" int)`,
		"CREATE TABLE ty.cnt (k int PRIMARY KEY, c counter)",
		"UPDATE ty.cnt SET c = c + 5 WHERE k = 1",
		"CREATE TABLE ty.rev (k int, c1 text, c2 duration, c3 date, v int, s int static, PRIMARY KEY (k, c1, c3)) " +
			"WITH CLUSTERING ORDER BY (c1 DESC, c3 ASC)",
	}
	var scalars []string
	seen := map[string]bool{}
	for _, x := range all {
		if typ, ok := strings.CutPrefix(x.title, declared); ok {
			if table := typeTable.FindString(x.query()); !seen[table] {
				seen[table] = true
				made = append(made, fmt.Sprintf("CREATE TABLE %s (k int PRIMARY KEY, v %s)", table, typ))
			}
		}
		if row := scalarRow(x); row != nil && scalars == nil {
			for _, c := range row.columns[1:] {
				scalars = append(scalars, c.Name+" "+strings.TrimPrefix(c.Name, "c_"))
			}
			made = append(made, "CREATE TABLE ty.s (k int PRIMARY KEY, "+strings.Join(scalars, ", ")+")")
		}
	}
	return made
}

// insertScalars writes the rows of ty.s that the recording reads.
func insertScalars(t *testing.T, addr string, all []*exchange) {
	t.Helper()
	c, err := open(addr, connState{version: 4, ready: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, x := range all {
		row := scalarRow(x)
		if row == nil || x.state.version != 4 {
			continue
		}
		var names []string
		var values []byte
		for i, column := range row.columns {
			if v := row.data[0][i]; v != nil {
				names = append(names, column.Name)
				values = binary.BigEndian.AppendUint32(values, uint32(len(v)))
				values = append(values, v...)
			}
		}
		cql := fmt.Sprintf("INSERT INTO ty.s (%s) VALUES (?%s)", strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
		body := binary.BigEndian.AppendUint32(nil, uint32(len(cql)))
		body = append(append(body, cql...), 0, 1, 1)
		body = append(binary.BigEndian.AppendUint16(body, uint16(len(names))), values...)
		if err := c.ask(opQuery, body, opResult); err != nil {
			t.Logf("%s: %v", x.title, err)
		}
	}
}

// scalarRow is the recorded row of a block that reads one of ty.s.
func scalarRow(x *exchange) *rows {
	if !strings.HasPrefix(x.title, "all scalar types, row ") || len(x.answers) != 1 {
		return nil
	}
	e, _, err := takeEnvelope(x.answers[0].bytes, "")
	if err != nil || e == nil {
		return nil
	}
	row := decodeRows(e)
	if row == nil || len(row.data) != 1 {
		return nil
	}
	return row
}
