package console

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client/diagram"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/store"
)

// schemaData is the page of the schema: an overview, a keyspace or a table.
type schemaData struct {
	Keyspaces []keyspaceItem // of users
	System    []keyspaceItem

	Keyspace    *keyspaceItem // nil: the overview
	Tables      []tableItem
	Table       *tableItem // nil: all of the keyspace
	Options     []Figure
	Description string

	Brief bool // there are too many tables to show all columns

	Logical, Seen bool // the diagram has no types, and the queries that were recorded
}

// DiagramLink is the address of the diagram.
func (d *schemaData) DiagramLink() string {
	return "/diagram.svg?" + d.diagramValues(d.Logical, d.Seen)
}

// LogicalLink is the address of the page with the other kind of diagram.
func (d *schemaData) LogicalLink() string { return "/?" + d.diagramValues(!d.Logical, d.Seen) }

// SeenLink is the address of the page with or without the queries that were recorded.
func (d *schemaData) SeenLink() string { return "/?" + d.diagramValues(d.Logical, !d.Seen) }

func (d *schemaData) diagramValues(logical, seen bool) string {
	v := url.Values{"keyspace": {d.Keyspace.Name}}
	if logical {
		v.Set("logical", "1")
	}
	if seen {
		v.Set("seen", "1")
	}
	return v.Encode()
}

// keyspaceItem is a keyspace with the names of its tables and views.
type keyspaceItem struct {
	Name        string
	Replication string
	Tables      []string
	Virtual     bool
	Open        bool
}

// tableItem is a table with its size.
type tableItem struct {
	*model.Table
	Estimate   *store.Estimate // nil: it has none
	LargestKey string          // "": it is not known, or the role may not see it
	Select     string          // a query of all rows
}

// Link is the address of the table's page.
func (t *tableItem) Link() string { return tableLink(t.Keyspace, t.Name) }

func tableLink(keyspace, table string) string {
	return "/?" + url.Values{"keyspace": {keyspace}, "table": {table}}.Encode()
}

// TableLink is the address of a table of the keyspace.
func (k keyspaceItem) TableLink(table string) string { return tableLink(k.Name, table) }

// QueryLink is the address of the editor with a statement.
func (t *tableItem) QueryLink() string {
	return "/query?" + url.Values{"keyspace": {t.Keyspace}, "text": {t.Select}}.Encode()
}

// kindNames are the kinds of columns as the pages show them.
var kindNames = map[string]string{
	"partition_key": "partition", "clustering": "clustering", "static": "static", "regular": "",
}

// KindName is the kind of a column as the pages show it.
func (t *tableItem) KindName(c model.Column) string {
	name := kindNames[c.Kind]
	if c.Desc {
		name += " desc"
	}
	return name
}

// maxWhole is how many tables a page shows with all their columns.
const maxWhole = 60

// schemaPage shows the keyspaces, or one of them, or a table.
func schemaPage(p *page) error {
	p.Tab, p.Title = "schema", "Schema"
	d := &schemaData{Logical: p.r.FormValue("logical") != "", Seen: p.r.FormValue("seen") != ""}
	p.Data = d
	if err := d.readKeyspaces(p); err != nil {
		return err
	}
	keyspace, table := p.r.FormValue("keyspace"), p.r.FormValue("table")
	if keyspace == "" && len(d.Keyspaces) == 1 {
		keyspace = d.Keyspaces[0].Name
	}
	if keyspace == "" {
		return p.show("schema", "")
	}
	for _, all := range [][]keyspaceItem{d.Keyspaces, d.System} {
		for i := range all {
			if all[i].Name == keyspace {
				all[i].Open, d.Keyspace = true, &all[i]
			}
		}
	}
	if d.Keyspace == nil {
		return failure{http.StatusNotFound, fmt.Sprintf("There is no keyspace %s.", keyspace)}
	}
	tables, err := model.Tables(p.ctx, p.query, keyspace, table)
	if err != nil {
		return err
	}
	reason, err := p.seesStatements(p.ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		d.Tables = append(d.Tables, p.item(t, reason == ""))
	}
	p.Title = keyspace
	describe := "DESCRIBE KEYSPACE " + quote.Name(keyspace)
	if table != "" {
		if len(d.Tables) == 0 {
			return failure{http.StatusNotFound, fmt.Sprintf("There is no table %s in the keyspace %s.", table, keyspace)}
		}
		d.Table = &d.Tables[0]
		if of := p.console.o.Store.Catalog().Table(keyspace, table); of != nil && d.Table.Estimate != nil {
			p.console.o.Store.Recount(of) // for the next time
		}
		p.Title = keyspace + "." + table
		describe = "DESCRIBE TABLE " + quote.Name(keyspace) + "." + quote.Name(table)
		if d.Table.Of != "" {
			describe = "DESCRIBE MATERIALIZED VIEW " + quote.Name(keyspace) + "." + quote.Name(table)
		}
		if err := d.readOptions(p); err != nil {
			return err
		}
	}
	if d.Brief = table == "" && len(d.Tables) > maxWhole; d.Brief {
		return p.show("schema", "")
	}
	r, err := p.query(p.ctx, describe)
	if err != nil {
		return err
	}
	var texts []string
	for row := range model.Records(r) {
		texts = append(texts, row.Text("create_statement"))
	}
	d.Description = strings.Join(texts, "\n\n")
	return p.show("schema", "")
}

