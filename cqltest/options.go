package cqltest

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/crypto/bcrypt"

	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
)

// Option configures the server of RunT, Start and Fork. Functions such as WithAuth and Ring make them.
type Option func(*inside.Config)

// WithClock makes now the source of Server.Clock, instead of the real time.
func WithClock(now func() time.Time) Option {
	return func(c *inside.Config) { c.Clock = control.NewClock(now) }
}

// Interceptor is a function of the test that sees requests before they are served. It is called concurrently, for
// every QUERY, PREPARE, EXECUTE and BATCH of clients, and may wait, but not longer than ctx. It returns the act for
// the request; the zero Act serves it.
type Interceptor func(ctx context.Context, r *Request) Act

// WithInterceptor lets the test see, delay and fail requests. Its acts come before the server's Faults.
func WithInterceptor(i Interceptor) Option {
	return func(c *inside.Config) {
		c.Intercept = func(ctx context.Context, r *control.Request) control.Act { return i(ctx, requestOf(r)).act }
	}
}

// WithAuth makes clients log in. There is one role at first: the superuser cassandra, whose password is cassandra.
// Hashes of passwords are cheap, so that tests do not wait for them. Columns may be masked.
func WithAuth() Option { return withLogin(server.ByPassword) }

// WithMutualTLS is WithAuth for clients that log in with certificates, as Cassandra's MutualTlsAuthenticator has it,
// and connect as with WithClientCertificates.
func WithMutualTLS() Option { return withLogin(server.ByCertificate) }

// WithMutualTLSOrPassword is WithMutualTLS, where clients without a certificate log in with passwords.
func WithMutualTLSOrPassword() Option { return withLogin(server.ByCertificateOrPassword) }

func withLogin(by server.Authenticator) Option {
	return func(c *inside.Config) {
		c.Server.Logins, c.Server.Masks, c.Server.BcryptCost, c.Server.Login = true, true, bcrypt.MinCost, by
		if by != server.ByPassword {
			c.TLS, c.ClientCertificates = true, true
		}
	}
}

// WithStrictReplicas makes the server answer Unavailable where a consistency level needs more replicas than one node,
// as a Cassandra of one node does.
func WithStrictReplicas() Option { return func(c *inside.Config) { c.Server.StrictReplicas = true } }

// Timeouts are how long requests may take; zero is a minute.
type Timeouts struct {
	Read        time.Duration // of partitions by their keys
	Range       time.Duration // of other reads
	Write       time.Duration
	Counter     time.Duration // changes of counters
	Conditional time.Duration // writes with IF
	Truncate    time.Duration
}

// WithTimeouts sets how long requests may take. Without it, they may take a minute: a slow machine is no reason for
// timeouts, and Faults make them.
func WithTimeouts(t Timeouts) Option {
	return func(c *inside.Config) {
		l := &c.Server.Limits
		for _, of := range []struct {
			to    *time.Duration
			value time.Duration
		}{
			{&l.ReadTimeout, t.Read},
			{&l.RangeTimeout, t.Range},
			{&l.WriteTimeout, t.Write},
			{&l.CounterTimeout, t.Counter},
			{&l.CASTimeout, t.Conditional},
			{&l.TruncateTimeout, t.Truncate},
		} {
			if of.value != 0 {
				*of.to = of.value
			}
		}
	}
}

// WithSettings gives the server settings by their names in cassandra.yaml, for example tables_fail_threshold. With
// guardrails_apply_to_all=true clients are subject to guardrails. Several options add up.
func WithSettings(values map[string]string) Option {
	return func(c *inside.Config) {
		if c.Settings == nil {
			c.Settings = map[string]string{}
		}
		maps.Copy(c.Settings, values)
	}
}

// WithControls adds keyspace cqld_control, as cqld serve --test-controls has it: its tables are the clock, faults,
// snapshots, nodes and statements, which are recorded. Then a client in another process has the controls of this
// package.
func WithControls() Option { return func(c *inside.Config) { c.Controls = true } }

// WithLog makes the server write its log, as lines of JSON. Without it, the server of a test logs warnings and errors
// to the test. With io.Discard it logs nothing.
func WithLog(to io.Writer) Option {
	return func(c *inside.Config) {
		if c.Server.Log = zerolog.New(to); to == io.Discard {
			c.Server.Log = zerolog.Nop()
		}
	}
}

// WithFailureLog sets how many statements, the last ones, are printed when the test has failed. Without it they are
// 50; with 0 nothing is printed or kept. Bound values may be secret, so they are printed only if values is set.
func WithFailureLog(statements int, values bool) Option {
	return func(c *inside.Config) { c.Shown, c.ShownValues = statements, values }
}
