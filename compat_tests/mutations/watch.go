package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/protocol/client"
)

// superuser is the role that clients log in as, and its password.
const superuser = "cassandra"

// surroundings are the resources of a server: memory, goroutines and descriptors.
type surroundings struct {
	tls, logins bool

	pair   certificates.Pair
	client *tls.Config
	folder string
}

// String names them.
func (s *surroundings) String() string {
	switch {
	case s.tls && s.logins:
		return "TLS and logins"
	case s.tls:
		return "TLS"
	case s.logins:
		return "logins"
	}
	return "plain"
}

// prepare makes certificates.
func (s *surroundings) prepare(folder string) error {
	if !s.tls {
		return nil
	}
	s.folder = folder
	a, err := certificates.NewAuthority("mutations")
	if err != nil {
		return err
	}
	if s.pair, err = a.Server("127.0.0.1"); err != nil {
		return err
	}
	if err := s.pair.Write(s.file("cert.pem"), s.file("key.pem")); err != nil {
		return err
	}
	s.client = &tls.Config{RootCAs: a.Pool(), ServerName: "127.0.0.1"}
	return nil
}

func (s *surroundings) file(name string) string { return filepath.Join(s.folder, name) }

// arguments start the server.
func (s *surroundings) arguments() []string {
	args := []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memory-limit", "512MiB"}
	if s.tls {
		args = append(args, "--tls", "required", "--tls-cert", s.file("cert.pem"), "--tls-key", s.file("key.pem"))
	}
	if s.logins {
		args = append(args, "--auth", "password")
	}
	return args
}

// options are the options of the well-behaved client.
func (s *surroundings) options() client.Options {
	o := client.Options{TLS: s.client}
	if s.logins {
		o.Username, o.Password = superuser, superuser
	}
	return o
}

// watch is a well-behaved client. It also knows the surroundings of the server before the sessions.
type watch struct {
	surroundings *surroundings
	cancel       context.CancelFunc
	asking       sync.WaitGroup

	mu          sync.Mutex
	err         error
	slow        time.Duration
	goroutines  float64
	descriptors int
	left        string
}

// The interval of the watch's requests, and their timeout.
const (
	askEvery  = 20 * time.Millisecond
	askTime   = 10 * time.Second
	settle    = 30 * time.Second // for memory and connections to be released
	slack     = 10               // goroutines and descriptors more than before that are allowed
	keyspaces = 8
)

// watchServer prepares a server and begins to send requests.
func watchServer(ctx context.Context, p *process.Process, s *surroundings) (*watch, error) {
	c, err := client.Dial(ctx, p.Addr, s.options())
	if err != nil {
		return nil, err
	}
	w := &watch{surroundings: s}
	if err := w.renew(ctx, c); err != nil {
		return nil, err
	}
	if w.goroutines, err = p.Metric(ctx, "cqld_goroutines"); err != nil {
		return nil, err
	}
	if w.descriptors, err = p.Descriptors(); err != nil {
		return nil, err
	}
	ctx, w.cancel = context.WithCancel(ctx)
	w.asking.Go(func() {
		defer c.Close()
		for i := 1; w.failure() == nil && ctx.Err() == nil; i++ {
			w.fail(w.ask(ctx, c))
			if i%1000 == 0 {
				w.fail(w.renew(ctx, c))
			}
			select {
			case <-ctx.Done():
			case <-time.After(askEvery):
			}
		}
	})
	return w, nil
}

// renew drops and creates the keyspaces of the statements again and again, so that they stay small.
func (w *watch) renew(ctx context.Context, c *client.Conn) error {
	for i := range keyspaces {
		for _, cql := range []string{
			"DROP KEYSPACE IF EXISTS " + keyspace(i),
			"CREATE KEYSPACE IF NOT EXISTS " + keyspace(i) + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		} {
			if _, err := c.Query(ctx, cql, nil, nil); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", cql, err)
			}
		}
	}
	return nil
}

func keyspace(i int) string { return fmt.Sprint("mutations", i) }

// ask sends one request.
func (w *watch) ask(ctx context.Context, c *client.Conn) error {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	began := time.Now()
	_, err := c.Query(asking, "SELECT key FROM system.local", nil, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow = max(w.slow, time.Since(began))
	if err != nil {
		return fmt.Errorf("a client that behaves well got no answer: %w", err)
	}
	return nil
}

// fail keeps the first error.
func (w *watch) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *watch) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *watch) slowest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.slow
}

// end compares the surroundings after the sessions with those before.
func (w *watch) end(p *process.Process) error {
	w.cancel()
	w.asking.Wait()
	ctx := context.Background()
	var goroutines float64
	var descriptors int
	var err error
	for began := time.Now(); ; time.Sleep(askEvery) {
		if goroutines, err = p.Metric(ctx, "cqld_goroutines"); err == nil {
			descriptors, err = p.Descriptors()
		}
		if err != nil {
			return errors.Join(w.err, err)
		}
		fine := goroutines <= w.goroutines+slack && descriptors <= w.descriptors+slack
		if fine || time.Since(began) > settle {
			w.left = fmt.Sprintf("%.0f goroutines (%.0f before), %d descriptors (%d)", goroutines, w.goroutines, descriptors, w.descriptors)
			if !fine {
				w.fail(fmt.Errorf("there stayed %s", w.left))
			}
			break
		}
	}
	m, err := p.Memory()
	if err != nil {
		return errors.Join(w.err, err)
	}
	w.left += fmt.Sprintf(", %d MiB", m.Anon>>20)
	if logged := p.Errors(); len(logged) > 0 {
		err = fmt.Errorf("the server has logged errors:\n%s", strings.Join(logged, ""))
	}
	return errors.Join(w.err, err)
}
