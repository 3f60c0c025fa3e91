package system

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// Client is one connection as system_views.clients shows it. Empty fields are null.
type Client struct {
	Address                netip.AddrPort
	Hostname               string
	Stage                  string            // established, authenticating or ready
	Options                map[string]string // of STARTUP
	Driver, DriverVersion  string
	Keyspace               string
	ProtocolVersion        int
	Requests               int64
	Username               string
	SSL                    bool
	SSLProtocol, SSLCipher string
}

func fillClients(n *node, w *writer, session store.Session, _ *schema.Catalog) {
	if n.Clients == nil {
		return
	}
	for _, c := range n.Clients(session) {
		w.partition(c.Address.Addr().Unmap().AsSlice())
		w.row(types.EncodeInt(int32(c.Address.Port())))
		if c.Options != nil {
			w.mapping("client_options", c.Options)
		}
		w.textOrNull("connection_stage", c.Stage)
		w.textOrNull("driver_name", c.Driver)
		w.textOrNull("driver_version", c.DriverVersion)
		w.textOrNull("hostname", c.Hostname)
		w.textOrNull("keyspace_name", c.Keyspace)
		w.int("protocol_version", c.ProtocolVersion)
		w.set("request_count", types.EncodeBigInt(c.Requests))
		w.textOrNull("ssl_cipher_suite", c.SSLCipher)
		w.bool("ssl_enabled", c.SSL)
		w.textOrNull("ssl_protocol", c.SSLProtocol)
		w.textOrNull("username", c.Username)
	}
}

// Setting is one row of system_views.settings.
type Setting struct {
	Name, Value string
	Null        bool // it has no value
}

// fillSettings makes system_views.settings. Each node of a ring has its own address and port.
func fillSettings(n *node, w *writer, session store.Session, _ *schema.Catalog) {
	self := n.self(session).Address
	known := map[string]string{
		"cluster_name":          n.ClusterName,
		"native_transport_port": strconv.Itoa(int(self.Port())),
		"num_tokens":            strconv.Itoa(tokenCount),
		"partitioner":           partitioner,
		"rpc_address":           self.Addr().String(),
	}
	for _, setting := range n.Settings {
		w.partition(types.EncodeText(setting.Name))
		w.row()
		if value, ok := known[setting.Name]; ok {
			w.text("value", value)
		} else if !setting.Null {
			w.text("value", setting.Value)
		}
	}
}

// tableFiller makes the row of one table in a table of metrics.
type tableFiller func(n *node, w *writer, t *schema.Table)

// ofEachTable is a filler with a row for each table and view whose rows are not made by code as virtual tables' are.
func ofEachTable(fill tableFiller) filler {
	return func(n *node, w *writer, _ store.Session, c *schema.Catalog) {
		for _, k := range c.Keyspaces() {
			if k.Virtual {
				continue
			}
			for _, all := range [...]map[string]*schema.Table{k.Tables, k.Views} {
				for _, t := range all {
					key := types.AppendCompositeKey(nil, types.EncodeText(k.Name))
					w.partition(types.AppendCompositeKey(key, types.EncodeText(t.Name)))
					w.row()
					fill(n, w, t)
				}
			}
		}
	}
}

// latencyFiller fills tables of latencies.
func latencyFiller(of func(TableActivity) Latency) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		l := of(n.activity(t))
		w.bigint("count", l.Count)
		w.double("max_ms", milliseconds(l.Max))
		w.double("p50th_ms", milliseconds(l.P50))
		w.double("p99th_ms", milliseconds(l.P99))
		w.double("per_second", thousandths(l.PerSecond))
	})
}

// amountFiller fills tables of rows or tombstones per read.
func amountFiller(of func(TableActivity) Distribution) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		d := of(n.activity(t))
		w.bigint("count", d.Count)
		w.double("max", float64(d.Max))
		w.double("p50th", float64(d.P50))
		w.double("p99th", float64(d.P99))
	})
}

// sizeFiller fills tables of sizes, in mebibytes.
func sizeFiller(of func(store.Estimate) int64) filler {
	return ofEachTable(func(n *node, w *writer, t *schema.Table) {
		bytes := int64(0)
		if !schema.IsLocal(t.Keyspace) && t.View == nil {
			bytes = of(n.estimate(t))
		}
		w.bigint("mebibytes", (bytes+1<<20-1)>>20)
	})
}

// noSize is the size for columns that do not apply to this node.
func noSize(store.Estimate) int64 { return 0 }

// fillDurations makes system_views.max_sstable_duration: there are no SSTables.
var fillDurations = ofEachTable(func(_ *node, w *writer, _ *schema.Table) { w.bigint("max_sstable_duration", 0) })

func (n *node) activity(t *schema.Table) (a TableActivity) {
	if n.Monitor != nil {
		a = n.Monitor.Table(t)
	}
	return a
}

// milliseconds rounds a time to thousandths of a millisecond, as Cassandra shows it.
func milliseconds(d time.Duration) float64 {
	return thousandths(float64(d) / float64(time.Millisecond))
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// fillSAIIndexes makes system_views.sai_column_indexes. An index can be queried while it is built: reads do without
// it.
func fillSAIIndexes(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	for _, k := range c.Keyspaces() {
		started := false
		for _, t := range k.Tables {
			for _, x := range t.Indexes {
				if x.Kind() != schema.SAI || len(x.Targets) == 0 {
					continue
				}
				if !started {
					w.partition(types.EncodeText(k.Name))
					started = true
				}
				of, key := schema.IndexedType(t.Column(x.Column()), x.Part())
				w.row(types.EncodeText(x.Name))
				w.text("analyzer", analyzer(x))
				w.text("column_name", x.Column())
				w.bool("is_building", n.isBuilding(t, x))
				w.bool("is_queryable", true)
				w.bool("is_string", key != nil || isLiteral(of))
				w.text("table_name", t.Name)
			}
		}
	}
}

// analyzer names the analyzer of an index, as Cassandra does.
func analyzer(x *schema.Index) string {
	given := false
	option := func(name string, value bool) bool {
		if text, ok := x.Options[name]; ok {
			given, value = true, strings.EqualFold(text, "true")
		}
		return value
	}
	caseSensitive, normalized, ascii := option("case_sensitive", true), option("normalize", false), option("ascii", false)
	if !given {
		return "NoOpAnalyzer"
	}
	return fmt.Sprintf("NonTokenizingAnalyzer{caseSensitive=%t, normalized=%t, ascii=%t}",
		caseSensitive, normalized, ascii)
}

// isLiteral reports whether Cassandra compares values of a type as a whole only: texts, booleans, and types made of
// others.
func isLiteral(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType, *types.Vector:
		return true
	}
	return t == types.Text || t == types.ASCII || t == types.Boolean
}
