package system_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

func TestLocal(t *testing.T) {
	s := open(t, system.Options{})
	rows := read(t, s, "system", "local")
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	hostID, version := s.HostID(), s.Catalog().Version()
	local := rows[0]
	tokens, _ := local["tokens"].([]any)
	if len(tokens) != 16 || !slices.IsSortedFunc(tokens, compareTexts) {
		t.Errorf("tokens %v", tokens)
	}
	truncated, _ := local["truncated_at"].(map[string]any)
	if got := truncated["618f817b-005f-3678-b8a4-53f3930b8e86"]; len(truncated) != 3 ||
		got != fmt.Sprintf("%024x%016x", 0, started.UnixMilli()) {
		t.Errorf("truncated_at %v", truncated)
	}
	delete(local, "tokens")
	delete(local, "truncated_at")
	compare(t, rows, []row{{
		"key": "local", "bootstrapped": "COMPLETED", "broadcast_address": "'127.0.0.2'", "broadcast_port": 7000.0,
		"cluster_name": "Test Cluster", "cql_version": "3.4.7", "data_center": "datacenter1",
		"gossip_generation": 1700000000.0, "host_id": types.UUID.Format(hostID[:]), "listen_address": "'127.0.0.2'",
		"listen_port": 7000.0, "native_protocol_version": "5",
		"partitioner": "org.apache.cassandra.dht.Murmur3Partitioner", "rack": "rack1", "release_version": "5.0.8",
		"rpc_address": "'127.0.0.2'", "rpc_port": 9042.0, "schema_version": types.UUID.Format(version[:]),
	}}, "key")

	if err := s.Define(userTables); err != nil {
		t.Fatal(err)
	}
	again := read(t, s, "system", "local")[0]
	if again["schema_version"] == local["schema_version"] {
		t.Error("the schema version does not follow the schema")
	}
	if !reflect.DeepEqual(again["tokens"], any(tokens)) {
		t.Errorf("tokens change: %v", again["tokens"])
	}
}

func compareTexts(a, b any) int { return strings.Compare(a.(string), b.(string)) }

func TestOptions(t *testing.T) {
	s := open(t, system.Options{
		ClusterName: "c", Datacenter: "d", Rack: "r", Advertise: netip.MustParseAddr("::ffff:10.0.0.1"), Port: 19042,
		Settings: []system.Setting{
			{Name: "cluster_name", Value: "Test Cluster"},
			{Name: "concurrent_reads", Value: "32"},
			{Name: "initial_token", Null: true},
			{Name: "native_transport_port", Value: "9042"},
			{Name: "num_tokens", Value: "1"},
			{Name: "partitioner"},
			{Name: "rpc_address", Null: true},
		},
	})
	local := read(t, s, "system", "local")[0]
	for column, want := range map[string]any{
		"cluster_name": "c", "data_center": "d", "rack": "r", "rpc_address": "'10.0.0.1'", "rpc_port": 19042.0,
	} {
		if local[column] != want {
			t.Errorf("%s is %v, want %v", column, local[column], want)
		}
	}
	compare(t, read(t, s, "system_views", "settings"), []row{
		{"name": "cluster_name", "value": "c"},
		{"name": "concurrent_reads", "value": "32"},
		{"name": "initial_token", "value": nil},
		{"name": "native_transport_port", "value": "19042"},
		{"name": "num_tokens", "value": "16"},
		{"name": "partitioner", "value": "org.apache.cassandra.dht.Murmur3Partitioner"},
		{"name": "rpc_address", "value": "10.0.0.1"},
	}, "name")
}

