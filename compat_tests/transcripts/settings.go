package transcripts

import (
	"errors"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

var (
	errNoParameters = errors.New("the message has no such field")
	errNoStatement  = errors.New("belongs below a BATCH")
)

// settings are the lines that may follow a message.
var settings = map[string]func(q *request, arg string) error{
	// of the envelope
	"flags":   (*request).setFlags,
	"payload": (*request).setPayload,
	"stream": func(q *request, arg string) error {
		n, err := strconv.ParseInt(arg, 10, 16)
		q.stream = int16(n)
		return err
	},
	// of the message
	"values":      (*request).setValues,
	"query":       func(q *request, arg string) error { return q.addStatement(protocol.BatchChild{Query: arg}) },
	"execute":     (*request).addPrepared,
	"metadata":    (*request).setMetadata,
	"consistency": parameter(0, func(p *protocol.QueryParameters) any { return &p.Consistency }),
	"serial":      parameter(protocol.WithSerialConsistency, func(p *protocol.QueryParameters) any { return &p.SerialConsistency }),
	"page":        parameter(protocol.WithPageSize, func(p *protocol.QueryParameters) any { return &p.PageSize }),
	"timestamp":   parameter(protocol.WithTimestamp, func(p *protocol.QueryParameters) any { return &p.Timestamp }),
	"now":         parameter(protocol.WithNow, func(p *protocol.QueryParameters) any { return &p.NowInSeconds }),
	"parameters":  parameter(0, func(p *protocol.QueryParameters) any { return &p.Flags }),
	"skip":        parameter(protocol.SkipMetadata, nil),
	"state":       (*request).setState,
	"keyspace":    (*request).setKeyspace,
	// of the answer
	"hide": func(q *request, arg string) error {
		for _, name := range strings.Fields(arg) {
			q.hidden[name] = true
		}
		return nil
	},
	"answers": func(q *request, arg string) (err error) {
		q.wait.answers, err = strconv.Atoi(arg)
		return err
	},
	"closed": func(q *request, _ string) error { q.wait.closed = true; return nil },
	"bytes":  func(q *request, _ string) error { q.wait.bytes = true; return nil },
}

// parameter sets a field of the parameters and its flag.
func parameter(f protocol.ParameterFlags, field func(*protocol.QueryParameters) any) func(*request, string) error {
	return func(q *request, arg string) error {
		if q.params == nil {
			return errNoParameters
		}
		q.params.Flags |= f
		if field == nil {
			return nil
		}
		return parseInto(field(q.params), arg)
	}
}

// parseInto reads a number, or the name of a consistency level.
func parseInto(field any, arg string) error {
	if c, ok := field.(*protocol.Consistency); ok {
		for level := cqlerr.Any; level.Known(); level++ {
			if level.String() == arg {
				*c = level
				return nil
			}
		}
	}
	n, err := strconv.ParseInt(arg, 0, 64)
	switch field := field.(type) {
	case *protocol.Consistency:
		*field = protocol.Consistency(n)
	case *int32:
		*field = int32(n)
	case *int64:
		*field = n
	case *protocol.ParameterFlags:
		*field |= protocol.ParameterFlags(n)
	}
	return err
}

// setFlags sets flags of the header: by name, or in hex.
func (q *request) setFlags(arg string) error {
	names := map[string]protocol.Flags{"tracing": protocol.FlagTracing, "beta": protocol.FlagUseBeta}
	for _, name := range strings.Fields(arg) {
		f, ok := names[name]
		if !ok {
			n, err := strconv.ParseUint(name, 0, 8)
			if err != nil {
				return err
			}
			f = protocol.Flags(n)
		}
		q.flags |= f
	}
	return nil
}

// setPayload adds an entry to the custom payload: a key and bytes.
func (q *request) setPayload(arg string) error {
	key, value, _ := strings.Cut(arg, " ")
	v, err := parseValue(value)
	q.payload = append(q.payload, protocol.PayloadEntry{Key: key, Value: v.Bytes})
	return err
}

// setValues binds values: to the last statement of a batch, or to the statement.
func (q *request) setValues(arg string) error {
	var values []types.Value
	var names []string
	if arg != "" {
		var err error
		if values, names, err = parseValues(arg); err != nil {
			return err
		}
	}
	if b, ok := q.message.(*protocol.Batch); ok {
		if len(b.Children) == 0 || names != nil {
			return errors.New("a batch has values without names below each statement")
		}
		b.Children[len(b.Children)-1].Values = values
		return nil
	}
	if q.params == nil {
		return errNoParameters
	}
	q.params.Values, q.params.Names = values, names
	q.params.Flags |= protocol.WithValues
	if names != nil {
		q.params.Flags |= protocol.WithNames
	}
	return nil
}

func (q *request) addStatement(c protocol.BatchChild) error {
	b, ok := q.message.(*protocol.Batch)
	if !ok {
		return errNoStatement
	}
	b.Children = append(b.Children, c)
	return nil
}

func (q *request) addPrepared(arg string) error {
	id, err := q.symbols.id(arg)
	if err != nil {
		return err
	}
	return q.addStatement(protocol.BatchChild{Prepared: true, ID: id})
}

// setMetadata sets the result metadata id of an EXECUTE. Versions without such ids have no symbols for them.
func (q *request) setMetadata(arg string) (err error) {
	m, ok := q.message.(*protocol.Execute)
	if !ok {
		return errNoParameters
	}
	if !q.version.HasResultMetadataID() {
		return nil
	}
	m.ResultMetadataID, err = q.symbols.id(arg)
	return err
}

func (q *request) setState(arg string) (err error) {
	if q.params == nil {
		return errNoParameters
	}
	q.params.Flags |= protocol.WithPagingState
	if arg != "null" {
		q.params.PagingState, err = q.symbols.id(arg)
	}
	return err
}

func (q *request) setKeyspace(arg string) error {
	if m, ok := q.message.(*protocol.Prepare); ok {
		m.Flags, m.Keyspace = protocol.PrepareWithKeyspace, arg
		return nil
	}
	if q.params == nil {
		return errNoParameters
	}
	q.params.Flags |= protocol.WithKeyspace
	q.params.Keyspace = arg
	return nil
}
