package schema_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// property is a schema.Property as the recorded files have it.
type property struct {
	Name, Text string
	Map        map[string]string
}

type recordedError struct{ Code, Text string }

// refusal is the error recorded with a statement. Ours stands beside it where Cassandra lets a Java exception
// out: the test expects that one.
type refusal struct{ Error, Ours *recordedError }

// expected is nil for a statement that Cassandra took.
func (r refusal) expected() *recordedError {
	if r.Ours != nil {
		return r.Ours
	}
	return r.Error
}

func properties(given []property) []schema.Property {
	props := make([]schema.Property, len(given))
	for i, p := range given {
		props[i] = schema.Property(p)
	}
	return props
}

// readLines decodes a file of one JSON object for each line behind the first, which says where they come from.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	for lines.Scan(); lines.Scan(); {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v in %s", name, err, lines.Text())
		}
		all = append(all, one)
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(all), lines.Err())
	}
	return all
}

// checkError compares an error with a recorded one, which is nil for a statement that Cassandra took.
func checkError(t *testing.T, err error, want *recordedError) {
	t.Helper()
	got := "ok"
	if err != nil {
		e, ok := cqlerr.As(err)
		if !ok {
			t.Fatalf("error without a kind: %v", err)
		}
		got = fmt.Sprintf("0x%04x %s", uint32(e.Code), e.Message)
	}
	expected := "ok"
	if want != nil {
		expected = want.Code + " " + want.Text
	}
	if got != expected {
		t.Errorf("got  %s\nwant %s", got, expected)
	}
}

// The file has what Cassandra 5.0.8 answered to CREATE TABLE t (k int PRIMARY KEY, v int) WITH each of the
// properties, and what system_schema.tables showed of the table.
func TestTableOptions(t *testing.T) {
	type record struct {
		Props  []property
		Stored map[string]any
		refusal
	}
	for _, r := range readLines[record](t, "testdata/table_options.jsonl") {
		t.Run(fmt.Sprint(r.Props), func(t *testing.T) {
			options, err := createTable(properties(r.Props))
			checkError(t, err, r.expected())
			if err != nil {
				return
			}
			for name, want := range r.Stored {
				if got := shown(options, name); !reflect.DeepEqual(got, want) {
					t.Errorf("%s is %v (%T), want %v (%T)", name, got, got, want, want)
				}
			}
		})
	}
}

// createTable judges properties in the order of CREATE TABLE.
func createTable(props []schema.Property) (schema.TableOptions, error) {
	o, err := schema.ParseTableOptions(schema.DefaultTableOptions(), props)
	if err != nil {
		return o, err
	}
	if err := schema.CheckTableProperties(props); err != nil {
		return o, err
	}
	if err := o.Validate(); err != nil {
		return o, err
	}
	_, _, err = schema.TableID(props)
	return o, err
}

// shown is an option as system_schema.tables shows it and JSON holds it: some only when they are not the
// default.
func shown(o schema.TableOptions, name string) any {
	number := func(n int) any { return float64(n) }
	onlyFalse := func(b bool) any {
		if b {
			return nil
		}
		return false
	}
	double := func(f float64) any {
		if math.IsNaN(f) {
			return "NaN"
		}
		return f
	}
	mapping := func(m map[string]string) any {
		n := map[string]any{}
		for k, v := range m {
			n[k] = v
		}
		return n
	}
	switch name {
	case "additional_write_policy":
		return o.AdditionalWritePolicy
	case "allow_auto_snapshot":
		return onlyFalse(o.AllowAutoSnapshot)
	case "bloom_filter_fp_chance":
		return double(o.BloomFilterFPChance)
	case "caching":
		return mapping(o.Caching)
	case "cdc", "memtable": // the node recorded had CDC off and one memtable configuration
		return nil
	case "comment":
		return o.Comment
	case "compaction":
		return mapping(o.Compaction)
	case "compression":
		return mapping(o.Compression)
	case "crc_check_chance":
		return double(o.CRCCheckChance)
	case "default_time_to_live":
		return number(o.DefaultTimeToLive)
	case "extensions":
		return map[string]any{}
	case "gc_grace_seconds":
		return number(o.GCGraceSeconds)
	case "incremental_backups":
		return onlyFalse(o.IncrementalBackups)
	case "max_index_interval":
		return number(o.MaxIndexInterval)
	case "memtable_flush_period_in_ms":
		return number(o.MemtableFlushPeriodInMs)
	case "min_index_interval":
		return number(o.MinIndexInterval)
	case "read_repair":
		return o.ReadRepair
	case "speculative_retry":
		return o.SpeculativeRetry
	}
	return "no such option"
}

// The file has what Cassandra 5.0.8 answered to CREATE KEYSPACE, its warnings, what system_schema.keyspaces
// showed, and DESCRIBE.
func TestKeyspaceOptions(t *testing.T) {
	type record struct {
		Name   string
		Props  []property
		Stored *struct {
			DurableWrites bool `json:"durable_writes"`
			Replication   map[string]string
		}
		Warnings []string
		Describe string
		refusal
	}
	exists := map[string]bool{"existing": true, "system_auth": true}
	create := func(name string, props []schema.Property) (*schema.Keyspace, []string, error) {
		if err := schema.CheckKeyspaceName(name); err != nil {
			return nil, nil, err
		}
		if err := schema.CheckKeyspaceProperties(props); err != nil {
			return nil, nil, err
		}
		if exists[name] {
			return nil, nil, cqlerr.KeyspaceExists(name)
		}
		return schema.NewKeyspace(name, props, schema.Placement{Datacenter: "datacenter1"})
	}
	for _, r := range readLines[record](t, "testdata/keyspace_options.jsonl") {
		t.Run(fmt.Sprint(r.Name, r.Props), func(t *testing.T) {
			k, warnings, err := create(r.Name, properties(r.Props))
			checkError(t, err, r.expected())
			if err != nil || r.Error != nil {
				return
			}
			if k.DurableWrites != r.Stored.DurableWrites || !reflect.DeepEqual(k.Replication, r.Stored.Replication) {
				t.Errorf("got %v %v, want %+v", k.DurableWrites, k.Replication, r.Stored)
			}
			if !reflect.DeepEqual(warnings, r.Warnings) {
				t.Errorf("warnings %q, want %q", warnings, r.Warnings)
			}
			if got := k.CQL(); got != r.Describe {
				t.Errorf("DESCRIBE\n%s\nwant\n%s", got, r.Describe)
			}
		})
	}
}
