package transcripts

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// printer prints answers to one request.
type printer struct {
	symbols *symbols
	version protocol.Version // the connection's
	stream  int16            // that an answer should have
	hidden  map[string]bool
}

// print prints an envelope: its message, then the fields before it on the wire, then anything odd.
func (p *printer) print(e *envelope) []string {
	lines := p.message(e)
	if e.prefix.Traced {
		lines = append(lines, "  tracing "+p.symbols.add(tracingID, e.prefix.TracingID[:]))
	}
	for _, w := range e.prefix.Warnings {
		lines = append(lines, "  warning "+p.symbols.text(w))
	}
	for _, entry := range e.prefix.Payload {
		lines = append(lines, fmt.Sprintf("  payload %s %#x", entry.Key, entry.Value))
	}
	return append(append(lines, p.header(e.header)...), e.remarks()...)
}

// header prints unusual fields of a header.
func (p *printer) header(h protocol.Header) (lines []string) {
	if h.Version != p.version {
		lines = append(lines, fmt.Sprintf("  version %d", h.Version))
	}
	if h.Stream != p.stream {
		lines = append(lines, fmt.Sprintf("  stream %d", h.Stream))
	}
	if f := h.Flags &^ (protocol.FlagTracing | protocol.FlagWarning | protocol.FlagCustomPayload); f != 0 {
		lines = append(lines, fmt.Sprintf("  flags %#02x", byte(f)))
	}
	return lines
}

// message prints the fields of a message.
func (p *printer) message(e *envelope) []string {
	switch m := e.message.(type) {
	case *protocol.Error:
		return p.error(m.Err)
	case *protocol.Rows:
		return p.rows(m, e.header.Version)
	case *protocol.Prepared:
		return p.prepared(m, e.header.Version)
	}
	return []string{p.symbols.text(e.message.String())}
}

func (p *printer) error(e *cqlerr.Error) []string {
	lines := []string{fmt.Sprintf("ERROR 0x%04x %s", uint32(e.Code), p.symbols.text(e.Message))}
	switch d := e.Detail.(type) {
	case nil:
	case cqlerr.UnpreparedDetail:
		lines = append(lines, "  "+p.symbols.text(fmt.Sprintf("id %x", d.ID)))
	default:
		lines = append(lines, "  "+p.symbols.text(fmt.Sprintf("%+v", d)))
	}
	return lines
}

// rows prints metadata and rows.
func (p *printer) rows(m *protocol.Rows, v protocol.Version) []string {
	lines := []string{fmt.Sprintf("ROWS %d of %d columns, %s", m.Count, m.Metadata.Columns.Len(), metadataFlags(m, v))}
	if m.Metadata.PagingState != nil {
		lines = append(lines, "  state "+p.symbols.add(stateID, m.Metadata.PagingState))
	}
	if m.Metadata.NewMetadataID != nil {
		lines = append(lines, "  metadata "+p.symbols.add(metadataID, m.Metadata.NewMetadataID))
	}
	columns := m.Metadata.Columns.Columns()
	if !m.Metadata.Skip {
		lines = append(lines, "  columns "+p.columns(columns, v))
	}
	rows, err := m.Split()
	if err != nil {
		return append(lines, "  "+err.Error())
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = p.cell(columns, i, cell)
		}
		lines = append(lines, "  "+strings.Join(cells, " | "))
	}
	return lines
}

// metadataFlags names the flags that rows are sent with.
func metadataFlags(m *protocol.Rows, v protocol.Version) string {
	body := protocol.AppendBody(nil, v, m)
	names := []string{}
	for i, name := range []string{"global", "more pages", "no metadata", "metadata changed"} {
		if body[7]>>i&1 != 0 { // after the kind of result, in the last byte of the flags
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no flags"
	}
	return strings.Join(names, ", ")
}

// longCell is the longest text of a value that is printed whole.
const longCell = 400

// cell prints a value as a literal of its column, or in hex if the columns did not come with the rows.
func (p *printer) cell(columns []protocol.ColumnSpec, i int, v []byte) string {
	switch {
	case v == nil:
		return "null"
	case i >= len(columns):
		return fmt.Sprintf("0x%x", v)
	case p.hidden[columns[i].Name]:
		return "*"
	}
	text := p.symbols.text(columns[i].Type.Format(v))
	switch {
	case text == "", len(v) == 0 && text == "null":
		return "(empty)"
	case len(text) > longCell:
		return fmt.Sprintf("%s... (%d bytes, CRC %08x)", text[:20], len(v), crc32.ChecksumIEEE(v))
	}
	return text
}

// columns prints columns or markers, grouped by table after the table's name.
func (p *printer) columns(columns []protocol.ColumnSpec, v protocol.Version) string {
	if len(columns) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, c := range columns {
		switch {
		case i == 0 || c.Keyspace != columns[i-1].Keyspace || c.Table != columns[i-1].Table:
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s.%s: ", c.Keyspace, c.Table)
		default:
			b.WriteString(", ")
		}
		b.WriteString(c.Name + " ")
		if isCustom(c.Type, v) {
			b.WriteString("custom ")
		}
		b.WriteString(typeText(c.Type))
	}
	return p.symbols.text(b.String())
}

// typeText prints a type as it was sent; user types with their fields.
func typeText(t types.Type) string {
	user, ok := t.(*types.UserType)
	if !ok {
		return t.String()
	}
	fields := make([]string, len(user.Fields))
	for i, f := range user.Fields {
		fields[i] = f.Name + " " + typeText(f.Type)
	}
	return user.Keyspace + "." + user.Name + "(" + strings.Join(fields, ", ") + ")"
}

// isCustom reports whether a version has no code for a type and sends the name of its class: decoding hides that.
func isCustom(t types.Type, v protocol.Version) bool {
	m := &protocol.Rows{Metadata: protocol.RowsMetadata{
		Columns: protocol.NewColumnSpecs([]protocol.ColumnSpec{{Type: t}}),
	}}
	code := protocol.AppendBody(nil, v, m)[18:20] // after kind, flags, count and three empty names
	return code[0] == 0 && code[1] == 0
}

// prepared prints the result of PREPARE.
func (p *printer) prepared(m *protocol.Prepared, v protocol.Version) []string {
	lines := []string{"PREPARED " + p.symbols.add(preparedID, m.ID)}
	if v.HasResultMetadataID() {
		lines = append(lines, "  metadata "+p.symbols.add(metadataID, m.ResultMetadataID))
	}
	lines = append(lines, "  markers "+p.columns(m.Bind.Columns(), v))
	if v.HasPKIndexes() && m.Bind.Len() > 0 {
		lines = append(lines, fmt.Sprintf("  partition key %d", m.PKIndexes))
	}
	return append(lines, "  columns "+p.columns(m.Result.Columns(), v))
}
