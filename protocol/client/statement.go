package client

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// QueryOptions are the options of a statement. Nil means the zero value.
type QueryOptions struct {
	Consistency       protocol.Consistency // Any, the zero value, means One
	SerialConsistency protocol.Consistency // 0: not sent
	PageSize          int32                // 0: not sent
	PagingState       []byte
	SkipMetadata      bool
	Timestamp         *int64
	Keyspace          string
	Now               *int32
	Names             []string // of the values
	Tracing           bool
	Payload           []protocol.PayloadEntry
}

// Result is the answer to a statement.
type Result struct {
	Columns      []protocol.ColumnSpec
	Rows         [][][]byte // nil is null
	PagingState  []byte     // nil: no more pages
	SetKeyspace  string     // of USE
	SchemaChange *protocol.SchemaChange
	Warnings     []string
	TracingID    [16]byte // if tracing was asked for
}

// Prepared is a statement that the server keeps.
type Prepared struct {
	*protocol.Prepared
	Query    string
	Keyspace string // that it was prepared for, if any
	Warnings []string
}

// Query runs a statement.
func (c *Conn) Query(ctx context.Context, text string, values []types.Value, o *QueryOptions) (*Result, error) {
	o = o.orDefault()
	return c.runStatement(ctx, &protocol.Query{Query: text, Parameters: o.parameters(values)}, o, nil)
}

// Prepare asks the server to keep a statement, to be run with Execute. After an ERROR the result has only its
// warnings.
func (c *Conn) Prepare(ctx context.Context, text, keyspace string) (*Prepared, error) {
	m := &protocol.Prepare{Query: text}
	if keyspace != "" {
		m.Flags, m.Keyspace = protocol.PrepareWithKeyspace, keyspace
	}
	answer, err := c.do(ctx, m, 0, nil)
	if answer == nil {
		return nil, err
	}
	warnings := answer.Prefix.Warnings
	if err != nil {
		return &Prepared{Warnings: warnings}, err
	}
	p, ok := answer.Response.(*protocol.Prepared)
	if !ok {
		return nil, unexpected(answer)
	}
	return &Prepared{Prepared: p, Query: text, Keyspace: keyspace, Warnings: warnings}, nil
}

// Execute runs a prepared statement, and prepares it again if the server has evicted it.
func (c *Conn) Execute(ctx context.Context, p *Prepared, values []types.Value, o *QueryOptions) (*Result, error) {
	o = o.orDefault()
	m := &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID, Parameters: o.parameters(values)}
	result, err := c.runStatement(ctx, m, o, p)
	if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.Unprepared {
		again, err := c.Prepare(ctx, p.Query, p.Keyspace)
		if err != nil {
			return nil, err
		}
		*p = *again
		m.ID, m.ResultMetadataID = p.ID, p.ResultMetadataID
		return c.runStatement(ctx, m, o, p)
	}
	return result, err
}

// SendExecute sends a prepared statement without waiting for its response; see ReceiveVoid.
func (c *Conn) SendExecute(ctx context.Context, p *Prepared, values []types.Value, o *QueryOptions) error {
	o = o.orDefault()
	m := &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID, Parameters: o.parameters(values)}
	c.stream = c.stream%0x7fff + 1
	return c.Send(ctx, c.stream, 0, o.Payload, m)
}

// SendQuery sends a statement without waiting for its response; see ReceiveVoid.
func (c *Conn) SendQuery(ctx context.Context, text string, values []types.Value, o *QueryOptions) error {
	o = o.orDefault()
	c.stream = c.stream%0x7fff + 1
	return c.Send(ctx, c.stream, 0, o.Payload, &protocol.Query{Query: text, Parameters: o.parameters(values)})
}

// ReceiveVoid waits for the response to any statement sent by SendExecute or SendQuery, and discards its result.
func (c *Conn) ReceiveVoid(ctx context.Context) error {
	_, err := c.ReceiveFrom(ctx)
	return err
}

// QueueExecute encodes a prepared statement on a stream of the caller's choice; Flush sends it. See ReceiveFrom.
func (c *Conn) QueueExecute(stream int16, p *Prepared, values []types.Value, o *QueryOptions) {
	o = o.orDefault()
	m := &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID, Parameters: o.parameters(values)}
	c.out = c.enc.AppendRequest(c.out, stream, 0, o.Payload, m)
}

// Flush sends all requests that were queued.
func (c *Conn) Flush(ctx context.Context) error { return c.write(ctx) }

