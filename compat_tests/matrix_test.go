package compat_tests

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// matrixFile has the answer to every statement for every role of the matrix.
const matrixFile = "testdata/permissions.txt"

var recordMatrix = flag.Bool("record-matrix", false,
	"record the answers of the Cassandra at -login-addr to the matrix of permissions")

// matrixTables are the definitions of the superuser, before the roles run their statements.
var matrixTables = []string{
	"DROP KEYSPACE IF EXISTS mx",
	"DROP KEYSPACE IF EXISTS other",
	"CREATE KEYSPACE mx WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE TABLE mx.t (a int PRIMARY KEY, b int, c int)",
	"CREATE TABLE mx.base (a int PRIMARY KEY, b int)",
	"CREATE TABLE mx.n (a int PRIMARY KEY, n counter)",
	"CREATE TABLE other.t (a int PRIMARY KEY, b int)",
	"CREATE MATERIALIZED VIEW mx.v AS SELECT * FROM mx.base WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)",
	"CREATE INDEX i ON mx.t (c)",
	"CREATE TYPE mx.ty (a int)",
	"ALTER TABLE mx.t ADD m int MASKED WITH DEFAULT",
	"CREATE FUNCTION mx.f (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
	"CREATE AGGREGATE mx.ag (int) SFUNC f STYPE int",
	"CREATE ROLE target",
	"CREATE ROLE member",
}

