package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// served is a console with its server, and a browser.
type served struct {
	*httptest.Server
	t       *testing.T
	server  *server.Server
	console *Console
	conn    *client.Conn // of a client
}

// serve starts a server in memory with its console. change may change its options.
func serve(t *testing.T, change func(*server.Options, *Options)) *served {
	t.Helper()
	clock := control.NewClock(nil)
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil },
		System: append(server.SystemKeyspaces(), control.Keyspace()), Now: clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	so, o := server.Options{Store: st, BcryptCost: bcrypt.MinCost}, Options{Store: st}
	if change != nil {
		change(&so, &o)
	}
	so.Logins = o.Logins
	srv, err := server.New(so)
	if err != nil {
		t.Fatal(err)
	}
	o.Server, o.Controls = srv, control.New(srv, st, clock)
	if o.TestControls {
		o.Controls.Register()
	}
	s := &served{t: t, server: srv, console: New(o)}
	s.Server = httptest.NewServer(s.console)
	s.Client().Jar, err = cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Client().Timeout = time.Minute
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		if err := srv.Shutdown(context.Background()); err != nil { // the test's own context has ended
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	v := &visitor{}
	if o.Logins {
		if v.login, err = srv.Login(t.Context(), netip.AddrPort{}, "cassandra", "cassandra"); err != nil {
			t.Fatal(err)
		}
	}
	if s.conn, err = s.console.connect(t.Context(), netip.AddrPort{}, v, "a test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	return s
}

// exec runs statements as a client.
func (s *served) exec(statements ...string) {
	s.t.Helper()
	for _, text := range statements {
		if _, err := s.conn.Query(s.t.Context(), text, nil, nil); err != nil {
			s.t.Fatalf("%s: %v", text, err)
		}
	}
}

// send sends a request with headers, and returns the response and its body.
func (s *served) send(method, path string, form url.Values, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(body)
}

// want sends a request, and fails the test unless the body has all texts, and none of those after "not".
func (s *served) want(status int, method, path string, form url.Values, texts ...string) string {
	s.t.Helper()
	answer, body := s.send(method, path, form)
	if answer.StatusCode != status {
		s.t.Errorf("%s %s %v: status %d, want %d\n%s", method, path, form, answer.StatusCode, status, body)
	}
	not := false
	for _, text := range texts {
		if text == "not" {
			not = true
		} else if strings.Contains(body, text) == not {
			s.t.Errorf("%s %s %v: contains %q is %t\n%s", method, path, form, text, !not, body)
		}
	}
	return body
}

const keyspace = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"

func TestSchema(t *testing.T) {
	s := serve(t, nil)
	s.want(200, "GET", "/", nil, "There are no keyspaces but the system")
	s.exec(keyspace, "CREATE TABLE shop.orders (customer text, day date, id int, note text, "+
		"PRIMARY KEY ((customer), day, id)) WITH CLUSTERING ORDER BY (day DESC, id ASC) AND comment = 'of all <days>'",
		"CREATE INDEX notes ON shop.orders (note)", "INSERT INTO shop.orders (customer, day, id) VALUES ('anna', '2020-01-01', 1)",
		"CREATE TABLE shop.totals (customer text, id int, total decimal static, PRIMARY KEY (customer, id))",
		"CREATE MATERIALIZED VIEW shop.by_day AS SELECT * FROM shop.orders WHERE customer IS NOT NULL AND day IS NOT NULL AND "+
			"id IS NOT NULL PRIMARY KEY (day, customer, id)")
	s.want(200, "GET", "/", nil, "shop", "SimpleStrategy, factor 3", "orders", "view of", `class="partition_key"`, "clustering desc", "notes")
	s.want(200, "GET", "/?keyspace=shop&table=orders", nil, "of all &lt;days&gt;", "CREATE TABLE shop.orders", "1 row", "not", "of all <days>")
	s.want(200, "GET", "/?keyspace=shop&table=totals", nil, `<span class="kind">static</span>`)
	s.want(200, "GET", "/?keyspace=shop&table=by_day", nil, "CREATE MATERIALIZED VIEW shop.by_day", "view of")
	s.want(200, "GET", "/?keyspace=system_views&table=clients", nil, "client_options", "frozen")
	s.want(200, "GET", "/?keyspace=system_schema", nil, "keyspaces")
	s.exec("CREATE KEYSPACE many WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for i := range maxWhole + 1 {
		s.exec(fmt.Sprintf("CREATE TABLE many.t%d (k int PRIMARY KEY)", i))
	}
	s.want(200, "GET", "/?keyspace=many", nil, "t60", "61 tables", "not", `class="partition_key"`, "CREATE TABLE")
	s.want(404, "GET", "/?keyspace=nope", nil, "There is no keyspace nope")
	s.want(404, "GET", "/?keyspace=shop&table=nope", nil, "There is no table nope")
	s.want(404, "GET", "/nope", nil)
	s.want(200, "GET", "/query/names", nil, `"orders":["customer","day"`)
}

// TestHeaders checks the headers of every kind of response.
func TestHeaders(t *testing.T) {
	s := serve(t, nil)
	for _, path := range []string{"/", "/query", "/activity", "/nope", "/static/style.css", "/?keyspace=nope", "/query/names"} {
		answer, body := s.send("GET", path, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
				"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			"Access-Control-Allow-Origin": "",
		} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		for _, inline := range []string{"<script>", " style=", " onclick=", "<style", "http://", "https://"} {
			if strings.Contains(body, inline) && path != "/static/style.css" {
				t.Errorf("%s has %s", path, inline)
			}
		}
	}
}

// TestOrigins sends what pages of other origins can make a browser send.
func TestOrigins(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.Write, o.TestControls = true, true })
	s.exec(keyspace)
	form := url.Values{"text": {"DROP KEYSPACE shop"}, "act": {"run"}}
	for _, test := range []struct {
		request string
		headers []string
		status  int
	}{
		{"POST /query", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST /query", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST /query", []string{"Origin", "https://evil.example"}, 403},
		{"POST /query", []string{"Origin", "null"}, 403},
		{"POST /query/download", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST /activity/clock", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST /logout", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET /activity/events", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"GET /query/names", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"GET /activity", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"GET /activity", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"POST /query", []string{"Sec-Fetch-Site", "same-origin"}, 200},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		if test.status == 200 && method == "POST" {
			s.want(200, "GET", "/", nil, "shop") // it is still there
		}
		if answer, body := s.send(method, path, form, test.headers...); answer.StatusCode != test.status {
			t.Errorf("%s %q: %d, want %d\n%s", test.request, test.headers, answer.StatusCode, test.status, body)
		}
	}
	s.want(200, "GET", "/", nil, "There are no keyspaces")
	if answer, _ := s.send("GET", "/query?text=DROP+KEYSPACE+system&act=run", nil); answer.StatusCode != 200 || s.server.IsInspected() != true {
		t.Error("a link runs a statement, or --test-controls does not record")
	}
}

