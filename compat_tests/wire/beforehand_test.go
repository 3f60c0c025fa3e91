package wire

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// afterStatement is an exchange whose title gives the statement that another connection ran before it.
var afterStatement = regexp.MustCompile(`after ((?:CREATE|DROP|TRUNCATE|ALTER KEYSPACE|ALTER TABLE) .+\..+|ALTER KEYSPACE .+)$`)

// afterOptions is one that names only the options of an ALTER TABLE.
var afterOptions = regexp.MustCompile(`^EXECUTE after ALTER (WITH .+)$`)

// prepareFirst is the prefix of a statement that is prepared and not run.
const prepareFirst = "PREPARE "

// executes is the id in an EXECUTE, in hex; empty if the request is another.
func (x *exchange) executes() string {
	if !x.is(opExecute) || len(x.request) < 27 {
		return ""
	}
	return hex.EncodeToString(x.request[11:27])
}

// beforehand are the statements that another connection ran just before an exchange. They are not recorded; the
// title tells them.
func beforehand(x *exchange) []string {
	if m := afterStatement.FindStringSubmatch(x.title); m != nil {
		return m[1:]
	}
	if m := afterOptions.FindStringSubmatch(x.title); m != nil {
		return []string{fmt.Sprintf("ALTER TABLE wire.alt%d %s", x.state.version, m[1])}
	}
	switch v := x.state.version; x.title {
	case "EXECUTE SELECT * after ALTER ADD by another connection":
		return []string{fmt.Sprintf("ALTER TABLE wire.alt%d ADD w int", v)}
	case "EXECUTE after ALTER comment":
		return []string{fmt.Sprintf("ALTER TABLE wire.alt%d WITH comment = 'x'", v)}
	case "EXECUTE SELECT after ALTER TYPE ADD, skip, old rid":
		return []string{
			fmt.Sprintf("INSERT INTO wire.utt%d (k, u) VALUES (1, {a: 5})", v),
			fmt.Sprintf("ALTER TYPE wire.ut%d ADD b text", v),
		}
	case "EXECUTE after DROP TABLE":
		return []string{fmt.Sprintf("DROP TABLE wire.alt%d", v)}
	case "traced EXECUTE":
		return []string{prepareFirst + "SELECT * FROM wire.t WHERE k = ?"}
	case "warning: SASI":
		return []string{fmt.Sprintf("DROP INDEX IF EXISTS wire.sasi%d", v-1)}
	case fmt.Sprintf("DDL DROP KEYSPACE ev%d", v):
		return []string{
			fmt.Sprintf("CREATE MATERIALIZED VIEW IF NOT EXISTS ev%[1]d.mv AS SELECT k, cc, v FROM ev%[1]d.t "+
				"WHERE v IS NOT NULL AND k IS NOT NULL AND cc IS NOT NULL PRIMARY KEY (v, k, cc)", v),
			fmt.Sprintf("CREATE AGGREGATE IF NOT EXISTS ev%d.su (int) SFUNC plus STYPE int INITCOND 0", v),
		}
	case "config error: unknown dc":
		return []string{"DROP KEYSPACE kk"}
	}
	return nil
}

// before runs the statements before an exchange: on its connection or on another.
func (r *replay) before(t *testing.T, x *exchange, c *connection) error {
	if strings.HasPrefix(x.title, "after a failed v5 STARTUP,") {
		return c.startRefused()
	}
	if len(x.answers) > 0 && x.answers[0].is(opEvent) && x.state.version == 3 {
		if err := c.register("SCHEMA_CHANGE"); err != nil { // as v4 connections do; for v3 it is not recorded
			return err
		}
	}
	statements := beforehand(x)
	if text := r.texts[x.executes()]; strings.HasPrefix(x.title, "EXECUTE after ") && text != "" {
		statements = append([]string{prepareFirst + text}, statements...) // a client prepares after UNPREPARED
	}
	if len(statements) == 0 {
		return nil
	}
	other, err := open(r.addr, connState{version: 4, ready: true})
	if err != nil {
		return err
	}
	defer other.Close()
	for _, cql := range statements {
		run := other.query
		if text, ok := strings.CutPrefix(cql, prepareFirst); ok {
			cql, run = text, other.prepare
		}
		if err := run(cql); err != nil {
			t.Logf("%s: %s: %v", x.name(), cql, err)
		}
	}
	if strings.HasPrefix(x.title, "DDL ") { // its events of that
		c.drain()
	}
	return nil
}
