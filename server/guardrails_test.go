package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// guarded connects to a server with settings.
func guarded(t *testing.T, settings map[string]string) (context.Context, *client.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	c, err := client.Dial(ctx, cqltest.RunT(t, cqltest.WithSettings(settings)).Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return ctx, c
}

const (
	makeKeyspace = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy'}"
	makeTable    = "CREATE TABLE ks.t (k int PRIMARY KEY, v int)"
	unloggedPair = "BEGIN UNLOGGED BATCH INSERT INTO ks.t (k) VALUES (1); INSERT INTO ks.t (k) VALUES (2); APPLY BATCH"
)

// Guardrails hold for nobody where there are no logins, unless they apply to all. The thresholds of batches do.
func TestWhoIsSubjectToGuardrails(t *testing.T) {
	for _, toAll := range []string{"false", "true"} {
		ctx, c := guarded(t, map[string]string{
			"columns_per_table_fail_threshold": "1", "unlogged_batch_across_partitions_warn_threshold": "1",
			"guardrails_apply_to_all": toAll,
		})
		if _, err := c.Query(ctx, makeKeyspace, nil, nil); err != nil {
			t.Fatal(err)
		}
		_, err := c.Query(ctx, makeTable, nil, nil)
		if refused := err != nil && strings.Contains(err.Error(), "Guardrail columns_per_table violated"); refused != (toAll == "true") {
			t.Errorf("guardrails_apply_to_all=%s: CREATE TABLE: %v", toAll, err)
		}
		if _, err := c.Query(ctx, "CREATE TABLE IF NOT EXISTS ks.t (k int PRIMARY KEY)", nil, nil); err != nil {
			t.Fatal(err)
		}
		result, err := c.Query(ctx, unloggedPair, nil, nil)
		if err != nil || len(result.Warnings) != 1 || !strings.HasPrefix(result.Warnings[0], "Unlogged batch covering 2 partitions") {
			t.Errorf("guardrails_apply_to_all=%s: the batch: %v, %+v", toAll, err, result)
		}
	}
}

// A keyspace that names no replication factor gets that of the settings. No script shows it: nobody can log in to one
// node of Cassandra with that setting.
func TestDefaultReplicationFactor(t *testing.T) {
	ctx, c := guarded(t, map[string]string{"default_keyspace_rf": "3"})
	for _, q := range []string{
		makeKeyspace, "CREATE KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy'}",
		"CREATE KEYSPACE one WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	} {
		if _, err := c.Query(ctx, q, nil, nil); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	for keyspace, want := range map[string]string{"ks": "replication_factor\x00\x00\x00\x013", "n": "datacenter1\x00\x00\x00\x013", "one": "replication_factor\x00\x00\x00\x011"} {
		r, err := c.Query(ctx, "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '"+keyspace+"'", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(r.Rows[0][0]), want) {
			t.Errorf("keyspace %s has the replication %q", keyspace, r.Rows[0][0])
		}
	}
}

// What a PREPARE is refused for by a guardrail, its client is warned of too, as by Cassandra. A text whose plan is
// kept stays refused.
func TestGuardrailsOfPlanning(t *testing.T) {
	ctx, c := guarded(t, map[string]string{
		"group_by_enabled": "false", "user_timestamps_enabled": "false", "guardrails_apply_to_all": "true",
	})
	for _, q := range []string{makeKeyspace, makeTable} {
		if _, err := c.Query(ctx, q, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{
		"SELECT k, count(*) FROM ks.t GROUP BY k", "INSERT INTO ks.t (k, v) VALUES (?, ?) USING TIMESTAMP ?",
	} {
		p, err := c.Prepare(ctx, q, "")
		if err == nil || !strings.HasPrefix(err.Error(), "Guardrail ") || len(p.Warnings) != 1 || p.Warnings[0] != err.Error() {
			t.Errorf("PREPARE %s: %v, %+v", q, err, p)
		}
	}
	for range 2 {
		if r, err := c.Query(ctx, "SELECT k FROM ks.t GROUP BY k", nil, nil); err == nil || len(r.Warnings) != 1 {
			t.Errorf("GROUP BY: %v", err)
		}
	}
}
