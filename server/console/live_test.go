package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/server"
)

// events opens the live page, and returns its next updates until stop is called.
func (s *served) events() (next func() update, stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/activity/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%v, %v", answer, err)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return func() (u update) {
			for lines.Scan() {
				if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
					if err := json.Unmarshal([]byte(text), &u); err != nil {
						s.t.Fatal(err)
					}
					return u
				}
			}
			s.t.Fatalf("the events ended: %v", lines.Err())
			return u
		}, func() {
			cancel()
			_ = answer.Body.Close()
		}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for ends := time.Now().Add(20 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(ends) {
			t.Fatal(what)
		}
	}
}

// TestEvents checks that statements reach a live page without passwords, and that the server has an inspector only
// while a page is live.
func TestEvents(t *testing.T) {
	s := serve(t, nil)
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY, v text)")
	s.want(200, "GET", "/activity", nil, "requests/s", "shop.t", "Histogram", "not", "Clock", "CREATE TABLE")
	if s.server.IsInspected() {
		t.Error("the server has an inspector before a page is live")
	}
	before := s.console.history.sample(time.Now(), s.server.Metrics(), &s.console.own)
	s.want(200, "GET", "/activity", nil)
	s.exec("SELECT * FROM shop.t", "SELECT * FROM shop.t")
	after := s.console.history.sample(time.Now(), s.server.Metrics(), &s.console.own)
	if n := after.Total - before.Total; n != 2 {
		t.Errorf("%d requests were counted, want those of the client alone", n)
	}
	next, stop := s.events()
	other, stopOther := s.events()
	next()
	if u := other(); u.Parts["rates"] == "" || u.Parts["memory"] == "" || u.Parts["latencies"] == "" {
		t.Errorf("the first update has the parts %v", u.Parts)
	}
	if !s.server.IsInspected() {
		t.Error("statements are not recorded")
	}
	s.exec("SELECT * FROM shop.t WHERE k = 7 /* <script> */", "SELECT * FROM shop.t")
	_, _ = s.conn.Query(t.Context(), "CREATE ROLE r WITH PASSWORD = 'secret'", nil, nil) // there are no logins
	rows, hot := "", ""
	for !strings.Contains(rows, "CREATE ROLE") || hot == "" {
		u := next()
		rows = u.Rows + rows
		if strings.Contains(u.Parts["hot"], "shop.t") {
			hot = u.Parts["hot"]
		}
	}
	for _, want := range []string{"k = 7 /* &lt;script&gt; */", "scan", "*******"} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %s in\n%s", want, rows)
		}
	}
	if strings.Contains(rows, "secret") || strings.Contains(rows, "<script>") || strings.Contains(rows, "system_views") {
		t.Error(rows)
	}
	stop()
	s.exec("SELECT * FROM shop.t WHERE k = 8")
	for !strings.Contains(other().Rows, "k = 8") { // one page less does not end the record
	}
	stopOther()
	eventually(t, "the inspector stays", func() bool { return !s.server.IsInspected() })
	if n := len(s.console.o.Controls.Record.Statements()); n != 0 {
		t.Errorf("%d statements are kept", n)
	}
}

// TestEventsOfALoad checks that a live page gets a sample of many statements, and that the server has no inspector in
// between.
func TestEventsOfALoad(t *testing.T) {
	s := serve(t, nil)
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY)")
	next, stop := s.events()
	defer stop()
	next()
	inspected, pauses := true, 0
	eventually(t, "the record does not pause and go on", func() bool {
		for range 100 {
			s.exec("SELECT * FROM shop.t WHERE k = 1")
			if is := s.server.IsInspected(); is != inspected {
				inspected = is
				pauses++
			}
		}
		return pauses >= 2
	})
	for !next().Sampled {
	}
}

