package command

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
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
