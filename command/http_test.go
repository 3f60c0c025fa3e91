package command

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/rs/zerolog"
)

// TestHTTP sends a server what clients and web pages send: pages may change nothing, and read nothing by a name that is
// not the server's. There are no profiles unless they are asked for.
func TestHTTP(t *testing.T) {
	log, ended, _ := startServe(t, nil, "--memory", "--test-controls", "--http-host", "db.test, Other.test", "--log-format", "json")
	cql := log.await(t, listening, ended)
	web := log.await(t, `"address":"([^"]+)"`, ended)
	send := func(method, at, path string, headers ...string) (status int, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		r.Host = r.Header.Get("Host")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for name := range answer.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s %q has the header %s", method, path, headers, name)
			}
		}
		return answer.StatusCode, string(text)
	}

	for _, test := range []struct {
		request string
		headers []string
		status  int
	}{
		{"PATCH /control/clock", nil, 200}, // curl
		{"DELETE /control/clock", nil, 204},
		{"PATCH /control/clock", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + web}, 200},
		{"PATCH /control/clock", []string{"Sec-Fetch-Site", "none"}, 200},
		{"PATCH /control/clock", []string{"Origin", "http://" + web}, 200},
		{"PATCH /control/clock", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"PATCH /control/clock", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"DELETE /control/clock", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://" + web}, 403},
		{"PATCH /control/clock", []string{"Origin", "http://127.0.0.1:1"}, 403}, // a browser without Sec-Fetch-Site
		{"PUT /control/snapshots/a", []string{"Origin", "https://evil.example"}, 403},
		{"PUT /control/snapshots/a", []string{"Origin", "null"}, 403},
		{"OPTIONS /control/clock", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "PATCH"}, 405},
		{"POST /control/clock", nil, 405},
		{"GET /control/clock", []string{"Sec-Fetch-Site", "cross-site"}, 200}, // the page cannot read the answer

		{"GET /", nil, 200}, // the console
		{"GET /activity", []string{"Host", "db.test:9180"}, 200},
		{"GET /", []string{"Host", "evil.example"}, 403},
		{"GET /query", []string{"Host", "evil.example", "Sec-Fetch-Site", "same-origin"}, 403},
		{"POST /query", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST /query", []string{"Origin", "https://evil.example"}, 403},
		{"GET /nope", nil, 404},

		{"GET /ready", nil, 200},
		{"GET /health", []string{"Host", "localhost:9180"}, 200},
		{"GET /health", []string{"Host", "LOCALHOST"}, 200},
		{"GET /health", []string{"Host", "10.1.2.3:9180"}, 200}, // behind a port that is forwarded
		{"GET /health", []string{"Host", "[fd00::1]:9180"}, 200},
		{"GET /health", []string{"Host", "[::1]"}, 200},
		{"GET /metrics", []string{"Host", "db.test:9180"}, 200},
		{"GET /metrics", []string{"Host", "other.test"}, 200},
		{"GET /health", []string{"Host", "evil.example"}, 403},
		{"GET /metrics", []string{"Host", "evil.example:9180"}, 403},
		{"GET /health", []string{"Host", "localhost.evil.example"}, 403},
		{"GET /health", []string{"Host", "127.0.0.1.evil.example:9180"}, 403},
		{"PATCH /control/clock", []string{"Host", "evil.example:9180", "Origin", "http://evil.example:9180", "Sec-Fetch-Site", "same-origin"}, 403},

		{"GET /debug/pprof/", nil, 404},
		{"GET /debug/pprof/profile?seconds=1", nil, 404},
		{"GET /debug/pprof/cmdline", nil, 404},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		if status, body := send(method, web, path, test.headers...); status != test.status {
			t.Errorf("%s %q: %d %s, want %d", test.request, test.headers, status, body, test.status)
		}
	}
	if !knownHost("", nil) {
		t.Error("HTTP/1.0 without a host is refused")
	}
	if status, body := send("POST", cql, "/"); status != 400 || !strings.Contains(body, "http://"+web+"/metrics") {
		t.Errorf("the port of CQL answers %d %s", status, body)
	}

	log, ended, _ = startServe(t, nil, "--memory", "--http-pprof", "--log-format", "json")
	web = log.await(t, `"address":"([^"]+)"`, ended)
	if status, body := send("GET", web, "/debug/pprof/cmdline"); status != 200 {
		t.Errorf("/debug/pprof answers %d %s", status, body)
	}
}

// Without logins the console shows no more to a machine than CQL does.
func TestConsoleIsLocal(t *testing.T) {
	st, _, err := openStore(t.Context(), &settings{memory: true}, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := server.New(server.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(t.Context())
	for _, test := range []struct {
		name, listen, from string
		logins, tls        bool
		status             int
	}{
		{"here", "127.0.0.1:0", "127.0.0.1:1", false, false, 200},
		{"here, IPv6", "127.0.0.1:0", "[::1]:1", false, false, 200},
		{"another machine", "127.0.0.1:0", "192.0.2.1:1", false, false, 403},
		{"CQL is public", "0.0.0.0:0", "192.0.2.1:1", false, false, 200},
		{"certificates", "0.0.0.0:0", "127.0.0.1:1", false, true, 403},
		{"logins", "127.0.0.1:0", "192.0.2.1:1", true, true, 303}, // to the form
	} {
		alone, err := net.Listen("tcp", test.listen)
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		s, l := &settings{logins: test.logins}, &listeners{alone: alone}
		if test.tls {
			l.tls, s.certificates.authorities = &server.TLS{}, "ca.pem"
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = test.from
		answer := httptest.NewRecorder()
		s.console(srv, st, nil, control.New(srv, st, nil), l).ServeHTTP(answer, r)
		if answer.Code != test.status {
			t.Errorf("%s: got %d, want %d: %s", test.name, answer.Code, test.status, answer.Body)
		}
	}
}
