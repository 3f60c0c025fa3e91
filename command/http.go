package command

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// web is the HTTP side: health, metrics, profiles and controls. A nil *web is one that is off.
type web struct {
	listener net.Listener
	server   *http.Server // nil: it does not serve yet
	store    *store.Store
	reach    *reach // of the store's engine, or nil
	up       atomic.Bool
	done     chan struct{} // closed when it serves no more
}

// listenHTTP opens an address for HTTP; "" is off.
func listenHTTP(addr string) (*web, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	return &web{listener: l, done: make(chan struct{})}, nil
}

// address is where HTTP is served; the zero value is nowhere.
func (w *web) address() netip.AddrPort {
	if w == nil {
		return netip.AddrPort{}
	}
	return w.listener.Addr().(*net.TCPAddr).AddrPort()
}

// serve begins to serve. controls serves what is below /control/; nil: nothing is.
func (w *web) serve(
	s *settings, srv *server.Server, st *store.Store, onDisk *disk.Engine, controls http.Handler, log zerolog.Logger,
) {
	if w == nil {
		return
	}
	w.store = st
	if s.calls != nil {
		w.reach = s.calls.reach
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.health)
	mux.HandleFunc("GET /ready", w.ready)
	mux.Handle("GET /metrics", metricsHandler(srv, st, onDisk, s.calls))
	if controls != nil {
		mux.Handle("/control/", controls)
	}
	if s.httpPprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	w.server = &http.Server{Handler: guardHTTP(mux, s.hostNames()), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(&sparing{w.listener, log}); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("serving HTTP failed")
		}
	}()
	log.Info().Stringer("address", w.listener.Addr()).Msg("serving health and metrics over HTTP")
}

// serving says whether clients are served.
func (w *web) serving(yes bool) {
	if w != nil {
		w.up.Store(yes)
	}
}

// close ends the HTTP side at once.
func (w *web) close() {
	switch {
	case w == nil:
	case w.server == nil:
		_ = w.listener.Close()
	default:
		_ = w.server.Close() // closes connections; there is nothing to do about one that fails to
		<-w.done
	}
}

// health answers whether the process serves clients at all, for whoever would restart it otherwise.
func (w *web) health(rw http.ResponseWriter, _ *http.Request) {
	if !w.up.Load() {
		http.Error(rw, "the server starts or stops", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// ready answers whether requests succeed, for whoever would send them elsewhere otherwise: clients are served, writes
// are taken, and the cluster is reached that has the data, if one has.
func (w *web) ready(rw http.ResponseWriter, r *http.Request) {
	if err := w.refusing(); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.health(rw, r)
}

// refusing is why requests fail that are served, or nil.
func (w *web) refusing() error {
	err := w.store.Refusing()
	if err == nil && w.reach != nil {
		err = w.reach.outage()
	}
	return err
}

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
