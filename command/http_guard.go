package command

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guardHTTP refuses requests that a web page may have a browser send, as far as they could do harm. names are host
// names of this server.
//
//   - A page whose own host name leads to this server's address (DNS rebinding) may send anything and read the answers.
//     Its requests have that name.
//   - Any other page may send requests, and does not see the answers. So these must change nothing: of what browsers
//     mark as coming from elsewhere, by Sec-Fetch-Site or Origin, only GET, HEAD and OPTIONS are served.
//
// Clients that are no browsers send neither of the two headers.
func guardHTTP(h http.Handler, names []string) http.Handler {
	h = http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !knownHost(r.Host, names) {
			http.Error(w, fmt.Sprintf("%q is not known as a name of this server: see --http-host", r.Host), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knownHost reports whether the host of a request is an IP address, localhost or one of some names. Old clients may
// send none; browsers always do.
func knownHost(host string, names []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	isName := func(name string) bool { return strings.EqualFold(name, host) }
	return host == "" || err == nil || isName("localhost") || slices.ContainsFunc(names, isName)
}

// hostNames are the names in --http-host.
func (s *settings) hostNames() (names []string) {
	for name := range strings.SplitSeq(s.httpHost, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkHTTP refuses flags of HTTP that are wrong, or of no use without --http.
func (s *settings) checkHTTP() error {
	switch {
	case s.httpHost != "" && s.http == "":
		return badFlag("http-host", s.httpHost, "it needs --http")
	case s.httpPprof && s.http == "":
		return badFlag("http-pprof", "true", "it needs --http")
	case strings.ContainsAny(s.httpHost, "/:*"):
		return badFlag("http-host", s.httpHost, "want names of hosts, without ports, and commas between them")
	}
	return nil
}
