package console

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

// queryData is the page of the editor.
type queryData struct {
	Keyspaces []string
	Keyspace  string // of names without one
	Text      string
	Size      int32 // rows in a page
	Trace     bool

	Plan   *planView   // nil: the statement has none
	Error  *errorView  // nil: it did not fail
	Result *resultView // nil: it did not run
}

// sizes are the numbers of rows that a page may have.
var sizes = []int32{20, 100, 500, 1000}

// Sizes are the choices of Size.
func (d *queryData) Sizes() []int32 { return sizes }

// resultView is a page of rows.
type resultView struct {
	Columns  []columnView
	Rows     []rowView
	Table    string // to edit its cells; "": they cannot be edited
	From     int    // the number of the first row
	Next     string // signed state of the next page; "": this is the last
	Took     time.Duration
	Warnings []string
	Trace    *traceView
	Done     string // of a statement without rows
}

// Last is the number of the last row.
func (v *resultView) Last() int { return v.From + len(v.Rows) - 1 }

// columnView is a column of a result.
type columnView struct {
	Name, Type, Kind string
	Quoted           string // its name in CQL; "": it cannot be edited
	Static           bool
}

// rowView is a row with the conditions that select it, and its partition.
type rowView struct {
	Cells            []cell
	Where, Partition string
}

// oneQuery serves a page unless too many queries run.
func oneQuery(serve func(*page) error) func(*page) error {
	return func(p *page) error {
		if !p.console.queries.take(p.visitor.name) {
			return failure{http.StatusServiceUnavailable, "Too many queries are running."}
		}
		defer p.console.queries.give(p.visitor.name)
		return serve(p)
	}
}

// queryPage shows the editor. A POST runs the statement.
func queryPage(p *page) error {
	p.Tab, p.Title = "query", "Query"
	d := p.readQuery()
	p.Data = d
	if !p.isFragment() {
		for _, from := range []string{"system_schema", "system_virtual_schema"} {
			r, err := p.query(p.ctx, "SELECT keyspace_name FROM "+from+".keyspaces")
			if err != nil {
				return err
			}
			for row := range model.Records(r) {
				d.Keyspaces = append(d.Keyspaces, row.Text("keyspace_name"))
			}
		}
		slices.SortFunc(d.Keyspaces, func(a, b string) int { // keyspaces of users first
			if schema.IsSystem(a) != schema.IsSystem(b) {
				return map[bool]int{true: 1, false: -1}[schema.IsSystem(a)]
			}
			return cmp.Compare(a, b)
		})
	}
	statement, _, parseErr := parser.Parse(d.Text)
	if parseErr == nil {
		var err error
		if d.Plan, err = p.plan(statement, d.Keyspace); err != nil {
			return err
		}
	}
	if p.r.Method == http.MethodPost && p.r.PostFormValue("act") != "plan" {
		if err := p.run(d, statement, parseErr); err != nil {
			d.Error = newErrorView(err, d.Text)
		}
	} else if d.Text != "" && parseErr != nil && p.r.Method == http.MethodPost {
		d.Error = newErrorView(parseErr, d.Text)
	}
	if p.isFragment() {
		return p.show("query", "result")
	}
	return p.show("query", "")
}

// readQuery reads the form.
func (p *page) readQuery() *queryData {
	d := &queryData{
		Keyspace: p.r.FormValue("keyspace"), Text: strings.ReplaceAll(p.r.FormValue("text"), "\r\n", "\n"),
		Size: 100, Trace: p.r.FormValue("trace") != "",
	}
	if n, err := strconv.Atoi(p.r.FormValue("size")); err == nil && slices.Contains(sizes, int32(n)) {
		d.Size = int32(n)
	}
	return d
}

// planFragment is the plan of the statement in the editor, which does not run.
func planFragment(p *page) error {
	d := p.readQuery()
	p.Data = d
	if statement, _, err := parser.Parse(d.Text); err == nil {
		if d.Plan, err = p.plan(statement, d.Keyspace); err != nil {
			return err
		}
	}
	return p.show("query", "plan")
}

// errReadOnly refuses statements that are not reads.
var errReadOnly = failure{http.StatusForbidden, "This console is read-only: only SELECT and DESCRIBE run. " +
	"Start the server with --console-write to run other statements here."}

// permit refuses a statement that the console does not run. A text that cannot be parsed may go to the server of a
// console that writes, which refuses it too.
func (c *Console) permit(statement cql.Statement, parseErr error) error {
	if parseErr != nil && !c.o.Write {
		return parseErr
	}
	switch statement.(type) {
	case *cql.Select, *cql.Describe:
		return nil
	case *cql.Use:
		return failure{http.StatusBadRequest, "Choose the keyspace above the editor instead of USE."}
	}
	if !c.o.Write {
		return errReadOnly
	}
	return nil
}