// TestLogin logs in and out, as a superuser and as a role without permissions.
func TestLogin(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.Logins, o.Write = true, true })
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY)", "INSERT INTO shop.t (k) VALUES (4711)", "CREATE ROLE weak WITH PASSWORD = 'weak' AND LOGIN = true")
	anonymous := *s.Client()
	anonymous.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{"/": "/login?to=%2F", "/query?text=a": "/login?to=%2Fquery%3Ftext%3Da", "/activity": "/login?to=%2Factivity"} {
		answer, err := anonymous.Get(s.URL + path)
		if err != nil || answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != want {
			t.Errorf("%s: %v, %v", path, answer, err)
		}
		_ = answer.Body.Close()
	}
	for _, path := range []string{"/query", "/query/download", "/query/plan", "/activity/clock"} {
		s.want(401, "POST", path, run("SELECT * FROM shop.t"), "log in first")
	}
	s.want(200, "GET", "/static/style.css", nil)
	s.want(401, "POST", "/login", url.Values{"name": {"weak"}, "password": {"wrong"}}, "incorrect", `value="weak"`, "not", "wrong")
	s.want(401, "POST", "/login", url.Values{}, "A role and its password are needed")

	answer, err := anonymous.PostForm(s.URL+"/login", url.Values{"name": {"weak"}, "password": {"weak"}, "to": {"//evil.example"}})
	if err != nil || answer.Header.Get("Location") != "/" {
		t.Fatalf("%v, %v", answer, err)
	}
	_ = answer.Body.Close()
	if c := answer.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].MaxAge <= 0 || len(c[0].Value) < 32 {
		t.Errorf("the cookies are %v", c)
	}
	s.want(200, "GET", "/", nil, "weak", "Log out")
	s.want(200, "POST", "/query", run("SELECT * FROM shop.t"), "Unauthorized", "User weak has no SELECT permission")
	s.want(403, "POST", "/query/download", run("SELECT * FROM shop.t"), "has no SELECT permission")
	s.want(200, "POST", "/query", run("DROP TABLE shop.t"), "has no DROP permission")
	s.want(200, "GET", "/activity", nil, "Statements are not shown", "requests/s")
	next, stop := s.events()
	next()
	s.exec("SELECT * FROM shop.t WHERE k = 99")
	if u := next(); u.Rows != "" || strings.Contains(u.Parts["hot"], "99") || u.Parts["rates"] == "" {
		t.Errorf("a role without permissions sees %v", u)
	}
	if s.server.IsInspected() {
		t.Error("statements are recorded for a role that may not see them")
	}
	stop()

	table := s.console.o.Store.Catalog().Table("shop", "t")
	s.console.o.Store.Recount(table)
	eventually(t, "the largest partition is not found", func() bool { return s.console.o.Store.Estimate(table).LargestKey != nil })
	s.want(200, "GET", "/?keyspace=shop&table=t", nil, "1 row", "largest partition", "not", "4711")
	s.want(200, "GET", "/activity", nil, "shop.t", "not", "4711")
	s.exec("DROP ROLE weak", "CREATE ROLE weak WITH PASSWORD = 'another' AND LOGIN = true")
	s.want(200, "GET", "/", nil, `type="password"`) // the session has ended
	s.want(200, "POST", "/login", url.Values{"name": {"weak"}, "password": {"another"}}, "Log out")
	s.exec("ALTER ROLE weak WITH LOGIN = false")
	s.want(200, "GET", "/", nil, `type="password"`) // the session has ended
	s.want(200, "POST", "/login", url.Values{"name": {"cassandra"}, "password": {"cassandra"}, "to": {"/query"}}, "cassandra", "Statement")
	s.want(200, "GET", "/?keyspace=shop&table=t", nil, "<bdi>4711</bdi>")
	s.want(200, "GET", "/activity", nil, "<bdi>4711</bdi>")
	s.want(200, "POST", "/query", run("DROP TABLE shop.t"), "Done: ")
	s.want(200, "POST", "/logout", nil, "Log in")
	s.want(401, "POST", "/query", run("DROP KEYSPACE shop"))
}

