package server

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// errNotCQL ends a connection on which something other than CQL arrives.
var errNotCQL = fmt.Errorf("%w: it does not speak CQL", errHangUp)

// refuseBytes closes a connection whose next bytes are not an envelope of a supported version. The start of the next
// envelope is unknown, and guessing would be dangerous: a web page can make a browser send HTTP requests and TLS
// handshakes to this port, and choose some of their bytes. HTTP clients get an HTTP response, others get err.
//
// It returns nil if b is too short to tell.
func (c *conn) refuseBytes(b []byte, err *protocol.HeaderError) error {
	if c.session.version == 0 {
		method, partial := httpMethod(b)
		if partial {
			return nil
		}
		if method != "" {
			c.answerHTTP(method)
			return errNotCQL
		}
	}
	c.refuseHeader(err.Version, err.Stream, err)
	return errNotCQL
}

// httpMethods are what HTTP requests begin with. PRI begins a connection of HTTP/2.
var httpMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace, "PRI",
}

// httpMethod returns the method of the HTTP request that b begins with; "": there is none. partial reports that b may
// be the beginning of one.
func httpMethod(b []byte) (method string, partial bool) {
	word, _, whole := bytes.Cut(b[:min(len(b), len("OPTIONS "))], []byte(" "))
	for _, m := range httpMethods {
		if whole && m == string(word) {
			return m, false
		}
		partial = partial || !whole && strings.HasPrefix(m, string(word))
	}
	return "", partial
}

// answerHTTP tells an HTTP client what this port is for.
func (c *conn) answerHTTP(method string) {
	speaks := "CQL"
	if t := c.server.tls; t != nil && !t.Optional {
		speaks = "CQL over TLS"
	}
	text := fmt.Sprintf("This port speaks %s, the protocol of Apache Cassandra, and not HTTP.\n"+
		"Connect to it with cqlsh or a Cassandra driver.\n", speaks)
	if at := c.server.http; at.IsValid() {
		if at.Addr().IsUnspecified() { // as [::]
			at = netip.AddrPortFrom(c.local.Addr(), at.Port())
		}
		text += fmt.Sprintf("Metrics are at http://%s/metrics.\n", at)
	}
	answer := fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(text))
	if method != http.MethodHead {
		answer += text
	}
	if c.out.encode(0, func(buf []byte) []byte { return append(buf, answer...) }) {
		go c.out.soon()
	}
}
