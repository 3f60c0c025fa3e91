package server_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
)

// keyspaceFrames is what a client sends to make a keyspace.
func keyspaceFrames(name string) (b []byte) {
	enc := protocol.Encoder{Version: protocol.V4}
	startup := &protocol.Startup{Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.0.0"}}}
	b = enc.AppendRequest(b, 0, 0, nil, startup)
	return enc.AppendRequest(b, 0, 0, nil, queryOf(0,
		"CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", name))
}

// httpAnswer reads the answer to an HTTP request up to the end of the connection, and wants it to be the only one.
func httpAnswer(t *testing.T, conn net.Conn, method string) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("read: %v, after %q", err, all)
	}
	in := bufio.NewReader(bytes.NewReader(all))
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%v in %q", err, all)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusBadRequest || !answer.Close || in.Buffered() > 0 {
		t.Fatalf("%q, error %v", all, err)
	}
	return string(body)
}

// An HTTP client gets one answer, and nothing that stands in its request is run, wherever that is.
func TestHTTPClient(t *testing.T) {
	s := cqltest.RunT(t)
	attack := keyspaceFrames("from_a_page")
	body := make([]byte, 64<<10) // more than is read at a time
	for at := 0; at+len(attack) < len(body); at += 256 {
		copy(body[at:], attack)
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PRI"} {
		t.Run(method, func(t *testing.T) {
			conn := dialRaw(t, s)
			for _, part := range []string{method[:1], method[1:2], method[2:] + " / HTTP/1.1\r\n\r\n" + string(body)} {
				if _, err := conn.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			text := httpAnswer(t, conn, method)
			if speaks := strings.Contains(text, "This port speaks CQL, "); speaks == (method == "HEAD") {
				t.Errorf("the answer is %q", text)
			}
		})
	}
	s.Exec(t, "CREATE KEYSPACE from_a_page WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
}

// Where clients have to encrypt, HTTP is answered without TLS and with it, and CQL without it is not served.
func TestHTTPClientWithTLS(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithTLS())
	plain := dialRaw(t, s)
	trusting := s.TLSConfig()
	trusting.ServerName = "127.0.0.1"
	secure := tls.Client(dialRaw(t, s), trusting)
	for name, conn := range map[string]net.Conn{"plain": plain, "secure": secure} {
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\n\r\n"+string(keyspaceFrames("ks"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text := httpAnswer(t, conn, "POST"); !strings.Contains(text, "This port speaks CQL over TLS, ") {
			t.Errorf("%s: the answer is %q", name, text)
		}
	}
	cql := dialRaw(t, s)
	if _, err := cql.Write(keyspaceFrames("ks")); err != nil {
		t.Fatal(err)
	}
	cql.expectClosed()
	s.Exec(t, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
}
