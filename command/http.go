package command

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// web is the HTTP side: health, metrics and profiles. A nil *web is one that is off.
type web struct {
	server *http.Server
	store  *store.Store
	up     atomic.Bool
	done   chan struct{}
}

// startHTTP serves at addr; an empty addr is off. controls serves what is below /control/; nil: nothing is.
func startHTTP(
	addr string, srv *server.Server, st *store.Store, onDisk *disk.Engine, calls *engineCalls, controls http.Handler,
	log zerolog.Logger,
) (*web, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	w := &web{store: st, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.health)
	mux.Handle("GET /metrics", metricsHandler(srv, st, onDisk, calls))
	if controls != nil {
		mux.Handle("/control/", controls)
	}
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(&sparing{l, log}); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("serving HTTP failed")
		}
	}()
	log.Info().Str("address", l.Addr().String()).Msg("serving health, metrics and profiles over HTTP")
	return w, nil
}

// ready says whether health is good.
func (w *web) ready(yes bool) {
	if w != nil {
		w.up.Store(yes)
	}
}

// close ends the HTTP side at once.
func (w *web) close() {
	if w != nil {
		_ = w.server.Close() // closes connections; there is nothing to do about one that fails to
		<-w.done
	}
}

func (w *web) health(rw http.ResponseWriter, _ *http.Request) {
	if !w.up.Load() {
		http.Error(rw, "not ready: the server starts or stops", http.StatusServiceUnavailable)
		return
	}
	if err := w.store.Refusing(); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}
