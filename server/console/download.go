package console

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
)

// downloadPage is how many rows a download reads at a time.
const downloadPage = 200

// download sends all rows of a query as a file.
func download(p *page) error {
	d := p.readQuery()
	statement, _, err := parser.Parse(d.Text)
	if err := p.console.permit(statement, err); err != nil {
		return err
	}
	conn, err := p.console.connect(p.ctx, Sender(p.r), p.visitor, editorDriver)
	if err != nil {
		return err
	}
	defer conn.Close()
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: downloadPage, Keyspace: d.Keyspace}
	r, err := conn.Query(p.ctx, d.Text, nil, &o)
	if err != nil {
		return err
	}
	if r.Columns == nil {
		return failure{http.StatusBadRequest, "This statement has no rows to download."}
	}
	write, kind, name := writeCSV, "text/csv; charset=utf-8", "rows.csv"
	if p.r.PostFormValue("format") == "json" {
		write, kind, name = writeJSON, "application/json", "rows.json"
	}
	p.w.Header().Set("Content-Type", kind)
	p.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	for sent := -1; ; {
		var b bytes.Buffer
		write(&b, r, sent)
		if _, err := p.w.Write(b.Bytes()); err != nil {
			return nil // the client has hung up
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			return nil
		}
		next, err := conn.Query(p.ctx, d.Text, nil, &o)
		if err != nil {
			panic(http.ErrAbortHandler) // the client notices that the file is not whole
		}
		sent, r = max(sent, 0)+len(r.Rows), next
	}
}

// writeCSV writes a page of rows as CSV, the first one with a heading: sent is how many rows were sent before, or -1.
func writeCSV(b *bytes.Buffer, r *client.Result, sent int) {
	w := csv.NewWriter(b)
	fields := make([]string, len(r.Columns))
	if sent < 0 {
		for i, c := range r.Columns {
			fields[i] = c.Name
		}
		_ = w.Write(fields) // to memory
	}
	for _, row := range r.Rows {
		for i, c := range r.Columns {
			fields[i] = csvField(c.Type, row[i])
		}
		_ = w.Write(fields)
	}
	w.Flush()
}

// writeJSON writes a page of rows as elements of an array, one a line.
func writeJSON(b *bytes.Buffer, r *client.Result, sent int) {
	if sent < 0 {
		b.WriteString("[")
	}
	for i, row := range r.Rows {
		if sent > 0 || i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n{")
		for i, c := range r.Columns {
			if i > 0 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(c.Name) // a text always can be encoded
			b.Write(name)
			b.WriteByte(':')
			appendJSON(b, c.Type, row[i])
		}
		b.WriteByte('}')
	}
	if r.PagingState == nil {
		b.WriteString("\n]\n")
	}
}

// names sends the names of the schema for completion: of columns by table by keyspace.
func names(p *page) error {
	all := map[string]map[string][]string{}
	for _, from := range []string{"system_schema", "system_virtual_schema"} {
		r, err := p.query(p.ctx, "SELECT keyspace_name, table_name, column_name FROM "+from+".columns")
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			keyspace, table := string(row[0]), string(row[1])
			if all[keyspace] == nil {
				all[keyspace] = map[string][]string{}
			}
			all[keyspace][table] = append(all[keyspace][table], string(row[2]))
		}
	}
	p.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(p.w).Encode(all) // the client may have hung up
	return nil
}