func run(text string, more ...string) url.Values {
	form := url.Values{"text": {text}, "act": {"run"}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// TestReadOnly runs reads, and refuses all else.
func TestReadOnly(t *testing.T) {
	s := serve(t, nil)
	s.exec(keyspace, "CREATE TABLE shop.t (k int PRIMARY KEY, v text)", "INSERT INTO shop.t (k, v) VALUES (1, 'kept')")
	for _, text := range []string{
		"INSERT INTO shop.t (k) VALUES (2)", "/* SELECT */ DELETE FROM shop.t WHERE k = 1", "-- SELECT\nTRUNCATE shop.t",
		"BEGIN BATCH INSERT INTO shop.t (k) VALUES (2); APPLY BATCH", "DROP TABLE shop.t", "CREATE ROLE r", "LIST ROLES",
		"UPDATE shop.t SET v = 'SELECT' WHERE k = 1", "GRANT SELECT ON shop.t TO r",
	} {
		s.want(200, "POST", "/query", run(text), "This console is read-only")
		s.want(403, "POST", "/query/download", run(text), "This console is read-only")
	}
	s.want(200, "POST", "/query", run("USE shop"), "Choose the keyspace")
	s.want(200, "POST", "/query", run("SELECT * FROM shop.t; DROP TABLE shop.t"), "Syntax error")
	s.want(200, "POST", "/query", run("SELECT v FROM t WHERE k = 1;", "keyspace", "shop"), "kept", "<dd>1</dd>", "one row each")
	s.want(200, "POST", "/query", run("DESCRIBE TABLE shop.t"), "CREATE TABLE shop.t")
	s.want(200, "POST", "/query", run("SELECT *\nFROM shop.t WHERE k ! 1"), "Syntax error", `<span class="muted">2</span>  FROM shop.t WHERE k !<mark> </mark>1`)
	s.want(200, "POST", "/query", run("SELECT nope FROM shop.t"), "Invalid", "Undefined column name nope")
	s.want(200, "POST", "/query", run("SELECT * FROM shop.t WHERE v = 'a'", "act", "plan"), "every partition of the table is read",
		"ALLOW FILTERING", "not", "<table class=\"rows\"", "Invalid")
	s.want(200, "POST", "/query/plan", run("SELECT * FROM shop.t"), "every partition", "not", "<html")

	writes := serve(t, func(_ *server.Options, o *Options) { o.Write = true })
	writes.exec(keyspace)
	writes.want(200, "POST", "/query", run("CREATE TABLE shop.u (k int PRIMARY KEY)"), "Done: ")
	writes.want(200, "POST", "/query", run("INSERT INTO shop.u (k) VALUES (1)"), "Done.")
	writes.want(200, "POST", "/query", run("USE shop"), "Choose the keyspace")
	writes.want(200, "POST", "/query", run("INSERT INTO shop.u (k) VALUES (1) IF NOT EXISTS"), "[applied]", "false")
}

// TestRows shows pages of rows, edits and downloads.
func TestRows(t *testing.T) {
	s := serve(t, nil)
	s.exec(keyspace, "CREATE TABLE shop.t (k text, c int, s text static, v text, b blob, l list<int>, PRIMARY KEY (k, c))")
	for i := range 45 {
		s.exec(fmt.Sprintf("INSERT INTO shop.t (k, c, v, s) VALUES ('o''k', %d, 'row %[1]d', 'one')", i))
	}
	text := "SELECT * FROM shop.t"
	body := s.want(200, "POST", "/query", run(text, "size", "20"), "Rows 1 to 20, and more", "row 19", `data-table="shop.t"`,
		`data-where="k = &#39;o&#39;&#39;k&#39; AND c = 7"`, `data-partition="k = &#39;o&#39;&#39;k&#39;"`, `data-column="v"`, "not", "row 20", `data-column="c"`)
	_, next, _ := strings.Cut(body, `name="next" value="`)
	next, _, _ = strings.Cut(next, `"`)
	s.want(200, "POST", "/query", run(text, "size", "20", "next", next), "Rows 21 to 40, and more", "row 20", "not", "row 19")
	s.want(200, "POST", "/query", run(text+" LIMIT 9", "size", "20", "next", next), "belongs to another statement")
	forged := map[bool]string{true: "B", false: "A"}[next[0] == 'A'] + next[1:]
	s.want(200, "POST", "/query", run(text, "size", "20", "next", forged), "belongs to another statement")
	for _, q := range []string{"SELECT v FROM shop.t", "SELECT k, c, v AS s FROM shop.t", "SELECT k, c, max(c) FROM shop.t", "SELECT DISTINCT k FROM shop.t"} {
		s.want(200, "POST", "/query", run(q), "not", "data-table", "data-where")
	}

	s.exec("TRUNCATE shop.t", `INSERT INTO shop.t (k, c, s, v, b, l) VALUES ('a', 1, '"', 'x,y', 0xcafe, [1, 2])`, "INSERT INTO shop.t (k, c) VALUES ('b', 2)")
	answer, body := s.send("POST", "/query/download", run(text, "format", "csv"))
	if want := "k,c,s,b,l,v\n" + `a,1,"""",0xcafe,"[1, 2]","x,y"` + "\nb,2,,,,\n"; body != want || answer.Header.Get("Content-Disposition") != `attachment; filename="rows.csv"` {
		t.Errorf("%s\n%v", body, answer.Header)
	}
	if _, body = s.send("POST", "/query/download", run(text, "format", "json")); body != "[\n"+
		`{"k":"a","c":1,"s":"\"","b":"0xcafe","l":[1, 2],"v":"x,y"},`+"\n"+`{"k":"b","c":2,"s":null,"b":null,"l":null,"v":null}`+"\n]\n" {
		t.Error(body)
	}
	s.want(400, "POST", "/query/download", run("SELECT nope FROM shop.t", "format", "csv"), "Undefined column name")
	s.want(200, "POST", "/query", run("SELECT * FROM shop.t WHERE k = 'a'", "trace", "on"), "Timeline", "<rect class=\"step\"", "Parsing SELECT")
}

// TestHostileCells checks that no value becomes markup, and that a huge one is cut.
func TestHostileCells(t *testing.T) {
	s := serve(t, nil)
	const hostile = `</bdi><script>alert(1)</script><img src=x onerror=alert(1)> "'` + "\u202e\u0000" + ` {{.}}`
	s.exec(keyspace, `CREATE TABLE shop.t (k int PRIMARY KEY, "<i>""v" text, b blob)`)
	insert := `INSERT INTO shop.t (k, "<i>""v", b) VALUES (?, ?, ?)`
	huge := make([]byte, 3<<20)
	for k, v := range []string{hostile, strings.Repeat("é", 5<<20)} {
		_, err := s.conn.Query(t.Context(), insert, []types.Value{{Bytes: []byte{0, 0, 0, byte(k)}}, {Bytes: []byte(v)}, {Bytes: huge}}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	body := s.want(200, "POST", "/query", run(`SELECT * FROM shop.t`), "&lt;/bdi&gt;&lt;script&gt;", "10485760 bytes", "3145728 bytes",
		"0x0000", "&lt;i&gt;", "<bdi>", "not", "<script>alert", "<img src=x", "<i>")
	if len(body) > 40_000 {
		t.Errorf("the page has %d bytes", len(body))
	}
	s.want(200, "GET", "/?keyspace=shop", nil, "&lt;i&gt;", "not", "<i>")
	s.want(200, "GET", "/query?text=%3C/textarea%3E%3Cscript%3Ealert(1)%3C/script%3E", nil, "&lt;/textarea&gt;", "not", "<script>alert")
	s.want(404, "GET", "/?keyspace=%3Cscript%3E", nil, "&lt;script&gt;", "not", "<script>")
	s.want(200, "POST", "/query", run("SELECT '<script>' FROM shop"), "&lt;script&gt;", "not", "<script>'")
}

// TestLongRows reads rows whose values would be a page of 20 MB: it is made in memory, for some visitors at a time.
func TestLongRows(t *testing.T) {
	s := serve(t, nil)
	s.exec(keyspace, "CREATE TABLE shop.t (k int, c int, v text, PRIMARY KEY (k, c))")
	for i := range 1000 {
		s.exec(fmt.Sprintf("INSERT INTO shop.t (k, c, v) VALUES (1, %d, '%s')", i, strings.Repeat("<", 2000)))
	}
	body := s.want(200, "POST", "/query", run("SELECT * FROM shop.t", "size", "1000"), "Rows 1 to 1000", "2000 bytes",
		strings.Repeat("&lt;", 2000), `data-where="k = 1 AND c = 999"`)
	if len(body) > 8*maxRows {
		t.Errorf("the page has %d bytes", len(body))
	}
}

// TestAdvisor shows a finding with its evidence and a better table, and the diagram with the query that was recorded.
func TestAdvisor(t *testing.T) {
	s := serve(t, func(_ *server.Options, o *Options) { o.TestControls = true })
	s.exec(keyspace, "CREATE TABLE shop.orders (id int PRIMARY KEY, status text)", "INSERT INTO shop.orders (id, status) VALUES (1, 'a')")
	for range 5 {
		s.exec("SELECT * FROM shop.orders WHERE status = '<b>' ALLOW FILTERING")
	}
	s.want(200, "GET", "/advisor?keyspace=shop", nil, "shop.orders", "6 recorded statements", "CREATE TABLE", "Put into the editor", "Why", "not", "<b>&")
	s.want(200, "GET", "/diagram.svg?keyspace=shop&seen=1", nil, "<svg", "orders", "×5", "not", "<script")
	if answer, _ := s.send("GET", "/diagram.svg?keyspace=shop", nil); answer.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.Contains(answer.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the diagram has %v", answer.Header)
	}
}
