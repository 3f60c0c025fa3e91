package server_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// asSuperuser logs in as the role that every server with logins has at first.
func asSuperuser(v protocol.Version) client.Options {
	return client.Options{Version: v, Username: "cassandra", Password: "cassandra"}
}

// startupMessage is a STARTUP that is right.
var startupMessage = &protocol.Startup{
	Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.0.0"}},
}

// logBuffer keeps what a server logs.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// quiet is a server with logins whose log is kept.
func quiet(t *testing.T) (*cqltest.Server, *logBuffer) {
	t.Helper()
	logged := &logBuffer{}
	return cqltest.RunT(t, cqltest.WithAuth(), inside.Log(zerolog.New(logged).Level(zerolog.DebugLevel))), logged
}

// Tokens and answers are Cassandra 5.0.8's.
func TestLoginTokens(t *testing.T) {
	t.Parallel()
	s, logged := quiet(t)
	for _, test := range []struct {
		token, want string
		code        cqlerr.Code
	}{
		{"\x00cassandra\x00bad", "Provided username cassandra and/or password are incorrect", cqlerr.BadCredentials},
		{"\x00nobody\x00hunter2", "Provided username nobody and/or password are incorrect", cqlerr.BadCredentials},
		{"\x00Cassandra\x00cassandra", "Provided username Cassandra and/or password are incorrect", cqlerr.BadCredentials},
		{"\x00\xff\xfe\x00x", "Provided username \uFFFD\uFFFD and/or password are incorrect", cqlerr.BadCredentials},
		{"", "Password must not be null", cqlerr.BadCredentials},
		{"PLAIN", "Password must not be null", cqlerr.BadCredentials},
		{"\x00cassandra\x00", "Password must not be null", cqlerr.BadCredentials},
		{"\x00\x00", "Password must not be null", cqlerr.BadCredentials},
		{"cassandra\x00cassandra", "Authentication ID must not be null", cqlerr.BadCredentials},
		{
			"a\x00b\x00c\x00d", `Credential format error: username or password is empty or contains NUL(\0) character`,
			cqlerr.BadCredentials,
		},
		{
			"\x00\x00\x00", `Credential format error: username or password is empty or contains NUL(\0) character`,
			cqlerr.BadCredentials,
		},
		{"\x00cassandra\x00cassandra", "", 0},
		{"somebody\x00cassandra\x00cassandra", "", 0},
	} {
		c, err := client.Connect(testContext(t), s.Addr(), protocol.V4)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Do(testContext(t), startupMessage)
		if err != nil {
			t.Fatal(err)
		}
		if m, is := a.Response.(*protocol.Authenticate); !is || m.Authenticator != protocol.PasswordAuthenticator {
			t.Fatalf("STARTUP is answered with %v", a.Response)
		}
		_, err = c.Do(testContext(t), &protocol.AuthResponse{Token: []byte(test.token)})
		if test.code == 0 && err != nil {
			t.Errorf("%q: %v", test.token, err)
		}
		if test.code != 0 {
			expectError(t, err, test.code, test.want)
			if _, err = c.Do(testContext(t), &protocol.AuthResponse{Token: []byte("\x00cassandra\x00cassandra")}); err != nil {
				t.Errorf("a right password behind %q: %v", test.token, err)
			}
		}
		c.Close()
	}
	if err := s.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	log := logged.String()
	if strings.Contains(log, "hunter2") || strings.Count(log, `"a login failed"`) != 5 ||
		!strings.Contains(log, `"client":"127.0.0.1/32","times":6,"message":"a login failed, again and again"`) {
		t.Errorf("logged\n%s", log)
	}
}

