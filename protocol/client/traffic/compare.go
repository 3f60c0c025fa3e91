package traffic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// comparison compares an answer with the recorded one.
type comparison struct {
	recorded, replayed period                // of the times that the servers generated
	wantColumns        []protocol.ColumnSpec // of rows without metadata
	gotColumns         []protocol.ColumnSpec
	differences        []string
}

// period is the time from the first request to the compared response.
type period struct{ from, to time.Time }

// slack is the accepted difference between the clocks of a server and the recorder.
const slack = time.Minute

// has reports whether a time is in the period.
func (p period) has(t time.Time) bool {
	return t.After(p.from.Add(-slack)) && t.Before(p.to.Add(slack))
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// isSystem reports whether rows are from system tables, which describe the cluster.
func isSystem(columns []protocol.ColumnSpec) bool {
	return len(columns) > 0 && strings.HasPrefix(columns[0].Keyspace, "system")
}

// answers compares two answers.
func (c *comparison) answers(want, got protocol.Response) {
	if reflect.TypeOf(want) != reflect.TypeOf(got) {
		c.differ("the recorded answer is %s, this one %s", brief(want), brief(got))
		return
	}
	switch want := want.(type) {
	case *protocol.Error:
		c.errors(want.Err, got.(*protocol.Error).Err)
	case *protocol.Rows:
		c.rows(want, got.(*protocol.Rows))
	case *protocol.Prepared:
		got := got.(*protocol.Prepared)
		c.columns("markers", want.Bind.Columns(), got.Bind.Columns())
		c.columns("columns", want.Result.Columns(), got.Result.Columns())
		if !slices.Equal(want.PKIndexes, got.PKIndexes) {
			c.differ("the markers of the partition key are %v, recorded are %v", got.PKIndexes, want.PKIndexes)
		}
	default:
		if w, g := want.String(), got.String(); w != g {
			c.differ("the answer is %s, recorded is %s", g, w)
		}
	}
}

// brief describes a response.
func brief(m protocol.Response) string {
	switch m := m.(type) {
	case *protocol.Error:
		return fmt.Sprintf("an error 0x%04X: %s", uint32(m.Err.Code), m.Err.Message)
	case *protocol.Rows:
		return fmt.Sprintf("%d rows", m.Count)
	}
	return m.String()
}

func (c *comparison) errors(want, got *cqlerr.Error) {
	if want.Code != got.Code {
		c.differ("the error is 0x%04X (%s), recorded is 0x%04X (%s)",
			uint32(got.Code), got.Message, uint32(want.Code), want.Message)
		return
	}
	if want.Message != got.Message {
		c.differ("the error says %q, recorded is %q", got.Message, want.Message)
	}
	if !reflect.DeepEqual(want.Detail, got.Detail) {
		c.differ("the error has %+v, recorded is %+v", got.Detail, want.Detail)
	}
}

// columns compares metadata.
func (c *comparison) columns(kind string, want, got []protocol.ColumnSpec) {
	if w, g := columnTexts(want), columnTexts(got); !slices.Equal(w, g) {
		c.differ("the %s are [%s], recorded are [%s]", kind, strings.Join(g, ", "), strings.Join(w, ", "))
	}
}

func columnTexts(columns []protocol.ColumnSpec) []string {
	texts := make([]string, len(columns))
	for i, s := range columns {
		texts[i] = fmt.Sprintf("%s.%s.%s %s", s.Keyspace, s.Table, s.Name, s.Type)
	}
	return texts
}

// rows compares metadata, then the rows in order: the order is that of tokens and clustering keys.
func (c *comparison) rows(want, got *protocol.Rows) {
	if want.Metadata.Skip == got.Metadata.Skip {
		c.columns("columns", want.Metadata.Columns.Columns(), got.Metadata.Columns.Columns())
	} else {
		c.differ("the answer has metadata: %t, recorded: %t", !got.Metadata.Skip, !want.Metadata.Skip)
	}
	if w, g := want.Metadata.PagingState != nil, got.Metadata.PagingState != nil; w != g {
		c.differ("there is a next page: %t, recorded: %t", g, w)
	}
	wantRows, wantErr := want.Split()
	gotRows, gotErr := got.Split()
	if wantErr != nil || gotErr != nil {
		c.differ("rows cannot be read: %v, recorded: %v", gotErr, wantErr)
		return
	}
	if len(wantRows) != len(gotRows) {
		c.differ("there are %d rows, recorded are %d", len(gotRows), len(wantRows))
	}
	columns := want.Metadata.Columns.Columns()
	if want.Metadata.Skip {
		columns = c.wantColumns
	}
	const shown = 5
	differing := 0
	for i := range min(len(wantRows), len(gotRows)) {
		if c.sameRow(columns, wantRows[i], gotRows[i]) {
			continue
		}
		if differing++; differing <= shown {
			c.differ("row %d is (%s), recorded is (%s)", i+1, rowText(columns, gotRows[i]), rowText(columns, wantRows[i]))
		}
	}
	if differing > shown {
		c.differ("%d more rows differ", differing-shown)
	}
}

// rowText prints a row.
func rowText(columns []protocol.ColumnSpec, row [][]byte) string {
	var cells []string
	for i, b := range row {
		switch {
		case b == nil:
			cells = append(cells, "null")
		case i < len(columns) && columns[i].Type.Validate(b) == nil:
			cells = append(cells, columns[i].Name+"="+columns[i].Type.Format(b))
		default:
			cells = append(cells, fmt.Sprintf("0x%x", b))
		}
	}
	return strings.Join(cells, ", ")
}

func (c *comparison) sameRow(columns []protocol.ColumnSpec, want, got [][]byte) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if (want[i] == nil) != (got[i] == nil) {
			return false
		}
		if !bytes.Equal(want[i], got[i]) && (i >= len(columns) || !c.sameCell(columns[i], want[i], got[i])) {
			return false
		}
	}
	return true
}

// sameCell reports whether two values may differ because they depend on the time of the request (now(), write times,
// remaining TTLs) or are random.
func (c *comparison) sameCell(column protocol.ColumnSpec, want, got []byte) bool {
	if column.Name == "system.uuid()" {
		return true
	}
	if strings.HasPrefix(column.Name, "ttl(") && len(want) == 4 && len(got) == 4 {
		left := int64(types.DecodeInt(want)) - int64(types.DecodeInt(got))
		return time.Duration(max(left, -left))*time.Second <= slack
	}
	w, ok := timeOf(column, want)
	g, also := timeOf(column, got)
	return ok && also && c.recorded.has(w) && c.replayed.has(g)
}

// timeOf returns the time in a value.
func timeOf(column protocol.ColumnSpec, b []byte) (time.Time, bool) {
	switch {
	case column.Type == types.Timestamp && len(b) == 8:
		return time.UnixMilli(types.DecodeBigInt(b)), true
	case (column.Type == types.TimeUUID || column.Type == types.UUID) && len(b) == 16 && b[6]>>4 == 1:
		ticks := int64(binary.BigEndian.Uint16(b[6:])&0xfff)<<48 | int64(binary.BigEndian.Uint16(b[4:]))<<32 |
			int64(binary.BigEndian.Uint32(b))
		const gregorian = 0x01b21dd213814000 // of 1970, in units of 100 ns since 1582
		return time.UnixMicro((ticks - gregorian) / 10), true
	case strings.Contains(column.Name, "writetime(") && column.Type == types.BigInt && len(b) == 8:
		return time.UnixMicro(types.DecodeBigInt(b)), true
	}
	return time.Time{}, false
}