// TestSessions ends sessions by their age, and the oldest if there are too many.
func TestSessions(t *testing.T) {
	var s sessions
	s.init()
	with := func(c *http.Cookie) *http.Request {
		r, err := http.NewRequest("GET", "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(c)
		return r
	}
	first := s.begin(visitor{name: "a"})
	if v := s.of(with(first)); v == nil || v.name != "a" {
		t.Errorf("the visitor is %v", v)
	}
	for _, one := range s.all {
		one.used = time.Now().Add(-2 * idleTime)
	}
	if s.of(with(first)) != nil || len(s.all) != 0 {
		t.Error("an idle session goes on")
	}
	first = s.begin(visitor{name: "a"})
	for _, one := range s.all {
		one.used = time.Now().Add(-idleTime / 2)
	}
	for range maxSessions {
		s.begin(visitor{name: "b"})
	}
	if len(s.all) != maxRoleSessions+1 || s.of(with(first)) == nil {
		t.Errorf("a role that logs in again and again ends the session of another: there are %d", len(s.all))
	}
	for _, one := range s.all {
		one.used = time.Now().Add(-idleTime / 2)
	}
	s.of(with(first))
	for i := range maxSessions {
		s.begin(visitor{name: fmt.Sprint(i)})
	}
	if len(s.all) != maxSessions {
		t.Errorf("there are %d sessions", len(s.all))
	}
}

// TestStreamsOfARole checks that one role cannot take all live pages of activity.
func TestStreamsOfARole(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.Logins = true })
	s.exec("CREATE ROLE other WITH PASSWORD = 'other' AND LOGIN = true")
	s.want(200, "POST", "/login", url.Values{"name": {"other"}, "password": {"other"}}, "Schema")
	for range maxRoleStreams {
		next, stop := s.events()
		defer stop()
		next()
	}
	s.want(503, "GET", "/activity/events", nil, "Too many pages of activity are open")
	s.want(200, "POST", "/login", url.Values{"name": {"cassandra"}, "password": {"cassandra"}}, "Schema")
	next, stop := s.events()
	next()
	stop()
	eventually(t, "the stream is counted after its end", func() bool { return s.console.streams.used() == maxRoleStreams })
}

// TestDownloadsOfARole checks that visitors who do not read their downloads hold only some rows in memory, and that one
// role leaves places to others.
func TestDownloadsOfARole(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.Logins = true })
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY, v text)", "CREATE ROLE other WITH PASSWORD = 'other' AND LOGIN = true",
		"GRANT SELECT ON shop.t TO other")
	for k := range 64 { // more than the buffers of the sockets
		s.exec(fmt.Sprintf("INSERT INTO shop.t (k, v) VALUES (%d, '%s')", k, strings.Repeat("v", 1<<20)))
	}
	s.want(200, "POST", "/login", url.Values{"name": {"other"}, "password": {"other"}}, "Schema")
	for range maxRoleQueries {
		answer, err := s.Client().PostForm(s.URL+"/query/download", run("SELECT * FROM shop.t"))
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		defer answer.Body.Close()
	}
	s.want(503, "POST", "/query/download", run("SELECT * FROM shop.t"), "Too many queries are running")
	s.want(503, "POST", "/query", run("SELECT k FROM shop.t"), "Too many queries are running")
	s.want(200, "POST", "/login", url.Values{"name": {"cassandra"}, "password": {"cassandra"}}, "Schema")
	s.want(200, "POST", "/query", run("SELECT k FROM shop.t"), "<bdi>63</bdi>")
}

