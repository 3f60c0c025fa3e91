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

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/server"
	consolepages "github.com/cqld/cqld/server/console"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/server/control/endpoints"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// web serves the console, health checks, metrics, profiles and controls over HTTP. It is off if it is nil.
type web struct {
	listener    net.Listener
	limits      httpLimits
	connections *httpListener
	server      *http.Server                 // nil before serve and await
	handler     atomic.Pointer[http.Handler] // nil before serve
	store       *store.Store
	reach       *reach      // of a remote engine, or nil
	up          atomic.Bool // CQL clients are served
	done        chan struct{}
}

// listenHTTP opens the port for HTTP, unless addr is "".
func listenHTTP(addr string) (*web, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	return &web{listener: l, limits: usualHTTPLimits(), done: make(chan struct{})}, nil
}

// address returns the address of HTTP, or the zero value.
func (w *web) address() netip.AddrPort {
	if w == nil {
		return netip.AddrPort{}
	}
	return w.listener.Addr().(*net.TCPAddr).AddrPort()
}

// serve starts serving HTTP. pages are the console, and tests handles /control/; it may be nil.
func (w *web) serve(
	s *settings, srv *server.Server, st *store.Store, onDisk *disk.Engine, pages, tests http.Handler, log zerolog.Logger,
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
	mux.Handle("GET /metrics", atATime(2, metricsHandler(srv, st, onDisk, s.calls)))
	shown := atATime(4, pages)
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost || r.URL.Path == "/activity/events" { // which last, and have limits of their own
			pages.ServeHTTP(rw, r)
			return
		}
		shown.ServeHTTP(rw, r)
	})
	if tests != nil {
		mux.Handle("/control/", atATime(4, tests))
	}
	if s.httpPprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	handler := boundHTTP(guardHTTP(mux, s.hostNames()), srv)
	w.handler.Store(&handler)
	w.begin(log)
	log.Info().Stringer("address", w.listener.Addr()).Msg("serving the console, health and metrics over HTTP")
}

// await serves the health checks while the server waits for its cluster. It is alive, so that Kubernetes does not
// restart it, but it is not ready.
func (w *web) await(log zerolog.Logger) {
	if w != nil {
		w.begin(log)
	}
}

// begin begins to accept connections, unless it has begun.
func (w *web) begin(log zerolog.Logger) {
	if w.server != nil {
		return
	}
	w.connections = newHTTPListener(w.listener, w.limits, log)
	w.server = &http.Server{
		Handler: http.HandlerFunc(w.answer), ReadHeaderTimeout: w.limits.header, IdleTimeout: w.limits.idle,
		MaxHeaderBytes: httpHeader, ConnContext: withConn,
	}
	panics.Go(&log, func() {
		defer close(w.done)
		if err := w.server.Serve(w.connections); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("serving HTTP failed")
		}
	})
}

func (w *web) answer(rw http.ResponseWriter, r *http.Request) {
	switch h := w.handler.Load(); {
	case h != nil:
		(*h).ServeHTTP(rw, r)
	case r.URL.Path == "/health":
		fmt.Fprintln(rw, "waiting for the cluster")
	default:
		http.Error(rw, "the server waits for its cluster", http.StatusServiceUnavailable)
	}
}

// console returns the console of a server.
func (s *settings) console(
	srv *server.Server, st *store.Store, onDisk *disk.Engine, controls *control.Controls, l *listeners,
) http.Handler {
	o := consolepages.Options{
		Server: srv, Store: st, Controls: controls, TestControls: s.controls, Logins: s.logins, Write: s.write,
		Version: s.release,
	}
	if onDisk != nil {
		o.Figures = func() []consolepages.Figure {
			m := onDisk.Metrics()
			return []consolepages.Figure{
				{Name: "Memtables", Value: fmt.Sprintf("%d MiB, %d to be flushed", m.MemtableBytes>>20, m.MemtablesFrozen)},
				{Name: "Commit log", Value: fmt.Sprintf("%d MiB, segments: %d", m.LogBytes>>20, m.LogSegments)},
				{Name: "Flushes", Value: fmt.Sprint(m.Flushes)},
				{Name: "Writes that waited for a flush or a sync", Value: fmt.Sprint(m.Waits)},
			}
		}
	}
	return s.asPrivateAsCQL(consolepages.New(o), l)
}

