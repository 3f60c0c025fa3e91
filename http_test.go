package main

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// Metrics have the estimates of tables and what sweeps have done.
func TestStoreMetrics(t *testing.T) {
	st, err := openStore(&settings{memory: true}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	table := st.Catalog().Table("system_auth", "roles")
	for _, name := range []string{"a", "b"} {
		m := store.NewMutation(table, types.EncodeText(name))
		m.Row(nil)
		m.Set(table.Column("can_login"), types.EncodeBoolean(true), st.Timestamp(), store.Expiry{})
		done := make(chan error, 1)
		st.Apply([]*store.Mutation{m}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	writeStoreMetrics(&b, st)
	for _, line := range []string{
		"# TYPE cqld_table_rows gauge",
		`cqld_table_rows{keyspace="system_auth",table="roles"} 2`,
		`cqld_table_partitions{keyspace="system_auth",table="roles"} 2`,
		`cqld_table_tombstones{keyspace="system_auth",table="roles"} 0`,
		"cqld_sweep_rows_total 2",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