// Clients that have not logged in cannot fill the log, whatever they send.
func TestNothingFillsTheLog(t *testing.T) {
	s, logged := quiet(t)
	long := strings.Repeat("\x01", 60<<10)
	connectAnd := func(do func(*client.Conn)) {
		c, err := client.Connect(testContext(t), s.Addr(), protocol.V4)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		do(c)
	}
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			connectAnd(func(c *client.Conn) { // a login that fails, and one with a token of a megabyte
				_, err := c.Do(testContext(t), &protocol.Startup{Options: []protocol.Option{
					{Key: protocol.OptionCQLVersion, Value: "3.0.0"}, {Key: protocol.OptionDriverName, Value: long},
				}})
				if err != nil {
					t.Error(err)
				}
				for _, token := range []string{"\x00" + long + "\x00x", "\x00" + strings.Repeat("n", 1<<20) + "\x00x"} {
					_, err = c.Do(testContext(t), &protocol.AuthResponse{Token: []byte(token)})
					expectError(t, err, cqlerr.BadCredentials, "")
				}
				_, _ = c.Do(testContext(t), &protocol.Query{Query: long})
			})
			connectAnd(func(c *client.Conn) { // an unknown version of CQL and a message that is not expected
				_, _ = c.Do(testContext(t), &protocol.Startup{
					Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: long}},
				})
				_, _ = c.Do(testContext(t), &protocol.Query{Query: long})
			})
			for _, garbage := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01" + long, "\x04\x00\x00\x00\x01\xff\xff\xff\xff", "\x42"} {
				connectAnd(func(c *client.Conn) {
					_, _ = c.NetConn().Write([]byte(garbage))
				})
			}
		})
	}
	clients.Wait()
	if err := s.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, line := range strings.Split(logged.String(), "\n") {
		if len(line) > 2000 {
			t.Errorf("a line of %d bytes: %s", len(line), line[:200])
		}
		if line != "" && !strings.Contains(line, `"level":"debug"`) {
			lines++
		}
	}
	if lines > 20 {
		t.Errorf("%d lines above debug", lines)
	}
	if want := `"times":75,"message":"a login failed, again and again"`; !strings.Contains(logged.String(), want) {
		t.Errorf("no %s", want)
	}
}

// Between STARTUP and the password nothing else is served.
func TestNothingBeforeLogin(t *testing.T) {
	s, _ := quiet(t)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4} {
		c, err := client.Connect(testContext(t), s.Addr(), v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(testContext(t), startupMessage); err != nil {
			t.Fatal(err)
		}
		for _, m := range []protocol.Request{
			&protocol.Options{}, startupMessage, &protocol.Register{Names: []string{"SCHEMA_CHANGE"}},
			&protocol.Query{Query: "SELECT * FROM system.local"}, &protocol.Prepare{Query: "SELECT * FROM system.local"},
			&protocol.Batch{},
		} {
			_, err := c.Do(testContext(t), m)
			expectError(t, err, cqlerr.ProtocolError, "Unexpected message "+m.Opcode().String()+", expecting SASL_RESPONSE")
		}
		c.Close()
	}
}