// asPrivateAsCQL guards what CQL clients may do. HTTP has no certificates, so without logins it is refused to everyone
// if CQL clients need one, and to other machines if CQL clients must be on this one.
func (s *settings) asPrivateAsCQL(h http.Handler, l *listeners) http.Handler {
	certified, local := l.wantCertificates(s), l.public() == ""
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch from, err := netip.ParseAddrPort(r.RemoteAddr); {
		case s.logins:
		case certified:
			http.Error(w, "clients need a certificate, and HTTP has none: roles can log in with --auth mtls-or-password",
				http.StatusForbidden)
			return
		case local && (err != nil || !from.Addr().Unmap().IsLoopback()):
			http.Error(w, "without authentication this is only for the machines that --listen is for: this one",
				http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// withLogin asks for the login of a role that may read or modify the tables below /control/, if clients log in.
func (s *settings) withLogin(h http.Handler, srv *server.Server) http.Handler {
	if !s.logins {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		err := errors.New("log in with a role and its password, by HTTP's Basic authentication")
		if name, password, given := r.BasicAuth(); given {
			var login *server.Login
			login, err = srv.Login(r.Context(), consolepages.Sender(r), name, password)
			table, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/control/"), "/")
			if err == nil && table != "openapi.json" {
				status = http.StatusForbidden
				err = srv.MayAccess(r.Context(), login, control.Keyspace().Name, table, r.Method != http.MethodGet)
			}
		}
		if err == nil {
			h.ServeHTTP(w, r)
			return
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="cqld", charset="UTF-8"`)
		}
		endpoints.WriteError(w, status, err)
	})
}

// serving sets whether CQL clients are served.
func (w *web) serving(yes bool) {
	if w != nil {
		w.up.Store(yes)
	}
}

// close stops serving HTTP at once.
func (w *web) close() {
	switch {
	case w == nil:
	case w.server == nil:
		_ = w.listener.Close()
	default:
		_ = w.server.Close() // fails only if closing a connection does
		<-w.done
	}
}

// health answers liveness probes: it fails while the process does not serve clients.
func (w *web) health(rw http.ResponseWriter, _ *http.Request) {
	if !w.up.Load() {
		http.Error(rw, "the server is starting or stopping", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// ready answers readiness probes: it fails while requests would. Clients must be served, writes accepted, and a remote
// engine must answer.
func (w *web) ready(rw http.ResponseWriter, r *http.Request) {
	if err := w.refusing(); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.health(rw, r)
}

// refusing returns the reason why requests fail at the moment, or nil.
func (w *web) refusing() error {
	err := w.store.Refusing()
	if err == nil && w.reach != nil {
		err = w.reach.outage()
	}
	return err
}

// guardHTTP protects against web pages that make a visitor's browser send requests. names are host names of this
// server.
//
//   - A page whose host name resolves to this server's address (DNS rebinding) could send any request and read the
//     responses. Its requests have that name as host, so unknown hosts are refused.
//   - Any other page could send requests without reading the responses. So browsers' cross-origin requests, which have
//     the header Sec-Fetch-Site or Origin, may only be GET, HEAD or OPTIONS.
func guardHTTP(h http.Handler, names []string) http.Handler {
	h = http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !knownHost(r.Host, names) {
			http.Error(w, fmt.Sprintf("%q is not a known name of this server: see --http-host", r.Host), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knownHost reports whether the host of a request is an IP address, localhost or one of names. Old clients may omit
// it, browsers do not.
func knownHost(host string, names []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	isName := func(name string) bool { return strings.EqualFold(name, host) }
	return host == "" || err == nil || isName("localhost") || slices.ContainsFunc(names, isName)
}

// hostNames splits --http-host.
func (s *settings) hostNames() (names []string) {
	for name := range strings.SplitSeq(s.httpHost, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkHTTP checks the flags of HTTP.
func (s *settings) checkHTTP() error {
	switch {
	case s.httpHost != "" && s.http == "":
		return badFlag("http-host", s.httpHost, "it needs --http")
	case s.httpPprof && s.http == "":
		return badFlag("http-pprof", "true", "it needs --http")
	case s.write && s.http == "":
		return badFlag("console-write", "true", "it needs --http")
	case strings.ContainsAny(s.httpHost, "/:*"):
		return badFlag("http-host", s.httpHost, "want names of hosts without ports, separated by commas")
	}
	return nil
}
