package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// pair is a connection to each server, in keyspaces of the same name, for statements on one table.
type pair struct {
	keyspace  string
	own       bool // no one else uses the keyspace
	table     string
	cassandra *client.Conn
	cqld      *client.Conn
}

// open connects to both servers. The table does not exist yet. Families that make their own tables also get a keyspace,
// which takes Cassandra longer.
func (r *runner) open(ctx context.Context, f *family, v protocol.Version) (*pair, error) {
	p := &pair{keyspace: r.keyspace(), table: r.tableName(), own: f.shape == nil}
	if p.own {
		p.keyspace += "_" + p.table
		if err := createKeyspace(ctx, r.o, p.keyspace); err != nil {
			return nil, err
		}
	}
	o := client.Options{Version: v, Keyspace: p.keyspace, Username: ordinary, Password: ordinary}
	err := both(
		func() (err error) { p.cassandra, err = client.Dial(ctx, r.o.cassandra, o); return err },
		func() (err error) { p.cqld, err = client.Dial(ctx, r.o.cqld, o); return err },
	)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// Guardrails do not apply to superusers: statements are sent by an ordinary user, keyspaces made by a superuser.
// Servers without logins ignore the names.
const (
	superuser = "cassandra"
	ordinary  = "ordinary"
)

// createOrdinary makes the ordinary user of Cassandra, with all permissions. In cqld guardrails apply to all users.
func createOrdinary(ctx context.Context, o *options) error {
	return execute(ctx, o.cassandra,
		"CREATE ROLE IF NOT EXISTS "+ordinary+" WITH PASSWORD = '"+ordinary+"' AND LOGIN = true",
		"GRANT ALL ON ALL KEYSPACES TO "+ordinary)
}

// release closes a pair's connections and schedules its keyspace to be dropped if no one else uses it.
func (r *runner) release(p *pair) error {
	if p.own {
		r.unused <- p.keyspace
	}
	return p.close()
}

// createKeyspace drops and creates a keyspace on both servers.
func createKeyspace(ctx context.Context, o *options, keyspace string) error {
	statements := []string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	}
	return both(
		func() error { return execute(ctx, o.cassandra, statements...) },
		func() error { return execute(ctx, o.cqld, statements...) },
	)
}

// definitionTime is the timeout of a definition: each waits for the definitions of all other workers.
const definitionTime = 5 * time.Minute

// execute runs statements on a new connection.
func execute(ctx context.Context, addr string, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, definitionTime)
	defer cancel()
	conn, err := client.Dial(ctx, addr, client.Options{Username: superuser, Password: superuser})
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.Query(ctx, s, nil, nil); err != nil {
			return fmt.Errorf("%s: %s: %w", addr, s, err)
		}
	}
	return nil
}

// both runs two functions concurrently.
func both(f, g func() error) error {
	var wg sync.WaitGroup
	var first error
	wg.Go(func() { first = f() })
	second := g()
	wg.Wait()
	return errors.Join(first, second)
}

// close closes the connections and keeps the keyspace.
func (p *pair) close() (err error) {
	for _, c := range []*client.Conn{p.cassandra, p.cqld} {
		if c == nil {
			continue
		}
		if e := c.Close(); !errors.Is(e, net.ErrClosed) { // ask has closed it
			err = errors.Join(err, e)
		}
	}
	return err
}

// dropKeyspace removes a keyspace from both servers, also when the run has been interrupted.
func dropKeyspace(ctx context.Context, o *options, keyspace string) error {
	ctx = context.WithoutCancel(ctx)
	statement := "DROP KEYSPACE IF EXISTS " + keyspace
	return both(
		func() error { return execute(ctx, o.cassandra, statement) },
		func() error { return execute(ctx, o.cqld, statement) },
	)
}

// late reports whether a server has not answered in time: its answers cannot be compared.
func late(answers ...[]*answer) bool {
	return slices.ContainsFunc(slices.Concat(answers...), func(a *answer) bool { return a.late })
}

// send runs a step on both servers at once and compares the answers.
func (p *pair) send(ctx context.Context, s *step) (d *difference, cassandra, cqld []*answer) {
	var wg sync.WaitGroup
	wg.Go(func() { cassandra = s.send(ctx, p.cassandra, p.table) })
	cqld = s.send(ctx, p.cqld, p.table)
	wg.Wait()
	return compare(s, cassandra, cqld), cassandra, cqld
}