// TestGuessesDelayNobody guesses passwords from one address: the pages of a session send no password, so they wait for
// no hash, and logins from another address take turns with the guesses. The log names the address.
func TestGuessesDelayNobody(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, func(so *server.Options, o *Options) {
		o.Logins, so.BcryptCost, so.Log = true, bcrypt.DefaultCost, zerolog.New(zerolog.SyncWriter(&log))
	})
	login := url.Values{"name": {"cassandra"}, "password": {"cassandra"}}
	s.want(200, "POST", "/login", login, "Schema")
	logins := func() uint64 { return s.server.Metrics().Requests["AUTH_RESPONSE"] }
	before := logins()
	s.want(200, "GET", "/", nil, "Schema")
	s.want(200, "POST", "/query", run("SELECT * FROM system.local"), "Test Cluster")
	if n := logins() - before; n > 0 {
		t.Errorf("two pages of a session have sent the password %d times", n)
	}

	const guessers = 20
	var wrong atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var guessing sync.WaitGroup
	for i := range guessers {
		guessing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				form := url.Values{"name": {"cassandra"}, "password": {fmt.Sprint(i, n)}}
				r := httptest.NewRequestWithContext(ctx, "POST", "/login", strings.NewReader(form.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.RemoteAddr = "192.0.2.1:1234"
				s.console.ServeHTTP(httptest.NewRecorder(), r)
				wrong.Add(1)
			}
		})
	}
	stop := sync.OnceFunc(func() {
		cancel()
		guessing.Wait()
	})
	defer stop()
	eventually(t, "nobody guesses", func() bool { return wrong.Load() >= guessers })
	for what, visit := range map[string]func(){
		"a page":        func() { s.want(200, "GET", "/", nil, "Schema") },
		"another login": func() { s.want(200, "POST", "/login", login, "Schema") },
	} {
		began := wrong.Load()
		if visit(); wrong.Load() >= began+guessers {
			t.Errorf("%s took longer than %d guesses", what, wrong.Load()-began)
		}
	}
	if stop(); !strings.Contains(log.String(), `"client":"192.0.2.1:1234"`) {
		t.Errorf("the log does not name the address:\n%s", log.String())
	}
}

// TestControls moves the clock, and adds faults and changes nodes with the forms.
func TestControls(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.TestControls = true })
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY)")
	form := func(values ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		return v
	}
	s.want(200, "POST", "/activity/clock", form("act", "set", "value", "2031-02-03 04:05:06Z"), "2031-02-03 04:05:06 UTC")
	s.want(200, "POST", "/activity/clock", form("act", "freeze"), "stopped")
	s.want(200, "POST", "/activity/clock", form("act", "advance", "value", "1d"), "2031-02-04 04:05:", " ahead")
	s.want(400, "POST", "/activity/clock", form("act", "advance", "value", "1 = 1; DROP"), "is no duration")
	s.want(400, "POST", "/activity/clock", form("act", "set", "value", "x', frozen = 'y"), "date")
	s.want(200, "POST", "/activity/clock", form("act", "reset"), "not", "2031-02-04")
	s.want(200, "POST", "/activity/faults", form("act", "add", "name", "it's <slow>", "kind", "select", "fault", "overloaded", "times", "1"), "it&#39;s &lt;slow&gt;", "act = &#39;overloaded&#39;")
	s.want(200, "POST", "/query", run("SELECT * FROM shop.t"), "Overloaded")
	s.want(400, "POST", "/activity/faults", form("act", "add", "name", "x", "fault", "nope"), "want one of")
	s.want(200, "POST", "/activity/faults", form("act", "remove", "name", "it's <slow>"), "No faults")
	s.want(400, "POST", "/activity/nodes", form("act", "stop", "number", "1"), "one node alone")
	s.want(400, "POST", "/activity/nodes", form("act", "nope", "number", "1"), "no such button")

	ring := newRing([]nodeView{{Number: 1, Up: true, Tokens: []int64{-1 << 63, 5}}, {Number: 2, Tokens: []int64{1 << 62}}})
	if len(ring.Arcs) != 3 || len(ring.Marks) != 2 || !strings.HasPrefix(ring.Arcs[1].Path, "M120.0 40.0A80 80 0 0 1 120.0 200.0") || ring.Arcs[2].Class != "node n1 down" {
		t.Errorf("%+v", ring)
	}
	if one := newRing([]nodeView{{Number: 1, Up: true, Tokens: []int64{0}}}); !strings.Contains(one.Arcs[0].Path, "0 1 1 ") {
		t.Errorf("%+v", one)
	}
}