// diagramFile sends the diagram of a keyspace. With seen=1 it has the queries that the server has recorded.
func diagramFile(p *page) error {
	keyspace := p.r.FormValue("keyspace")
	o := diagram.Options{Logical: p.r.FormValue("logical") != ""}
	d, err := diagram.Read(p.ctx, p.query, []string{keyspace}, nil, p.r.FormValue("seen") != "", o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := diagram.SVG(&b, d); err != nil {
		return err
	}
	h := p.w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox") // it has its colours inside
	_, _ = p.w.Write(b.Bytes())                                                                                        // the client may have hung up
	return nil
}

// item returns a table with its size, and the key of its largest partition if the role may see it.
func (p *page) item(t *model.Table, key bool) tableItem {
	one := tableItem{Table: t, Select: "SELECT * FROM " + quote.Name(t.Keyspace) + "." + quote.Name(t.Name) + ";"}
	k := p.console.o.Store.Catalog().Keyspace(t.Keyspace)
	if k == nil || k.Virtual || k.Tables[t.Name] == nil {
		return one
	}
	of := k.Tables[t.Name]
	e := p.console.o.Store.Estimate(of)
	if one.Estimate = &e; key {
		one.LargestKey = keyText(of, e.LargestKey)
	}
	return one
}

// keyText prints a partition key.
func keyText(t *schema.Table, key []byte) string {
	values, err := types.SplitCompositeKey(key, len(t.PartitionKey))
	if key == nil || err != nil {
		return ""
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = t.PartitionKey[i].Type.Format(v)
	}
	return shortened(strings.Join(texts, ", "), 200)
}

// readKeyspaces reads the names of keyspaces, tables and views.
func (d *schemaData) readKeyspaces(p *page) error {
	for _, from := range []string{"system_schema", "system_virtual_schema"} {
		r, err := p.query(p.ctx, "SELECT * FROM "+from+".keyspaces")
		if err != nil {
			return err
		}
		tables := map[string][]string{}
		for _, list := range [][2]string{{"tables", "table_name"}, {"views", "view_name"}} {
			if from != "system_schema" && list[0] == "views" {
				continue
			}
			names, err := p.query(p.ctx, "SELECT keyspace_name, "+list[1]+" FROM "+from+"."+list[0])
			if err != nil {
				return err
			}
			for row := range model.Records(names) {
				k := row.Text("keyspace_name")
				tables[k] = append(tables[k], row.Text(list[1]))
			}
		}
		for row := range model.Records(r) {
			k := keyspaceItem{Name: row.Text("keyspace_name"), Virtual: from != "system_schema"}
			k.Tables = tables[k.Name]
			if b, _ := row.Value("replication"); b != nil {
				k.Replication = replicationText(b)
			}
			if k.Virtual || schema.IsSystem(k.Name) {
				d.System = append(d.System, k)
			} else {
				d.Keyspaces = append(d.Keyspaces, k)
			}
		}
	}
	for _, all := range [][]keyspaceItem{d.Keyspaces, d.System} {
		slices.SortFunc(all, func(a, b keyspaceItem) int { return cmp.Compare(a.Name, b.Name) })
	}
	return nil
}

// replicationText prints the options of replication, without the package of the class.
func replicationText(b []byte) string {
	var class string
	var parts []string
	for k, v := range types.Entries(b) {
		switch key, value := string(k), string(v); key {
		case "class":
			class = value[strings.LastIndexByte(value, '.')+1:]
		case "replication_factor":
			parts = append(parts, "factor "+value)
		default:
			parts = append(parts, key+" "+value)
		}
	}
	return strings.Join(append([]string{class}, parts...), ", ")
}

// readOptions reads the options of a table or view.
func (d *schemaData) readOptions(p *page) error {
	from, name := "tables", "table_name"
	switch {
	case d.Keyspace.Virtual:
		return nil
	case d.Table.Of != "":
		from, name = "views", "view_name"
	}
	r, err := p.query(p.ctx, fmt.Sprintf("SELECT * FROM system_schema.%s WHERE keyspace_name = %s AND %s = %s", from,
		quote.Text(d.Table.Keyspace), name, quote.Text(d.Table.Name)))
	if err != nil {
		return err
	}
	for i, c := range r.Columns {
		if len(r.Rows) == 0 || c.Name == "keyspace_name" || c.Name == name || r.Rows[0][i] == nil {
			continue
		}
		d.Options = append(d.Options, Figure{c.Name, newCell(c.Type, r.Rows[0][i]).Text})
	}
	return nil
}