// A connection can change its user; a wrong password changes nothing.
func TestLoginAgain(t *testing.T) {
	s, _ := quiet(t)
	c := connect(t, s, asSuperuser(protocol.V5))
	run(t, c, "CREATE ROLE bob WITH LOGIN = true AND PASSWORD = 'secret'")
	users := func() string {
		r := run(t, connect(t, s, asSuperuser(protocol.V4)), "SELECT username FROM system_views.clients")
		var names []string
		for _, row := range r.Rows {
			names = append(names, string(row[0]))
		}
		return strings.Join(names, " ")
	}
	if _, err := c.Do(testContext(t), &protocol.AuthResponse{Token: []byte("\x00bob\x00wrong")}); err == nil {
		t.Error("a wrong password is right")
	}
	run(t, c, "SELECT role FROM system_auth.roles")
	_, err := c.Do(testContext(t), &protocol.AuthResponse{})
	expectError(t, err, cqlerr.BadCredentials, "Password must not be null")
	if _, err := c.Do(testContext(t), &protocol.AuthResponse{Token: []byte("\x00bob\x00secret")}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Query(testContext(t), "SELECT role FROM system_auth.roles", nil, nil)
	expectError(t, err, cqlerr.Unauthorized,
		"User bob has no SELECT permission on <table system_auth.roles> or any of its parents")
	if names := users(); !strings.Contains(names, "bob") {
		t.Errorf("the clients are %s", names)
	}
}

// Whoever has not logged in yet is shown as authenticating, as Cassandra 5.0.8 does.
func TestClientsBeforeLogin(t *testing.T) {
	s, _ := quiet(t)
	c, err := client.Connect(testContext(t), s.Addr(), protocol.V4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(testContext(t), startupMessage); err != nil {
		t.Fatal(err)
	}
	r := run(t, connect(t, s, asSuperuser(protocol.V4)), "SELECT connection_stage, username FROM system_views.clients")
	stages := map[string]string{}
	for _, row := range r.Rows {
		stages[string(row[0])] = string(row[1])
	}
	if name, there := stages["authenticating"]; !there || name != "" || stages["ready"] != "cassandra" {
		t.Errorf("the clients are %v", stages)
	}
}

// Failed logins hold up nobody else.
func TestFailedLoginsWaitAlone(t *testing.T) {
	s, _ := quiet(t)
	c := connect(t, s, asSuperuser(protocol.V4))
	var guesses sync.WaitGroup
	for range 8 {
		guesses.Add(1)
		go func() {
			defer guesses.Done()
			if _, err := client.Dial(t.Context(), s.Addr(), client.Options{
				Version: protocol.V4, Username: "cassandra", Password: "guess",
			}); err == nil {
				t.Error("a guess is right")
			}
		}()
	}
	for range 20 {
		run(t, c, "SELECT key FROM system.local")
	}
	guesses.Wait()
}

// What is revoked cannot be done any more, by statements that are prepared and texts whose plan is kept as well, and
// in batches. What is granted can be done at once.
func TestRevokedIsEffectiveAtOnce(t *testing.T) {
	s, _ := quiet(t)
	super := connect(t, s, asSuperuser(protocol.V5))
	run(t, super, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY, v text)",
		"CREATE ROLE bob WITH LOGIN = true AND PASSWORD = 'secret'", "CREATE ROLE team", "GRANT team TO bob")
	bob := connect(t, s, client.Options{Version: protocol.V5, Username: "bob", Password: "secret"})
	const lacks = " permission on <table ks.t> or any of its parents"
	read, write := prepare(t, bob, "SELECT v FROM ks.t WHERE k = 1", ""), prepare(t, bob, "INSERT INTO ks.t (k) VALUES (1)", "")
	try := func(want string) {
		t.Helper()
		check := func(err error, permission string) {
			t.Helper()
			switch {
			case want == "" && err != nil:
				t.Error(err)
			case want != "":
				expectError(t, err, cqlerr.Unauthorized, "User bob has no "+permission+lacks)
			}
		}
		_, err := bob.Execute(testContext(t), read, nil, nil)
		check(err, "SELECT")
		_, err = bob.Query(testContext(t), "SELECT v FROM ks.t WHERE k = 1", nil, nil)
		check(err, "SELECT")
		_, err = bob.Execute(testContext(t), write, nil, nil)
		check(err, "MODIFY")
		_, err = bob.Do(testContext(t), &protocol.Batch{Children: []protocol.BatchChild{{Prepared: true, ID: write.ID}}})
		check(err, "MODIFY")
	}
	for _, change := range []struct{ cql, want string }{
		{"LIST ROLES", "refused"},
		{"GRANT SELECT, MODIFY ON ks.t TO team", ""},
		{"REVOKE team FROM bob", "refused"},
		{"GRANT SELECT, MODIFY ON ALL KEYSPACES TO bob", ""},
		{"REVOKE SELECT, MODIFY ON ALL KEYSPACES FROM bob", "refused"},
		{"ALTER ROLE bob WITH SUPERUSER = true", ""},
		{"UPDATE system_auth.roles SET is_superuser = false WHERE role = 'bob'", "refused"},
		{"GRANT team TO bob", ""},
		{"DROP ROLE bob", "refused"},
	} {
		run(t, super, change.cql)
		try(change.want)
	}
}

// PREPARE of statements about roles tells their mistakes and asks for no permission, as Cassandra 5.0.8.
func TestPreparedRoleStatements(t *testing.T) {
	s, _ := quiet(t)
	super := connect(t, s, asSuperuser(protocol.V5))
	run(t, super, "CREATE ROLE alice WITH LOGIN = true AND PASSWORD = 'secret'")
	alice := connect(t, s, client.Options{Version: protocol.V4, Username: "alice", Password: "secret"})
	for _, test := range []struct{ cql, want string }{
		{"CREATE ROLE ''", "Role name can't be an empty string"},
		{"CREATE ROLE alice", "alice already exists"},
		{
			"CREATE ROLE x WITH OPTIONS = {'a': 'b'}",
			"org.apache.cassandra.auth.CassandraRoleManager doesn't support OPTIONS",
		},
		{"ALTER ROLE nope WITH PASSWORD = 'x'", "Role nope doesn't exist"},
		{"DROP ROLE alice", "Cannot DROP primary role for current login"},
		{"DROP ROLE nope", "nope doesn't exist"},
		{"DROP IDENTITY 'x'", "identity 'x' doesn't exist"},
	} {
		_, err := alice.Prepare(testContext(t), test.cql, "")
		expectError(t, err, cqlerr.Invalid, test.want)
	}
	p := prepare(t, alice, "CREATE ROLE x", "")
	_, err := alice.Execute(testContext(t), p, nil, nil)
	expectError(t, err, cqlerr.Unauthorized,
		"User alice does not have sufficient privileges to perform the requested operation")
	if _, err := super.Execute(testContext(t), p, nil, nil); err != nil {
		t.Error(err)
	}
}

// Passwords reach neither errors, nor traces, nor recorded statements, nor the log, with and without mistakes in the
// statements.
func TestNoPasswordIsShown(t *testing.T) {
	logged := &logBuffer{}
	s := cqltest.RunT(t, cqltest.WithAuth(), cqltest.WithStatements(), cqltest.WithControls(),
		cqltest.WithLog(zerolog.New(logged).Level(zerolog.DebugLevel)))
	c := connect(t, s, asSuperuser(protocol.V4))
	run(t, c, createKeyspace, "CREATE TABLE ks.users (id int PRIMARY KEY, name text, password text)")
	const password = "hunter2"
	bound := []types.Value{{Bytes: []byte(password)}}
	check := func(text string, values []types.Value) {
		t.Helper()
		told := ""
		r, err := c.Query(testContext(t), text, values, &client.QueryOptions{Tracing: true})
		if err != nil {
			told = err.Error()
		}
		if r != nil {
			session, activities := traceOf(t, c, r.TracingID)
			told += string(session["parameters"]) + strings.Join(activities, "\n")
		}
		p, err := c.Prepare(testContext(t), text, "")
		if err != nil {
			told += err.Error()
		} else if r, err = c.Execute(testContext(t), p, values, &client.QueryOptions{Tracing: true}); r != nil {
			session, activities := traceOf(t, c, r.TracingID)
			told += string(session["parameters"]) + strings.Join(activities, "\n")
		}
		if err != nil {
			told += err.Error()
		}
		_, err = c.Batch(testContext(t), protocol.LoggedBatch, []protocol.BatchChild{{Query: text, Values: values}}, nil)
		if err != nil {
			told += err.Error()
		}
		if strings.Contains(told, password) {
			t.Errorf("of %s is told %s", text, told)
		}
	}
	for _, text := range []string{
		"CREATE ROLE r WITH Password = 'hunter2'", "ALTER ROLE r WITH HASHED PASSWORD = 'hunter2'",
		"CREATE USER u WITH PASSWORD 'hunter2' NOPE", "CREATE ROLE q WITH PASSWORD = 'hunter2' AND LOGIN",
		"CREATE ROLE q WITH LOGIN = true AND PASSWORD 'hunter2'", "ALTER ROLE q WITH PASSWROD = 'hunter2'",
		"CREATE ROLE q WITH = 'hunter2'", "CREATE ROLE q WITH 'hunter2' = PASSWORD", "ALTER ROLE q WITH PASSWORD = hunter2",
		"CREATE ROLE q\nWITH PASSWORD\n= 'hunter2", "CREATE ROLE q WITH PASSWORD = 'it's hunter2'", "alter user q 'hunter2'",
		"CREATE ROLE nope WITH PASSWORD = 'hunter2' AND OPTIONS = {'hunter2': 1}", "ALTER ROLE nope WITH PASSWORD = 'hunter2'",
		"CREATE ROLE q WITH ACCESS TO DATACENTERS {'dc1'} AND PASSWORD = 'hunter2'", "CREATE ROLE q WITH PASSWORD = $$hunter2$$ 1",
		"BEGIN BATCH CREATE ROLE q WITH PASSWORD = 'hunter2'; APPLY BATCH", "CREATE ROLE q WITH PASSWORD /* hunter2 */ 'hunter2'",
		"CREATE ROLE q; ALTER ROLE q WITH PASSWORD = 'hunter2'", "ALTER KEYSPACE ks WITH PASSWORD = 'hunter2'",
		"ALTER TABLE ks.users WITH PASSWORD 'hunter2'", "GRANT PASSWORD 'hunter2' TO r",
		"INSERT INTO ks.users (id, password) VALUES (1, 'hunter2')", "SELECT * FROM ks.users WHERE password = 'hunter2' nope",
		"UPDATE system_auth.roles SET salted_hash = 'hunter2' WHERE role = 'r'",
	} {
		check(text, nil)
	}
	check("INSERT INTO ks.users (id, password) VALUES (2, ?)", bound)
	check("UPDATE system_auth.roles SET salted_hash = ? WHERE role = 'r'", bound)
	for _, st := range s.Statements() {
		if strings.Contains(st.String(), password) {
			t.Errorf("recorded: %s", st)
		}
	}
	if len(s.Statements()) < 50 {
		t.Errorf("%d statements are recorded", len(s.Statements()))
	}
	recorded := run(t, c, "SELECT statement, error FROM cqld_control.statements")
	for _, row := range recorded.Rows {
		if strings.Contains(string(row[0])+string(row[1]), password) {
			t.Errorf("in the table: %s", row)
		}
	}
	if strings.Contains(logged.String(), password) {
		t.Errorf("logged\n%s", logged)
	}
}

// A password that was right is not hashed again, and not known when it has changed.
func TestChangedPassword(t *testing.T) {
	t.Parallel()
	s, _ := quiet(t)
	c := connect(t, s, asSuperuser(protocol.V4))
	run(t, c, "CREATE ROLE r WITH LOGIN = true AND HASHED PASSWORD = "+
		"'$2a$04$tYchBCZdNELNf0QuAHC/EOnbzZVsWHEbFSvzoCGpXNvjTpZX0Fvkq'")
	login := func(password string) error {
		o := client.Options{Version: protocol.V4, Username: "r", Password: password}
		conn, err := client.Dial(testContext(t), s.Addr(), o)
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := login("x"); err == nil {
		t.Error("a hash of something else fits")
	}
	run(t, c, "UPDATE system_auth.roles SET salted_hash = null WHERE role = 'r'", "ALTER ROLE r WITH PASSWORD = 'first'")
	for range 3 {
		if err := login("first"); err != nil {
			t.Error(err)
		}
	}
	_, err := c.Query(testContext(t), "ALTER ROLE r WITH PASSWORD = 'second'", nil, nil)
	expectError(t, err, cqlerr.Overloaded, "Password for role r can only be changed every 5000ms.")
	run(t, c, "UPDATE system_auth.roles SET salted_hash = null WHERE role = 'r'", "ALTER ROLE r WITH PASSWORD = 'second'")
	if err := login("first"); err == nil {
		t.Error("the old password is right")
	}
	if err := login("second"); err != nil {
		t.Error(err)
	}
	run(t, c, "ALTER ROLE r WITH LOGIN = false")
	expectError(t, login("second"), cqlerr.BadCredentials, "r is not permitted to log in")
}

// A client that waits for the answer to a failed login does not hold up the end of the server.
func TestShutdownDuringLogin(t *testing.T) {
	s, _ := quiet(t)
	c, err := client.Connect(testContext(t), s.Addr(), protocol.V4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(testContext(t), startupMessage); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(testContext(t), 1, 0, nil, &protocol.AuthResponse{Token: []byte("\x00a\x00b")}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := s.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("the server took %v to stop", took)
	}
}
