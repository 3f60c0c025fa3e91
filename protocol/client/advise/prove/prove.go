// Package prove measures whether the tables that package advise proposes are better. Prove starts a server in memory
// for each finding, copies the rows of the finding's table to it, creates the proposed table beside it, and replays the
// observed statements on both. The Proof of the finding compares their costs and their rows.
//
// A prover does that for one finding. copy.go copies schema and rows. replay.go chooses the statements, and runs
// queries, whose rows rows.go compares; writes.go runs writes, and queue.go reads a queue by its buckets. translate.go
// turns statements on the old table into statements on the proposed one, and values.go puts values into prepared ones.
// A statement that has no translation is applied to neither table, and the proof says why: nothing is guessed.
package prove

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/model"
)

// Options are the parameters of Prove.
type Options struct {
	Source     *client.Conn // to the server that has the tables; it is only read
	Start      func(context.Context) (*Server, error)
	Statements []model.Statement // the observed ones, in order
}

// Server is an empty server on which proposed tables are tried.
type Server struct {
	Conn   *client.Conn
	Define func(ctx context.Context, statement string) error // runs a definition; its keyspace need not exist
	Cost   func() advise.Cost                                // of the requests since the call before
	Close  func()
}

// Limits of a proof.
const (
	maxRows       = 100_000   // copied of a table
	maxBytes      = 256 << 20 // of the values of these rows
	maxStatements = 10_000    // replayed, the last ones
	maxSamples    = 100       // rows whose values are bound to a prepared statement without recorded values
)

// Prove adds a proof to each finding that proposes a table, and stops at the limit: each finding has an equal share of
// the time that is left. Prove fails only if ctx ends: else each proof has its own reason why it is missing.
func Prove(ctx context.Context, findings []advise.Finding, limit time.Duration, o Options) error {
	type proposal struct {
		finding *advise.Finding
		create  *cql.CreateTable
	}
	var all []proposal
	for i := range findings {
		better, _, err := parser.Parse(findings[i].Better)
		if create, ok := better.(*cql.CreateTable); ok && err == nil {
			all = append(all, proposal{&findings[i], create})
		}
	}
	end := time.Now().Add(limit)
	for i, one := range all {
		share := time.Until(end) / time.Duration(len(all)-i)
		name := one.create.Table.Keyspace + "." + one.create.Table.Name
		one.finding.Proof = &advise.Proof{Table: name}
		if err := o.prove(ctx, share, one.finding, one.create); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			one.finding.Proof = &advise.Proof{Table: name, Unproven: err.Error()}
		}
	}
	return nil
}

// prover measures the proposal of one finding.
type prover struct {
	*Options
	*Server
	finding  *advise.Finding
	proof    *advise.Proof
	old, new *model.Table
	bucket   *bucket // the column of the proposed table that is computed, or nil

	keyspaces map[string][]string // of the tables of the source, by their names
	wanted    map[string]bool     // forms of queries that the finding is about; nil: all
	forms     map[string]int      // indexes in proof.Statements
	omitted   map[string]int      // indexes in proof.Omitted, by forms and reasons
	valid     map[string]bool     // forms of writes that the proposed table takes
	sampled   []*unbound
	queue     consumer
}

// prove measures the proposal of a finding within a time.
func (o *Options) prove(
	ctx context.Context, limit time.Duration, f *advise.Finding, create *cql.CreateTable,
) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if ctx.Err() != nil && err != nil {
			err = errors.New("the time for it has passed before a statement was replayed")
		}
	}()
	server, err := o.Start(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	p := &prover{
		Options: o, Server: server, finding: f, proof: f.Proof, forms: map[string]int{}, omitted: map[string]int{},
		valid: map[string]bool{}, queue: consumer{at: map[string]int64{}, written: math.MinInt64},
	}
	if err := p.copySchema(ctx); err != nil {
		return err
	}
	if err := p.Define(ctx, f.Better); err != nil {
		return fmt.Errorf("its statement fails: %w", err)
	}
	if p.new, err = p.table(ctx, create.Table.Keyspace, create.Table.Name); err != nil {
		return err
	}
	if err := p.matchColumns(); err != nil {
		return err
	}
	if err := p.copyRows(ctx); err != nil {
		return err
	}
	for _, e := range f.Evidence {
		if strings.HasPrefix(strings.ToUpper(e.Form), "SELECT") {
			if p.wanted == nil {
				p.wanted = map[string]bool{}
			}
			p.wanted[sameForm(e.Form)] = true
		}
	}
	return p.replay(ctx)
}

// table reads a table of the server.
func (p *prover) table(ctx context.Context, keyspace, name string) (*model.Table, error) {
	all, err := model.Tables(ctx, model.QueryOn(p.Conn), keyspace, name)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("the table %s.%s does not exist any more", keyspace, name)
	}
	return all[0], nil
}

// matchColumns finds the bucket of the proposed table, and refuses other columns that the old table does not have.
func (p *prover) matchColumns() error {
	for _, c := range p.new.Columns {
		if p.old.Column(c.Name) != nil {
			continue
		}
		b := bucketOf(c, p.old)
		if b == nil || p.bucket != nil || c.Kind != "partition_key" {
			return fmt.Errorf("its column %s is not one of the old table, so only the application knows its values", c.Name)
		}
		p.bucket = b
	}
	return nil
}

// bucket is a column of a partition key that has the beginning of the period in which a row was written.
type bucket struct {
	column model.Column
	of     model.Column // has the time
	millis int64        // of a period
}

// bucketOf returns the bucket that a column is, or nil.
func bucketOf(c model.Column, old *model.Table) *bucket {
	clustering := old.OfKind("clustering")
	if len(clustering) == 0 || clustering[0].Type != "timestamp" && clustering[0].Type != "timeuuid" {
		return nil
	}
	b := &bucket{column: c, of: clustering[0]}
	switch {
	case c.Type == "timestamp" && strings.HasPrefix(c.Name, "hour"):
		b.millis = time.Hour.Milliseconds()
	case c.Type == "date" && strings.HasPrefix(c.Name, "day"):
		b.millis = 24 * time.Hour.Milliseconds()
	default:
		return nil
	}
	return b
}
