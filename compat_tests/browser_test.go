package compat_tests

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
)

// attackingPage sends CQL frames to a port by every means that a page has: requests whose body it chooses, a form, and
// a WebSocket. It reports to its own server when all of these have ended.
const attackingPage = `<!doctype html>
<form method="post" enctype="text/plain" target="answer"><textarea></textarea></form>
<iframe name="answer"></iframe>
<script>
const text = atob(%q), target = %q
const frames = Uint8Array.from(text, c => c.charCodeAt(0))

function post() {
	const body = new Uint8Array(8000) // too long to be sent in one piece with the headers
	body.set(frames)
	return fetch("http://" + target, {method: "POST", mode: "no-cors", body}).catch(() => {})
}

function socket() {
	return new Promise(end => {
		const socket = new WebSocket("ws://" + target)
		socket.onopen = () => socket.send(frames)
		socket.onclose = end
	})
}

function form() {
	return new Promise(end => {
		document.querySelector("iframe").onload = end
		const form = document.querySelector("form")
		form.action = "http://" + target
		form.firstChild.name = text
		form.submit()
	})
}

(async () => {
	for (let i = 0; i < 10; i++) await post()
	await socket()
	await form()
	await fetch("/done", {method: "POST"})
})()
</script>
`

// TestBrowser opens a page in Chromium that attacks a server: no request of the page is executed. A second server
// receives the raw bytes, to check that the page sends frames.
func TestBrowser(t *testing.T) {
	browser := chromium(t)
	s := cqltest.RunT(t)
	before := inside.Of(s).Metrics().ConnectionsAccepted

	var mu sync.Mutex
	var received []byte
	witness := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a partial body counts
		mu.Lock()
		defer mu.Unlock()
		received = append(received, body...)
	}))
	defer witness.Close()

	frames := framesOf("CREATE KEYSPACE from_a_page WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for _, target := range []string{strings.TrimPrefix(witness.URL, "http://"), s.Addr()} {
		open(t, browser, fmt.Sprintf(attackingPage, base64.StdEncoding.EncodeToString(frames), target))
	}
	mu.Lock()
	defer mu.Unlock()
	if n := bytes.Count(received, frames); n < 11 {
		t.Errorf("the page has sent the frames %d times in requests", n)
	}
	if n := inside.Of(s).Metrics().ConnectionsAccepted - before; n < 12 {
		t.Errorf("the browser has connected %d times", n)
	}
	s.Exec(t, "CREATE KEYSPACE from_a_page WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
}

// framesOf are the frames of a client that runs a statement.
func framesOf(statement string) (b []byte) {
	enc := protocol.Encoder{Version: protocol.V4}
	startup := &protocol.Startup{Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.0.0"}}}
	query := &protocol.Query{Query: statement, Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
	return enc.AppendRequest(enc.AppendRequest(b, 0, 0, nil, startup), 0, 0, nil, query)
}

// chromium finds the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium: apt-get install chromium")
	return ""
}

// open opens a page and waits until it reports that it is done.
func open(t *testing.T, browser, page string) {
	t.Helper()
	done := make(chan struct{})
	pages := http.NewServeMux()
	pages.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	pages.HandleFunc("POST /done", func(http.ResponseWriter, *http.Request) { close(done) })
	s := httptest.NewServer(pages)
	defer s.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--user-data-dir=" + t.TempDir()}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // it refuses to have one as root
	}
	cmd := exec.CommandContext(ctx, browser, append(args, "--remote-debugging-port=0", s.URL)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	select {
	case <-done:
		cancel()
		<-ended
	case err := <-ended:
		t.Fatalf("%s: %v\n%s", browser, err, &said)
	}
}