// run runs the statement, and shows a page of its rows.
func (p *page) run(d *queryData, statement cql.Statement, parseErr error) error {
	if err := p.console.permit(statement, parseErr); err != nil {
		return err
	}
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: d.Size, Keyspace: d.Keyspace, Tracing: d.Trace}
	from := 1
	if next := p.r.PostFormValue("next"); next != "" {
		var err error
		if o.PagingState, from, err = p.console.openPage(d, next); err != nil {
			return err
		}
	}
	conn, err := p.console.connect(p.ctx, Sender(p.r), p.visitor, editorDriver)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := p.limited()
	defer cancel()
	began := time.Now()
	r, err := conn.Query(ctx, d.Text, nil, &o)
	took := time.Since(began)
	if err != nil {
		if r != nil && len(r.Warnings) > 0 {
			d.Result = &resultView{Warnings: r.Warnings, Took: took, Done: "The statement failed."}
		}
		return err
	}
	v := &resultView{From: from, Took: took, Warnings: r.Warnings}
	d.Result = v
	if r.PagingState != nil {
		v.Next = p.console.signPage(d, r.PagingState, from+len(r.Rows))
	}
	if v.Done = doneText(r); r.Columns != nil {
		p.showRows(v, r, statement)
	}
	if d.Trace {
		v.Trace, err = p.readTrace(r.TracingID)
	}
	return err
}

// doneText describes the result of a statement without rows.
func doneText(r *client.Result) string {
	switch {
	case r.SchemaChange != nil:
		return "Done: " + strings.TrimSpace(r.SchemaChange.String())
	case r.Columns == nil:
		return "Done."
	}
	return ""
}

// showRows prints the rows of a result.
func (p *page) showRows(v *resultView, r *client.Result, statement cql.Statement) {
	table := p.editable(r, statement)
	for _, c := range r.Columns {
		one := columnView{Name: c.Name, Type: c.Type.String()}
		if table != nil {
			switch column := table.Column(c.Name); column.Kind {
			case schema.PartitionKey:
				one.Kind = "partition"
			case schema.Clustering:
				one.Kind = "clustering"
			case schema.Static:
				one.Kind, one.Static, one.Quoted = "static", true, quote.Name(c.Name)
			default:
				one.Quoted = quote.Name(c.Name)
			}
		}
		v.Columns = append(v.Columns, one)
	}
	if table != nil {
		v.Table = quote.Name(table.Keyspace) + "." + quote.Name(table.Name)
	}
	shown := 0
	for _, row := range r.Rows {
		one := rowView{}
		var partition, clustering []string
		for i, b := range row {
			c := newCell(r.Columns[i].Type, b)
			if shown > maxRows {
				c = c.brief(len(b))
			}
			shown += len(c.Text) + len(c.Literal)
			one.Cells = append(one.Cells, c)
			condition := quote.Name(r.Columns[i].Name) + " = " + one.Cells[i].Literal
			switch kind := v.Columns[i].Kind; {
			case one.Cells[i].Literal == "" || b == nil: // too long, or a partition that has only static values
			case kind == "partition":
				partition = append(partition, condition)
			case kind == "clustering":
				clustering = append(clustering, condition)
			}
		}
		if table != nil && len(partition) == len(table.PartitionKey) {
			one.Partition = strings.Join(partition, " AND ")
			if len(clustering) == len(table.Clustering) {
				one.Where = strings.Join(append(partition, clustering...), " AND ")
			}
		}
		shown += len(one.Where) + len(one.Partition)
		v.Rows = append(v.Rows, one)
	}
}

// editable returns the table whose columns the result has as they are, with its whole primary key; nil: there is none.
func (p *page) editable(r *client.Result, statement cql.Statement) *schema.Table {
	q, ok := statement.(*cql.Select)
	if !ok || q.JSON || q.Distinct || q.GroupBy != nil || len(r.Columns) == 0 {
		return nil
	}
	for _, s := range q.Selectors {
		if _, plain := s.Expr.(*cql.ColumnRef); !plain || s.Alias != "" {
			return nil
		}
	}
	of := r.Columns[0]
	table := p.console.o.Store.Catalog().Table(of.Keyspace, of.Table)
	if table == nil || table.Virtual || table.View != nil {
		return nil
	}
	key := 0
	for _, c := range r.Columns {
		column := table.Column(c.Name)
		if column == nil {
			return nil
		}
		if column.Kind == schema.PartitionKey || column.Kind == schema.Clustering {
			key++
		}
	}
	if key != len(table.PartitionKey)+len(table.Clustering) {
		return nil
	}
	return table
}

// signPage makes the state of a page of this statement safe to be kept by the browser, with the number of its first
// row.
func (c *Console) signPage(d *queryData, state []byte, from int) string {
	content := binary.BigEndian.AppendUint64(nil, uint64(from))
	content = append(content, state...)
	return base64.RawURLEncoding.EncodeToString(append(c.pageSum(d, content), content...))
}

func (c *Console) pageSum(d *queryData, content []byte) []byte {
	h := hmac.New(sha256.New, c.key[:])
	fmt.Fprintf(h, "%d %s %d %s ", len(d.Keyspace), d.Keyspace, len(d.Text), d.Text)
	h.Write(content)
	return h.Sum(nil)
}

// openPage is the reverse of signPage.
func (c *Console) openPage(d *queryData, signed string) (state []byte, from int, err error) {
	b, err := base64.RawURLEncoding.DecodeString(signed)
	if err != nil || len(b) < sha256.Size+8 || !hmac.Equal(b[:sha256.Size], c.pageSum(d, b[sha256.Size:])) {
		return nil, 0, failure{http.StatusBadRequest, "The next page belongs to another statement: run this one again."}
	}
	b = b[sha256.Size:]
	return b[8:], int(binary.BigEndian.Uint64(b)), nil
}
