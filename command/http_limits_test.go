package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
)

// serveWeb serves HTTP with limits, beside a server in memory.
func serveWeb(t *testing.T, change func(*httpLimits, *server.Options)) (*web, *server.Server) {
	t.Helper()
	s := &settings{memory: true}
	st, _, err := openStore(t.Context(), s, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	w, err := listenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Store: st, Limits: server.Limits{Memory: 8 << 20}}
	change(&w.limits, &o)
	srv, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages := s.console(srv, st, nil, control.New(srv, st, nil), &listeners{alone: alone})
	w.serve(s, srv, st, nil, pages, nil, zerolog.Nop())
	w.serving(true)
	t.Cleanup(func() { closeWeb(t, w, srv, st, alone) })
	return w, srv
}

func closeWeb(t *testing.T, w *web, srv *server.Server, st *store.Store, alone net.Listener) {
	w.close()
	_ = alone.Close()
	if err := errors.Join(srv.Shutdown(t.Context()), st.Close()); err != nil && t.Context().Err() == nil {
		t.Error(err)
	}
}

// dial opens a connection and sends a text.
func (w *web) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", w.address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// ends fails the test unless the server ends a connection, and returns the bytes sent before.
func ends(t *testing.T, what string, c net.Conn) string {
	t.Helper()
	text, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the server keeps the connection", what)
	}
	return string(text)
}

const postQuery = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"

