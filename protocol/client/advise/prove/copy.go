package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

// copySchema defines the keyspace of the finding's table on the server, without its views.
func (p *prover) copySchema(ctx context.Context) error {
	keyspace, name, _ := strings.Cut(p.finding.Table, ".")
	read := model.QueryOn(p.Source)
	r, err := read(ctx, "DESCRIBE KEYSPACE "+quote.Name(keyspace))
	if err != nil {
		return err
	}
	for row := range model.Records(r) {
		text := row.Text("create_statement")
		if statement, _, err := parser.Parse(text); err == nil {
			if _, isView := statement.(*cql.CreateView); isView {
				continue
			}
		}
		if err := p.Define(ctx, text); err != nil {
			return fmt.Errorf("the schema cannot be copied: %w", err)
		}
	}
	if p.old, err = p.table(ctx, keyspace, name); err != nil {
		return err
	}
	if r, err = read(ctx, "SELECT keyspace_name, table_name FROM system_schema.tables"); err != nil {
		return err
	}
	p.keyspaces = map[string][]string{}
	for row := range model.Records(r) {
		name := row.Text("table_name")
		p.keyspaces[name] = append(p.keyspaces[name], row.Text("keyspace_name"))
	}
	return nil
}

// column is the name of a column as statements have it.
func column(c model.Column) string { return cql.ColumnRef{Name: c.Name}.String() }

// columns are the names of columns as statements have them.
func columns(all []model.Column) string {
	var names []string
	for _, c := range all {
		names = append(names, column(c))
	}
	return strings.Join(names, ", ")
}

// named is the name of a table as statements have it.
func named(t *model.Table) cql.QualifiedName {
	return cql.QualifiedName{Keyspace: t.Keyspace, Name: t.Name}
}

// keyOf are the columns of the primary key.
func keyOf(t *model.Table) []model.Column {
	return slices.Concat(t.OfKind("partition_key"), t.OfKind("clustering"))
}

// copyRows writes the rows of the old table on the source to both tables of the server. It takes at most half of the
// time that is left.
func (p *prover) copyRows(ctx context.Context) error {
	prepare := func(t *model.Table) (*client.Prepared, error) {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
		return p.Conn.Prepare(ctx, "INSERT INTO "+named(t).String()+" ("+columns(t.Columns)+") VALUES ("+marks+")", "")
	}
	old, err := prepare(p.old)
	if err != nil {
		return fmt.Errorf("rows of %s cannot be copied: %w", p.finding.Table, err)
	}
	new, err := prepare(p.new)
	if err != nil {
		return fmt.Errorf("rows cannot be copied into it: %w", err)
	}
	query := "SELECT " + columns(p.old.Columns) + " FROM " + named(p.old).String()
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 1000}
	bytes, begun := 0, time.Now()
	for {
		page, err := p.Source.Query(ctx, query, nil, &o)
		if err != nil {
			return err
		}
		for row := range model.Records(page) {
			if p.proof.Rows == maxRows || bytes > maxBytes {
				p.proof.Truncated = true
				return nil
			}
			whole, n := p.values(p.old, row)
			if bytes += n; whole == nil {
				p.proof.LeftOut++
				continue
			}
			translated, _ := p.values(p.new, row)
			if translated == nil {
				p.proof.LeftOut++
			}
			if _, err := p.Conn.Execute(ctx, old, whole, nil); err != nil {
				return err
			}
			p.proof.Rows++
			if translated == nil {
				continue
			}
			if _, err := p.Conn.Execute(ctx, new, translated, nil); err != nil {
				return err
			}
		}
		p.Cost() // the record of statements is in memory
		if page.PagingState == nil {
			return nil
		}
		if end, ok := ctx.Deadline(); ok && time.Since(begun) > time.Until(end) {
			p.proof.Truncated = true
			return nil
		}
		o.PagingState = page.PagingState
	}
}

// values are a row of the old table as a row of a table, and its size in bytes. They are nil if the row has no key
// there.
func (p *prover) values(t *model.Table, row model.Record) (all []types.Value, bytes int) {
	for _, c := range t.Columns {
		var b []byte
		if p.bucket != nil && c.Name == p.bucket.column.Name {
			at, _ := row.Value(p.bucket.of.Name)
			period := p.bucket.period(at)
			p.queue.addPeriod(period)
			b = p.bucket.encode(period)
		} else {
			b, _ = row.Value(c.Name)
		}
		bytes += len(b)
		if b == nil && (c.Kind == "partition_key" || c.Kind == "clustering") {
			return nil, bytes
		}
		all = append(all, types.Value{Bytes: b, Unset: b == nil})
	}
	return all, bytes
}

// period is the period of a time, as a number of periods since 1970.
func (b *bucket) period(at []byte) int64 {
	if len(at) == 0 {
		return 0
	}
	millis := int64(0)
	if b.of.Type == "timeuuid" {
		millis = types.TimeUUIDMillis(at)
	} else {
		millis = types.DecodeBigInt(at)
	}
	n := millis / b.millis
	if millis < n*b.millis {
		n--
	}
	return n
}

// encode is a period as a value of the bucket's column.
func (b *bucket) encode(period int64) []byte {
	if b.column.Type == "date" {
		return types.EncodeDate(period)
	}
	return types.EncodeBigInt(period * b.millis)
}

// literal is a period as a literal.
func (b *bucket) literal(period int64) *cql.Literal {
	text := types.Timestamp.Format(b.encode(period))
	if b.column.Type == "date" {
		text = types.Date.Format(b.encode(period))
	}
	return &cql.Literal{Kind: cql.StringLiteral, Text: strings.Trim(text, "'")}
}

// periodOf is the period of a time that is written as a literal.
func (b *bucket) periodOf(t cql.Term) (period int64, ok bool) {
	literal, ok := t.(*cql.Literal)
	if !ok {
		return 0, false
	}
	of := types.Timestamp
	if b.of.Type == "timeuuid" {
		of = types.TimeUUID
	}
	at, err := of.ParseLiteral(types.LiteralKind(literal.Kind), literal.Text)
	if err != nil || len(at) == 0 {
		return 0, false
	}
	return b.period(at), true
}
