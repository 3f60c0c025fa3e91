package console

import (
	"cmp"
	"context"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/server"
)

// activityData is the page of activity. Each of its parts is a template of the same name, which a live page gets again
// when it has changed.
type activityData struct {
	Rates     ratesView
	Latencies []latencyView
	Tables    []tableItem
	Clients   []clientView
	Tasks     []taskView
	Memory    []Figure
	Figures   []Figure

	Hidden     string // why the role may not see statements, or ""
	Statements []statementView
	Hot        []hotView
	Slow       []statementView

	Tests *testingData // nil without --test-controls
}

// parts are the parts of the page that are live.
var parts = []string{"rates", "latencies", "tables", "clients", "tasks", "memory", "hot", "slow", "clock", "faults", "ring"}

// clientView is a connection of a client.
type clientView struct {
	Address, Driver, Version, Keyspace, Role, Stage string
	Requests                                        int64
	Protocol                                        int64
	TLS                                             bool
}

// taskView is a compaction or the build of an index.
type taskView struct {
	Table, Kind, Unit string
	Progress, Total   int64
	Share             int // thousandths
}

// activityPage shows the activity as of now.
func activityPage(p *page) error {
	p.Tab, p.Title = "activity", "Activity"
	d, err := p.activity(p.ctx)
	if err != nil {
		return err
	}
	seen := observed{hot: map[[2]string]int{}}
	if d.Hidden == "" { // there are none, unless statements are always recorded
		all := p.console.o.Controls.Record.Statements()
		for i := range all {
			seen.add(&all[i])
		}
		for _, s := range slices.Backward(all[max(0, len(all)-maxListed):]) {
			d.Statements = append(d.Statements, newStatementView(&s))
		}
		d.Hot, d.Slow = seen.hottest(), seen.slow
	}
	p.Data = d
	return p.show("activity", "")
}

// maxListed is how many statements the page lists.
const maxListed = 100

// activity reads all but the statements, with the permissions of the role.
func (p *page) activity(ctx context.Context) (*activityData, error) {
	d := &activityData{Rates: p.console.history.sample(time.Now(), p.console.o.Server.Metrics(), &p.console.own)}
	d.Latencies = latencies(p.console.o.Server.StatementLatencies())
	d.Memory = p.memory()
	if p.console.o.Figures != nil {
		d.Figures = p.console.o.Figures()
	}
	reason, err := p.seesStatements(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		d.Hidden = "Statements are not shown: " + reason
	}
	d.Tables = p.largestTables(d.Hidden == "")
	for _, read := range []func(context.Context, *activityData) error{p.readClients, p.readTasks, p.readTests} {
		err := read(ctx, d)
		if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.Unauthorized {
			continue // a role without the permission does not see this part
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (p *page) readClients(ctx context.Context, d *activityData) error {
	r, err := p.query(ctx, "SELECT * FROM system_views.clients")
	if err != nil {
		return err
	}
	for row := range model.Records(r) {
		d.Clients = append(d.Clients, clientView{
			Address: row.Address("address") + ":" + countDigits(row.Number("port")), Driver: shortened(row.Text("driver_name"), 80),
			Version: shortened(row.Text("driver_version"), 40), Keyspace: row.Text("keyspace_name"), Role: row.Text("username"),
			Stage: row.Text("connection_stage"), Requests: row.Number("request_count"),
			Protocol: row.Number("protocol_version"), TLS: row.True("ssl_enabled"),
		})
	}
	slices.SortFunc(d.Clients, func(a, b clientView) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Address, b.Address))
	})
	return nil
}

func (p *page) readTasks(ctx context.Context, d *activityData) error {
	r, err := p.query(ctx, "SELECT * FROM system_views.sstable_tasks")
	if err != nil {
		return err
	}
	for row := range model.Records(r) {
		one := taskView{
			Table: row.Text("keyspace_name") + "." + row.Text("table_name"), Kind: row.Text("kind"), Unit: row.Text("unit"),
			Progress: row.Number("progress"), Total: row.Number("total"),
		}
		if one.Total > 0 {
			one.Share = int(min(one.Progress, one.Total) * 1000 / one.Total)
		}
		d.Tasks = append(d.Tasks, one)
	}
	return nil
}

// maxTables is how many tables the page lists, the largest ones.
const maxTables = 50

// largestTables returns the tables of users by size, with the keys of their largest partitions if the role may see
// them.
func (p *page) largestTables(keys bool) (all []tableItem) {
	for _, k := range p.console.o.Store.Catalog().Keyspaces() {
		if k.Virtual || schema.IsSystem(k.Name) {
			continue
		}
		for _, t := range k.SortedTables() {
			e := p.console.o.Store.Estimate(t)
			one := tableItem{Table: &model.Table{Keyspace: k.Name, Name: t.Name}, Estimate: &e}
			if keys {
				one.LargestKey = keyText(t, e.LargestKey)
			}
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b tableItem) int { return cmp.Compare(b.Estimate.Bytes, a.Estimate.Bytes) })
	return all[:min(len(all), maxTables)]
}

// memory returns how much memory the process and the requests use.
func (p *page) memory() []Figure {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	m := p.console.o.Server.Metrics()
	all := []Figure{{"In use by the process", bytesText(value(1) - value(2))}, {"Heap", bytesText(value(0))}}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<62 { // it only returns the limit
		all = append(all, Figure{"Limit", bytesText(limit)})
	}
	return append(all, Figure{"Requests in flight", bytesText(m.BytesInFlight)},
		Figure{"Responses", bytesText(m.BytesAnswers)},
		Figure{"Prepared statements", countText(int64(m.PreparedStatements)) + ", " + bytesText(m.PreparedBytes)},
		Figure{"Connections", countText(int64(m.Connections))},
		Figure{"Reads that wait", countText(m.ReadsWaiting)}, Figure{"Goroutines", countText(value(3))})
}

// latencies sorts the histograms of statements by their number.
func latencies(all []server.StatementLatency) (views []latencyView) {
	slices.SortFunc(all, func(a, b server.StatementLatency) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.Table, b.Table),
			cmp.Compare(a.Statement, b.Statement))
	})
	for i := range all {
		if all[i].Count > 0 && !schema.IsSystem(all[i].Keyspace) && len(views) < maxTables {
			views = append(views, newLatencyView(&all[i]))
		}
	}
	return views
}

// render executes the template of a part.
func (p *page) render(t *pageTemplate, part string) (string, error) {
	var b strings.Builder
	err := t.execute(&b, part, p)
	return b.String(), err
}