// TestHTTPTimeouts checks that clients that stop sending or reading lose their connections, and that a live page does
// not.
func TestHTTPTimeouts(t *testing.T) {
	const short = 100 * time.Millisecond
	w, _ := serveWeb(t, func(l *httpLimits, _ *server.Options) { l.header, l.body, l.read, l.idle = short, short, short, short })
	live := w.dial(t, "GET /activity/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	began := time.Now()
	for what, request := range map[string]string{
		"nothing":                      "",
		"half a header":                "GET /health HTTP/1.1\r\nHost: loc",
		"no body":                      postQuery + "Content-Length: 1000\r\n\r\n",
		"half a body":                  postQuery + "Content-Length: 1000\r\n\r\ntext=",
		"a chunked body without end":   postQuery + "Transfer-Encoding: chunked\r\n\r\n5\r\ntext=\r\n",
		"a body that nobody asked for": "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nab",
		"an idle connection":           "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		answer := ends(t, what, w.dial(t, request))
		if strings.HasPrefix(request, "POST") && !strings.HasPrefix(answer, "HTTP/1.1 408 ") {
			t.Errorf("%s: the answer is %s", what, answer)
		}
	}

	// A response longer than the buffers of the sockets, for a client that does not read it.
	c := w.dial(t, strings.Repeat("GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000))
	defer c.Close()
	eventually(t, "a client that does not read keeps its connection", func() bool { return w.open() <= 1 })

	// One that reads a little now and then, so that each write succeeds.
	slow := w.dial(t, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000))
	eventually(t, "a client that hardly reads keeps its connection", func() bool {
		_, _ = slow.Read(make([]byte, 100))
		return w.open() <= 1
	})

	events := bufio.NewReader(live)
	for time.Since(began) < 5*short { // longer than each of the limits
		if _, err := events.ReadString('\n'); err != nil {
			t.Fatalf("the live page has ended: %v", err)
		}
	}
}

// open is how many connections are open.
func (w *web) open() int {
	w.connections.mu.Lock()
	defer w.connections.mu.Unlock()
	return len(w.connections.open)
}

// TestHTTPConnections checks that idle connections cannot lock others out: the oldest idle one is closed, a live page
// is not.
func TestHTTPConnections(t *testing.T) {
	const most = 10
	w, _ := serveWeb(t, func(l *httpLimits, _ *server.Options) { l.connections = most })
	live := bufio.NewReader(w.dial(t, "GET /activity/events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	if _, err := live.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	first := w.dial(t, "")
	var all []net.Conn
	for range 3 * most {
		all = append(all, w.dial(t, postQuery+"Content-Length: 1000\r\n\r\ntext="))
	}
	ends(t, "the oldest", first)
	answer, err := http.Get(fmt.Sprintf("http://%s/health", w.address()))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("/health: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	if n := w.open(); n > most {
		t.Errorf("%d connections are open", n)
	}
	for range 10 {
		if _, err := live.ReadString('\n'); err != nil {
			t.Fatalf("the live page has ended: %v", err)
		}
	}
	for _, c := range all {
		_ = c.Close()
	}
}

// TestHTTPUnreadBodies checks that a response does not wait for a body that is not read, or that the client sends only
// when it is asked to.
func TestHTTPUnreadBodies(t *testing.T) {
	w, _ := serveWeb(t, func(l *httpLimits, _ *server.Options) { l.body = time.Hour })
	for request, want := range map[string]string{
		"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n":                      "HTTP/1.1 4",
		"POST /health HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n": "HTTP/1.1 4",
		postQuery + "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n":                                 "HTTP/1.1 100",
	} {
		if line, err := bufio.NewReader(w.dial(t, request)).ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("%s: %s, %v", request, line, err)
		}
	}
}

// TestHTTPBodies sends long bodies whose last byte is missing: only as many of them are read as the memory for HTTP
// has room for, and a short one is served meanwhile.
func TestHTTPBodies(t *testing.T) {
	w, srv := serveWeb(t, func(_ *httpLimits, o *server.Options) { o.Limits.Memory = 16 << 20 })
	const size = 2 << 20
	head := postQuery + fmt.Sprintf("Content-Length: %d\r\n\r\n", size)
	body := "text=" + strings.Repeat(" ", size-6)
	for range 20 {
		c := w.dial(t, head)
		go func() { _, _ = io.WriteString(c, body) }() // until the test closes it
	}
	limit := int64(2 << 20) // an eighth of the memory; one claim may exceed it
	eventually(t, "no body has arrived", func() bool { return srv.Metrics().BytesHTTP >= limit })
	answer, err := http.Post(fmt.Sprintf("http://%s/query", w.address()), "application/x-www-form-urlencoded",
		strings.NewReader("text=SELECT+release_version+FROM+system.local"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "release_version") {
		t.Errorf("a short body: %v, %s", err, text)
	}
	if n := srv.Metrics().BytesHTTP; n > limit+bodyCopies*size {
		t.Errorf("the bodies take %d bytes", n)
	}
}

// TestHTTPFiles sends a file to the form of the login, which needs no login: net/http writes such files to the disk, as
// long as they come.
func TestHTTPFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	w, _ := serveWeb(t, func(*httpLimits, *server.Options) {})
	const size = 48 << 20 // more than net/http keeps in memory
	head := "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n"
	c := w.dial(t, fmt.Sprintf("GET /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(head)+size+len("\r\n--x--\r\n"), head))
	go func() { // until the server closes the connection
		for range size >> 20 {
			_, _ = c.Write(make([]byte, 1<<20))
		}
		_, _ = io.WriteString(c, "\r\n--x--\r\n")
	}()
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 303 ") {
		t.Errorf("the answer is %s, %v", line, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files: %v, %v", left, err)
	}
}

// TestHTTPPlaces asks for responses that are longer than the buffers of sockets, and reads none of them: only some are
// made at a time, others are refused meanwhile, and are served when those who do not read have lost their connections.
func TestHTTPPlaces(t *testing.T) {
	w, srv := serveWeb(t, func(l *httpLimits, _ *server.Options) { l.place = 50 * time.Millisecond })
	var made atomic.Int32
	long := make([]byte, 32<<20)
	h := boundHTTP(atATime(2, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			made.Add(1)
			_, _ = rw.Write(long)
			made.Add(-1)
		}
	})), srv)
	w.handler.Store(&h)
	var all []net.Conn
	for range 10 {
		all = append(all, w.dial(t, "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	short := "GET /short HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	eventually(t, "no long responses are made", func() bool { return made.Load() > 0 })
	eventually(t, "nobody is refused", func() bool {
		return strings.HasPrefix(ends(t, "a request", w.dial(t, short)), "HTTP/1.1 503 ")
	})
	if n := made.Load(); n > 2 {
		t.Errorf("%d responses are made at a time", n)
	}
	for _, c := range all {
		_ = c.Close()
	}
	eventually(t, "a place is not given back", func() bool {
		return strings.HasPrefix(ends(t, "a request", w.dial(t, short)), "HTTP/1.1 200 ")
	})
}

// TestHTTPHurry reads a long response slowly but steadily: it must not hold its place for longer than the limit.
func TestHTTPHurry(t *testing.T) {
	w, srv := serveWeb(t, func(l *httpLimits, _ *server.Options) { l.read = 300 * time.Millisecond })
	ended := make(chan error, 1)
	h := boundHTTP(atATime(1, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, err := rw.Write(make([]byte, 64<<20))
		ended <- err
	})), srv)
	w.handler.Store(&h)
	c := w.dial(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	eventually(t, "the response does not end", func() bool {
		_, _ = io.CopyN(io.Discard, c, 4*httpChunk) // enough for more patience, were it not hurried
		return len(ended) > 0
	})
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the response ends with %v", err)
	}
}