func TestClients(t *testing.T) {
	at := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port) }
	s := open(t, system.Options{Clients: func(store.Session) []system.Client {
		return []system.Client{
			{
				Address: at(2), Stage: "ready", Hostname: "localhost", Driver: "x", DriverVersion: "1", ProtocolVersion: 5,
				Requests: 7, Username: "anonymous", Options: map[string]string{"CQL_VERSION": "3.0.0"},
			},
			{Address: at(1), Stage: "established", ProtocolVersion: 4, Keyspace: "k"},
		}
	}})
	compare(t, read(t, s, "system_views", "clients"), []row{
		{
			"address": "'127.0.0.1'", "port": 1.0, "connection_stage": "established", "protocol_version": 4.0,
			"keyspace_name": "k", "request_count": 0.0, "ssl_enabled": false, "client_options": nil, "driver_name": nil,
			"driver_version": nil, "hostname": nil, "ssl_cipher_suite": nil, "ssl_protocol": nil, "username": nil,
		},
		{
			"address": "'127.0.0.1'", "port": 2.0, "connection_stage": "ready", "protocol_version": 5.0,
			"keyspace_name": nil, "request_count": 7.0, "ssl_enabled": false,
			"client_options": map[string]any{"CQL_VERSION": "3.0.0"}, "driver_name": "x", "driver_version": "1",
			"hostname": "localhost", "ssl_cipher_suite": nil, "ssl_protocol": nil, "username": "anonymous",
		},
	}, "port")
	if rows := read(t, open(t, system.Options{}), "system_views", "clients"); len(rows) != 0 {
		t.Errorf("%d clients without a server", len(rows))
	}
}

// Every table can be read, those without rows too.
func TestReadAll(t *testing.T) {
	s := open(t, system.Options{})
	withRows := map[string]bool{
		"system.local": true, "system.size_estimates": true, "system.table_estimates": true, "system_schema.keyspaces": true,
		"system_schema.tables":  true,
		"system_schema.columns": true, "system_schema.dropped_columns": true, "system_schema.indexes": true,
		"system_virtual_schema.keyspaces": true, "system_virtual_schema.tables": true,
		"system_virtual_schema.columns": true,
	}
	for _, name := range []string{
		"batch_metrics", "caches", "cidr_filtering_metrics_counts", "cidr_filtering_metrics_latencies",
		"coordinator_read_latency", "coordinator_scan_latency", "coordinator_write_latency", "cql_metrics", "disk_usage",
		"gossip_info", "local_read_latency", "local_scan_latency", "local_write_latency", "max_partition_size",
		"max_sstable_duration", "max_sstable_size", "rows_per_read", "thread_pools", "tombstones_per_read",
	} {
		withRows["system_views."+name] = true
	}
	for _, k := range s.Catalog().Keyspaces() {
		for _, table := range k.SortedTables() {
			name := k.Name + "." + table.Name
			if rows := read(t, s, k.Name, table.Name); len(rows) > 0 != withRows[name] {
				t.Errorf("%s has %d rows", name, len(rows))
			}
		}
	}
}

// Reading the columns of two thousand tables must not keep a driver waiting.
func TestManyTables(t *testing.T) {
	s := open(t, system.Options{})
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		k := &schema.Keyspace{Name: "many", Replication: map[string]string{}, Tables: map[string]*schema.Table{}}
		for i := range 2000 {
			id := [16]byte{}
			binary.BigEndian.PutUint64(id[:], uint64(i+1))
			columns := []*schema.Column{{Name: "k", Type: types.Int}}
			for j := range 5 {
				columns = append(columns, &schema.Column{Name: fmt.Sprint("v", j), Type: types.Text, Kind: schema.Regular})
			}
			name := fmt.Sprint("t", i)
			k.Tables[name] = schema.NewTable(schema.Table{
				Keyspace: "many", Name: name, ID: id, Columns: columns, Options: schema.DefaultTableOptions(),
			})
		}
		return c.WithKeyspace(k), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	best := time.Duration(math.MaxInt64)
	for range 3 {
		before := time.Now()
		rows := 0
		for _, name := range []string{"tables", "columns"} {
			table := s.Catalog().Table("system_schema", name)
			if err := s.Read(context.Background(), &store.Read{Table: table}, func(*store.Row) (bool, error) {
				rows++
				return true, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		best = min(best, time.Since(before))
		if rows < 14000 {
			t.Errorf("%d rows", rows)
		}
	}
	t.Logf("tables and columns in %v", best)
	if best > 2*time.Second {
		t.Errorf("reading the definitions takes %v", best)
	}
}