// matrixStatements are run by every role. They change nothing that affects another role.
var matrixStatements = []string{
	"SELECT * FROM mx.t",
	"SELECT a FROM mx.t WHERE c = 1",
	"SELECT a FROM mx.t WHERE m = 1 ALLOW FILTERING",
	"SELECT m FROM mx.t WHERE a = 1",
	"SELECT count(*) FROM mx.base",
	"SELECT * FROM mx.v",
	"SELECT * FROM other.t",
	"SELECT JSON * FROM mx.t",
	"INSERT INTO mx.t (a, b) VALUES (1, 1)",
	"INSERT INTO mx.t (a, b) VALUES (1, 1) IF NOT EXISTS",
	"UPDATE mx.t SET b = 1 WHERE a = 1",
	"UPDATE mx.t SET b = 1 WHERE a = 1 IF b = 1",
	"UPDATE mx.n SET n = n + 0 WHERE a = 1",
	"DELETE FROM mx.t WHERE a = 2",
	"DELETE FROM mx.t WHERE a = 2 IF EXISTS",
	"INSERT INTO mx.base (a, b) VALUES (1, 1)",
	"DELETE FROM mx.base WHERE a = 2",
	"INSERT INTO other.t (a, b) VALUES (1, 1)",
	"BEGIN BATCH INSERT INTO mx.t (a, b) VALUES (1, 1); INSERT INTO other.t (a, b) VALUES (1, 1); APPLY BATCH",
	"BEGIN BATCH INSERT INTO mx.t (a, b) VALUES (1, 1) IF NOT EXISTS; APPLY BATCH",
	"TRUNCATE mx.n",
	"TRUNCATE other.t",
	"CREATE KEYSPACE IF NOT EXISTS mx WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE KEYSPACE mx WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"ALTER KEYSPACE mx WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"ALTER KEYSPACE nope WITH durable_writes = true",
	"DROP KEYSPACE IF EXISTS nope",
	"DROP KEYSPACE nope",
	"CREATE TABLE IF NOT EXISTS mx.t (a int PRIMARY KEY)",
	"CREATE TABLE nope.t (a int PRIMARY KEY)",
	"ALTER TABLE mx.t WITH gc_grace_seconds = 864000",
	"ALTER TABLE mx.nope ADD x int",
	"DROP TABLE IF EXISTS mx.nope",
	"DROP TABLE mx.nope",
	"DROP TABLE mx.base",
	"CREATE TYPE IF NOT EXISTS mx.ty (a int)",
	"ALTER TYPE mx.ty ADD IF NOT EXISTS a int",
	"DROP TYPE IF EXISTS mx.nope",
	"CREATE INDEX IF NOT EXISTS i ON mx.t (c)",
	"CREATE INDEX ON mx.t (nope)",
	"DROP INDEX IF EXISTS mx.nope",
	"DROP INDEX mx.nope",
	"CREATE MATERIALIZED VIEW IF NOT EXISTS mx.v AS SELECT * FROM mx.base WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)",
	"ALTER MATERIALIZED VIEW mx.v WITH gc_grace_seconds = 864000",
	"DROP MATERIALIZED VIEW IF EXISTS mx.nope",
	"CREATE FUNCTION IF NOT EXISTS mx.f (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
	"CREATE OR REPLACE FUNCTION mx.f (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
	"CREATE AGGREGATE IF NOT EXISTS mx.ag (int) SFUNC f STYPE int",
	"DROP FUNCTION IF EXISTS mx.nope(int)",
	"CREATE TRIGGER tr ON mx.t USING 'nope'",
	"DROP TRIGGER IF EXISTS tr ON mx.t",
	"CREATE ROLE IF NOT EXISTS target",
	"CREATE ROLE target WITH SUPERUSER = true",
	"ALTER ROLE target WITH LOGIN = false",
	"ALTER ROLE member WITH SUPERUSER = true AND SUPERUSER = true",
	"ALTER ROLE nope WITH LOGIN = false",
	"DROP ROLE IF EXISTS nope",
	"DROP ROLE nope",
	"GRANT nope TO target",
	"GRANT target TO target",
	"LIST ROLES OF target",
	"LIST ALL PERMISSIONS OF nope",
	"LIST SELECT ON other.t OF target",
	"ADD IDENTITY IF NOT EXISTS 'x' TO ROLE nope",
	"DROP IDENTITY IF EXISTS 'x'",
	"GRANT SELECT ON mx.t TO nope",
	"GRANT SELECT ON KEYSPACE mx TO nope",
	"GRANT CREATE ON ALL TABLES IN KEYSPACE mx TO nope",
	"GRANT SELECT ON ALL KEYSPACES TO nope",
	"GRANT EXECUTE ON FUNCTION mx.f(int, int) TO nope",
	"GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE mx TO nope",
	"GRANT DESCRIBE ON ROLE target TO nope",
	"REVOKE MODIFY ON mx.t FROM nope",
	"GRANT SELECT ON KEYSPACE system TO nope",
	"SELECT key FROM system.local",
	"SELECT peer FROM system.peers",
	"SELECT peer FROM system.peers_v2",
	"SELECT key FROM system.nope",
	"SELECT keyspace_name FROM system.size_estimates LIMIT 0",
	"SELECT table_name FROM system.table_estimates WHERE keyspace_name = 'nope'",
	"SELECT row_key FROM system.paxos",
	"SELECT peer FROM system.peer_events",
	"SELECT prepared_id FROM system.prepared_statements LIMIT 1",
	"SELECT keyspace_name FROM system_schema.tables WHERE keyspace_name = 'nope'",
	"SELECT session_id FROM system_traces.sessions WHERE session_id = 00000000-0000-0000-0000-000000000000",
	"SELECT session_id FROM system_traces.events WHERE session_id = 00000000-0000-0000-0000-000000000000",
	"SELECT keyspace_name FROM system_virtual_schema.tables WHERE keyspace_name = 'nope'",
	"SELECT name FROM system_views.settings WHERE name = 'nope'",
	"SELECT role FROM system_auth.roles WHERE role = 'nope'",
	"SELECT role FROM system_auth.role_permissions WHERE role = 'nope'",
	"SELECT parent_id FROM system_distributed.parent_repair_history",
	"UPDATE system_auth.roles SET can_login = false WHERE role = 'nope' IF EXISTS",
	"DELETE FROM system_traces.sessions WHERE session_id = 00000000-0000-0000-0000-000000000000",
	"CREATE TABLE system_auth.x (a int PRIMARY KEY)",
	"DROP TABLE system_auth.roles",
	"ALTER TABLE system_auth.roles ADD x int",
	"DROP KEYSPACE system_auth",
	"CREATE TABLE system.x (a int PRIMARY KEY)",
	"ALTER TABLE system.local ADD x int",
	"DROP KEYSPACE system_schema",
	"DROP TABLE system_views.clients",
	"USE mx",
	"USE nope",
	"SELECT nope FROM mx.t",
	"SELECT * FROM mx.nope",
	"SELECT * FROM nope.t",
	"INSERT INTO mx.t (nope) VALUES (1)",
	"TRUNCATE mx.nope",
	"TRUNCATE mx.v",
	"DESCRIBE TABLE other.t",
}

