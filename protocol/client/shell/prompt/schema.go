package prompt

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/shell"
)

// names are the names in a schema, sorted.
type names struct {
	keyspaces   []string
	tables      map[string][]string    // with views, by keyspace
	columns     map[[2]string][]string // by keyspace and table, in the order of the table
	columnTypes map[[3]string]string   // by keyspace, table and column
	types       map[string][]string
	keys        map[[2]string][]string // the columns of primary keys
	functions   map[string][]string
	aggregates  map[string][]string
	indexes     map[string][]string
	views       map[string][]string
	roles       []string
}

// schema has the names in the server's schema. They are read in the background, on another
// connection.
type schema struct {
	mu      sync.Mutex
	login   shell.Options
	now     *names        // the last that were read; never nil
	reading chan struct{} // closed after reading; nil: nothing is read
	stale   bool
	stop    context.CancelFunc
	ctx     context.Context
	done    sync.WaitGroup
}

func newSchema(o shell.Options) *schema {
	s := &schema{login: o, now: &names{}, stale: true}
	s.ctx, s.stop = context.WithCancel(context.Background()) //nolint:containedctx // it is that of the goroutine
	s.refresh()
	return s
}

// close waits for the reader to end.
func (s *schema) close() {
	s.stop()
	s.done.Wait()
}

// forget says that the schema may have changed.
func (s *schema) forget() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	s.refresh()
}

// names returns the names as they were read last. If they are being read it waits for at most a time.
func (s *schema) names(wait time.Duration) *names {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reading := s.reading; reading != nil {
		s.mu.Unlock()
		select {
		case <-reading:
		case <-time.After(wait):
		}
		s.mu.Lock()
	}
	return s.now
}

// refresh reads the schema if it may have changed, unless that is going on.
func (s *schema) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading != nil || !s.stale || s.ctx.Err() != nil {
		return
	}
	reading := make(chan struct{})
	s.reading, s.stale = reading, false
	s.done.Go(func() {
		n, err := read(s.ctx, s.login)
		s.mu.Lock()
		s.reading = nil
		close(reading)
		if err != nil {
			s.stale = true // the next completion tries again
		} else {
			s.now = n
		}
		s.mu.Unlock()
		if err == nil {
			s.refresh()
		}
	})
}

// schemaTime limits how long the schema is read.
const schemaTime = time.Minute

// read reads the schema. A table that the server does not have, or does not show, has no names.
func read(ctx context.Context, o shell.Options) (*names, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	conn, err := client.Dial(ctx, o.Addr, client.Options{
		Username: o.Username, Password: o.Password, TLS: o.TLS,
		Version: o.Protocol,
	})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	n := &names{
		tables: map[string][]string{}, columns: map[[2]string][]string{}, types: map[string][]string{},
		functions: map[string][]string{},
		indexes:   map[string][]string{}, views: map[string][]string{},
	}
	each := func(columns, table string, add func(row [][]byte)) {
		o := client.QueryOptions{PageSize: 1000}
		for {
			r, err := conn.Query(ctx, "SELECT "+columns+" FROM "+table, nil, &o)
			if err != nil {
				return
			}
			for _, row := range r.Rows {
				add(row)
			}
			if o.PagingState = r.PagingState; o.PagingState == nil {
				return
			}
		}
	}
	into := func(all map[string][]string) func(row [][]byte) {
		return func(row [][]byte) {
			k, name := string(row[0]), string(row[1])
			if !slices.Contains(all[k], name) {
				all[k] = append(all[k], name)
			}
		}
	}
	for _, keyspace := range []string{"system_schema", "system_virtual_schema"} {
		each("keyspace_name", keyspace+".keyspaces", func(row [][]byte) {
			n.keyspaces = append(n.keyspaces,
				string(row[0]))
		})
		each("keyspace_name, table_name", keyspace+".tables", into(n.tables))
	}
	each("keyspace_name, view_name", "system_schema.views", into(n.views))
	for k, views := range n.views {
		n.tables[k] = append(n.tables[k], views...)
	}
	n.columnTypes, n.keys, n.aggregates = map[[3]string]string{}, map[[2]string][]string{}, map[string][]string{}
	type column struct {
		name, kind string
		position   int32
	}
	columns := map[[2]string][]column{}
	for _, keyspace := range []string{"system_schema", "system_virtual_schema"} {
		each("keyspace_name, table_name, column_name, kind, position, type", keyspace+".columns", func(row [][]byte) {
			c := column{name: string(row[2]), kind: string(row[3])}
			if len(row[4]) == 4 {
				c.position = types.DecodeInt(row[4])
			}
			key := [2]string{string(row[0]), string(row[1])}
			columns[key] = append(columns[key], c)
			n.columnTypes[[3]string{key[0], key[1], c.name}] = string(row[5])
		})
	}
	kinds := []string{"partition_key", "clustering", "static", "regular"}
	for table, all := range columns {
		slices.SortStableFunc(all, func(a, b column) int {
			if d := slices.Index(kinds, a.kind) - slices.Index(kinds, b.kind); d != 0 {
				return d
			}
			return int(a.position - b.position)
		})
		for _, c := range all {
			n.columns[table] = append(n.columns[table], c.name)
			if c.kind == "partition_key" || c.kind == "clustering" {
				n.keys[table] = append(n.keys[table], c.name)
			}
		}
	}
	each("keyspace_name, type_name", "system_schema.types", into(n.types))
	each("keyspace_name, function_name", "system_schema.functions", into(n.functions))
	each("keyspace_name, aggregate_name", "system_schema.aggregates", into(n.aggregates))
	each("keyspace_name, index_name", "system_schema.indexes", into(n.indexes))
	each("role", "system_auth.roles", func(row [][]byte) { n.roles = append(n.roles, string(row[0])) })
	return n, ctx.Err()
}
