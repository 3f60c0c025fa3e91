package cqltest

import (
	"context"
	"testing"

	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/model"
)

// Advise compares the tables, and the statements that were recorded, with rules of data modelling for Cassandra. It
// fails the test for each error and warning, and logs notes. ignore are names of rules, which cqld advise --rules
// lists. Without recorded statements only rules of the schema apply.
func (s *Server) Advise(t testing.TB, ignore ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o := advise.Options{Ignore: ignore}
	if s.controls.Record.IsStarted() {
		o.Statements = []model.Statement{}
	}
	for _, r := range s.controls.Record.Statements() {
		st := model.Statement{
			Number: r.Number, BatchType: r.BatchType, Nulls: int64(r.Nulls), Opcode: r.Opcode, Kind: r.Kind, Text: r.Text, Client: r.Client,
			Took: r.Took, Rows: int64(r.RowsRead), Tombstones: int64(r.Tombstones), Returned: int64(r.Returned), Partitions: r.Keys,
			FullScan: r.Scanned, Prepared: r.Prepared,
		}
		if r.Table != "" {
			st.Table = r.Keyspace + "." + r.Table
		}
		if r.Err != nil {
			st.Err = r.Err.Error()
		}
		o.Statements = append(o.Statements, st)
	}
	var report *advise.Report
	err := s.setup.use(ctx, s.Addr(), s.setupOptions, func(conn *client.Conn) (err error) {
		report, err = advise.Advise(ctx, model.QueryOn(conn), o)
		return err
	})
	if err != nil {
		t.Fatalf("advise: %v", err)
	}
	for i := range report.Findings {
		if f := &report.Findings[i]; f.Severity == advise.Note {
			t.Log(f)
		} else {
			t.Error(f)
		}
	}
	if !report.Recorded {
		t.Log(report.Summary())
	}
}