// matrixRole is a role of the matrix and its grants.
type matrixRole struct {
	name   string
	grants []string
}

// punctuation is removed from names of roles.
var punctuation = strings.NewReplacer(" ", "", ".", "", "(", "", ")", "", ",", "")

// matrixRoles are a superuser, owners, a member of a role that may, a role without permissions, and one for each
// permission on each resource that a statement touches.
func matrixRoles() []matrixRole {
	roles := []matrixRole{
		{name: "super", grants: []string{"ALTER ROLE super WITH SUPERUSER = true"}},
		{name: "none"},
		{name: "inherits", grants: []string{"GRANT SELECT, MODIFY, ALTER ON KEYSPACE mx TO member", "GRANT member TO inherits"}},
		{name: "superbyrole", grants: []string{"GRANT super TO superbyrole"}},
		{name: "ownskeyspace", grants: []string{
			"GRANT ALL ON KEYSPACE mx TO ownskeyspace", "GRANT ALL ON ALL FUNCTIONS IN KEYSPACE mx TO ownskeyspace",
		}},
		{name: "ownstable", grants: []string{"GRANT ALL ON TABLE mx.t TO ownstable"}},
		{name: "ownsbase", grants: []string{"GRANT ALL ON TABLE mx.base TO ownsbase"}},
		{name: "ownsboth", grants: []string{"GRANT ALL ON TABLE mx.base TO ownsboth", "GRANT ALL ON TABLE mx.v TO ownsboth"}},
		{name: "grants", grants: []string{"GRANT AUTHORIZE, SELECT ON KEYSPACE mx TO grants"}},
	}
	data := []string{"CREATE", "ALTER", "DROP", "SELECT", "MODIFY", "AUTHORIZE", "UNMASK", "SELECT_MASKED"}
	add := func(permissions []string, on ...string) {
		for _, resource := range on {
			for _, p := range permissions {
				name := punctuation.Replace(strings.ToLower(p + "_" + resource))
				roles = append(roles, matrixRole{name, []string{"GRANT " + p + " ON " + resource + " TO " + name}})
			}
		}
	}
	add(data, "ALL KEYSPACES", "KEYSPACE mx", "ALL TABLES IN KEYSPACE mx")
	add(data[1:], "TABLE mx.t")
	add([]string{"ALTER", "SELECT", "MODIFY"}, "TABLE mx.base", "TABLE mx.v")
	add([]string{"CREATE", "ALTER", "DROP", "AUTHORIZE", "DESCRIBE"}, "ALL ROLES")
	add([]string{"ALTER", "DROP", "AUTHORIZE", "DESCRIBE"}, "ROLE target")
	add([]string{"CREATE", "ALTER", "DROP", "AUTHORIZE", "EXECUTE"}, "ALL FUNCTIONS", "ALL FUNCTIONS IN KEYSPACE mx")
	add([]string{"ALTER", "DROP", "AUTHORIZE", "EXECUTE"}, "FUNCTION mx.f(int, int)")
	add([]string{"SELECT"}, "KEYSPACE system", "KEYSPACE system_auth", "KEYSPACE system_views", "TABLE system.paxos")
	return roles
}

// matrixPassword is that of all roles of the matrix.
const matrixPassword = "secret"