// ReceiveFrom waits for the response to any statement sent by QueueExecute, and returns its stream.
func (c *Conn) ReceiveFrom(ctx context.Context) (stream int16, err error) {
	answer, err := c.Receive(ctx)
	if err != nil {
		return 0, err
	}
	if e, ok := answer.Response.(*protocol.Error); ok {
		return answer.Header.Stream, e.Err
	}
	return answer.Header.Stream, nil
}

// Batch runs modifications as one unit.
func (c *Conn) Batch(
	ctx context.Context, kind protocol.BatchType, children []protocol.BatchChild, o *QueryOptions,
) (*Result, error) {
	o = o.orDefault()
	return c.runStatement(ctx, &protocol.Batch{Type: kind, Children: children, Parameters: o.parameters(nil)}, o, nil)
}

// Register asks for events, which NextEvent returns.
func (c *Conn) Register(ctx context.Context, events ...protocol.EventType) error {
	m := &protocol.Register{}
	for _, e := range events {
		m.Names = append(m.Names, string(e))
	}
	_, err := c.Do(ctx, m)
	return err
}

// Supported asks for the supported options; it also shows that the connection is alive.
func (c *Conn) Supported(ctx context.Context) (*protocol.Supported, error) {
	answer, err := c.Do(ctx, &protocol.Options{})
	if err != nil {
		return nil, err
	}
	m, ok := answer.Response.(*protocol.Supported)
	if !ok {
		return nil, unexpected(answer)
	}
	return m, nil
}

// runStatement sends a statement and turns its answer into a result. After an ERROR the result has its warnings.
func (c *Conn) runStatement(ctx context.Context, m protocol.Request, o *QueryOptions, p *Prepared) (*Result, error) {
	var flags protocol.Flags
	if o.Tracing {
		flags = protocol.FlagTracing
	}
	answer, err := c.do(ctx, m, flags, o.Payload)
	if answer == nil {
		return nil, err
	}
	result := &Result{Warnings: answer.Prefix.Warnings, TracingID: answer.Prefix.TracingID}
	if err != nil {
		return result, err
	}
	switch m := answer.Response.(type) {
	case *protocol.Void:
	case *protocol.Rows:
		return result, result.setRows(m, p)
	case *protocol.SetKeyspace:
		result.SetKeyspace = m.Keyspace
	case *protocol.SchemaChange:
		result.SchemaChange = m
	default:
		return result, unexpected(answer)
	}
	return result, nil
}

// setRows takes the columns from p if the server omitted them, and updates p if they have changed.
func (r *Result) setRows(m *protocol.Rows, p *Prepared) (err error) {
	r.Columns, r.PagingState = m.Metadata.Columns.Columns(), m.Metadata.PagingState
	if p != nil {
		if m.Metadata.NewMetadataID != nil {
			changed := *p.Prepared
			changed.Result, changed.ResultMetadataID = m.Metadata.Columns, m.Metadata.NewMetadataID
			p.Prepared = &changed
		}
		if m.Metadata.Skip {
			r.Columns = p.Result.Columns()
		}
	}
	r.Rows, err = m.Split()
	return err
}

func unexpected(a *Answer) error { return fmt.Errorf("unexpected answer: %s", a.Response) }

func (o *QueryOptions) orDefault() *QueryOptions {
	if o == nil {
		return &QueryOptions{}
	}
	return o
}

// parameters encodes the options that are set.
func (o *QueryOptions) parameters(values []types.Value) protocol.QueryParameters {
	p := protocol.QueryParameters{
		Consistency: max(o.Consistency, cqlerr.One), SerialConsistency: o.SerialConsistency,
		Values: values, Names: o.Names, PageSize: o.PageSize, PagingState: o.PagingState, Keyspace: o.Keyspace,
	}
	if o.Timestamp != nil {
		p.Timestamp = *o.Timestamp
	}
	if o.Now != nil {
		p.NowInSeconds = *o.Now
	}
	for _, f := range [...]struct {
		flag protocol.ParameterFlags
		set  bool
	}{
		{protocol.WithValues, len(values) > 0},
		{protocol.WithNames, len(o.Names) > 0},
		{protocol.SkipMetadata, o.SkipMetadata},
		{protocol.WithPageSize, o.PageSize != 0},
		{protocol.WithPagingState, o.PagingState != nil},
		{protocol.WithSerialConsistency, o.SerialConsistency != 0},
		{protocol.WithTimestamp, o.Timestamp != nil},
		{protocol.WithKeyspace, o.Keyspace != ""},
		{protocol.WithNow, o.Now != nil},
	} {
		if f.set {
			p.Flags |= f.flag
		}
	}
	return p
}