// TestPermissions asks every role of the matrix to run every statement of it, and compares the answers with
// Cassandra's.
func TestPermissions(t *testing.T) {
	skipWithoutLogins(t)
	to := *loginAddr
	if to == "" {
		to = cqltest.RunT(t, functions.Enable(), cqltest.WithAuth()).Addr()
	}
	if _, err := script.CassandraRelease(t.Context(), to); *recordMatrix && err != nil {
		t.Fatalf("-record-matrix wants -login-addr of a real Cassandra: %v", err)
	}
	got := askMatrix(t, to)
	if *recordMatrix {
		if err := os.WriteFile(matrixFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	compareMatrix(t, string(content), got)
}

// compareMatrix reports the statements that are answered otherwise.
func compareMatrix(t *testing.T, want, got string) {
	t.Helper()
	wanted, gotten := strings.Split(want, "\n\n"), strings.Split(got, "\n\n")
	if len(wanted) != len(gotten) {
		t.Fatalf("%d statements were recorded, %d were asked", len(wanted), len(gotten))
	}
	for i, w := range wanted {
		if g := gotten[i]; g != w {
			t.Errorf("wanted\n%s\ngot\n%s", w, g)
		}
	}
}

// askMatrix makes the tables and roles, and returns the answers for every role.
func askMatrix(t *testing.T, addr string) string {
	t.Helper()
	ctx := t.Context()
	super := matrixLogin(t, addr, "cassandra", "cassandra")
	run := func(cql string) {
		t.Helper()
		if _, err := super.Query(ctx, cql, nil, nil); err != nil {
			t.Fatalf("%s: %v", cql, err)
		}
	}
	roles := matrixRoles()
	for _, r := range roles {
		run("DROP ROLE IF EXISTS " + r.name)
	}
	run("DROP ROLE IF EXISTS target")
	run("DROP ROLE IF EXISTS member")
	for _, cql := range matrixTables {
		run(cql)
	}
	for _, r := range roles {
		run("CREATE ROLE " + r.name + " WITH LOGIN = true AND PASSWORD = '" + matrixPassword + "'")
	}
	for _, r := range roles {
		for _, grant := range r.grants {
			run(grant)
		}
	}
	if *loginAddr != "" {
		time.Sleep(3 * time.Second) // Cassandra keeps roles and permissions for a while
	}
	answers := make([]map[string][]string, len(matrixStatements)) // the roles of each answer
	for i := range answers {
		answers[i] = map[string][]string{}
	}
	asked := 0
	for _, r := range roles {
		conn := matrixLogin(t, addr, r.name, matrixPassword)
		for i, cql := range matrixStatements {
			answer := strings.ReplaceAll(matrixAnswer(ctx, conn, cql), "User "+r.name+" ", "User {role} ")
			answers[i][answer] = append(answers[i][answer], r.name)
			asked++
		}
	}
	t.Logf("%d cases", asked)
	return formatMatrix(answers, len(roles))
}

// matrixLogin connects as a role.
func matrixLogin(t *testing.T, addr, name, password string) *client.Conn {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{Version: protocol.V5, Username: name, Password: password})
	if err != nil {
		t.Fatalf("log in as %s: %v", name, err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// matrixAnswer is ok, or the code and the text of an error.
func matrixAnswer(ctx context.Context, conn *client.Conn, cql string) string {
	_, err := conn.Query(ctx, cql, nil, nil)
	if err == nil {
		return "ok"
	}
	e, ok := cqlerr.As(err)
	if !ok {
		return "connection: " + err.Error()
	}
	return fmt.Sprintf("%04x %s", uint32(e.Code), strings.ReplaceAll(e.Message, "\n", `\n`))
}

// formatMatrix has for each statement its answers, and below each of them the roles that get it. The roles of the most
// frequent answer are not listed.
func formatMatrix(answers []map[string][]string, roles int) string {
	var b strings.Builder
	for i, cql := range matrixStatements {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintln(&b, cql)
		var texts []string
		for text := range answers[i] {
			texts = append(texts, text)
		}
		slices.SortFunc(texts, func(a, b string) int {
			if n := len(answers[i][b]) - len(answers[i][a]); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		for n, text := range texts {
			fmt.Fprintf(&b, "  %s\n", text)
			if n > 0 {
				fmt.Fprintf(&b, "    %s\n", strings.Join(answers[i][text], " "))
			}
		}
	}
	fmt.Fprintf(&b, "\n# %d statements, %d roles\n", len(matrixStatements), roles)
	return b.String()
}
