package planner

import (
	"flag"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
)

var update = flag.Bool("update", false, "write what statements are planned as into testdata")

// TestPlans compares plans with the files of testdata. A line that begins with > is a statement; what
// follows is its plan or the error. Definitions are applied, for the statements behind them.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { comparePlans(t, file) })
	}
}

func comparePlans(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Catalog: catalog(t), Keyspace: "ks"}
	blocks := strings.Split("\n"+string(content), "\n> ")
	var out strings.Builder
	out.WriteString(strings.TrimPrefix(blocks[0], "\n"))
	for _, block := range blocks[1:] {
		statement, want, _ := strings.Cut(block, "\n")
		want = strings.TrimRight(want, "\n")
		got := planText(&env, statement)
		if got != want && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", statement, got, want)
		}
		out.WriteString("\n> " + statement + "\n" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// catalog has the keyspace ks, and one of the server's own.
func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	k, _, err := schema.NewKeyspace("ks", []schema.Property{
		{Name: "replication", Map: map[string]string{"class": "SimpleStrategy"}},
	}, schema.Placement{Datacenter: "datacenter1"})
	if err != nil {
		t.Fatal(err)
	}
	own := &schema.Keyspace{Name: "system", Tables: map[string]*schema.Table{}}
	c := schema.New(own).WithKeyspace(k)
	p, err := prepare(Env{Catalog: c}, "CREATE TABLE ks.local (key text PRIMARY KEY)")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err = p.Plan.(define.Definition).Apply(c, define.Run{NewID: [16]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	local := *c.Table("ks", "local")
	local.Keyspace = "system"
	own.Tables["local"] = &local
	return c
}

func prepare(env Env, text string) (*Prepared, error) {
	stmt, _, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	return Make(stmt, env)
}

// planText is a plan with all that PREPARE tells of it, or the error.
func planText(env *Env, statement string) string {
	p, err := prepare(*env, statement)
	if err != nil {
		return errorText(err)
	}
	var l lines
	l.add("%s", p.Plan)
	for i, m := range p.Markers {
		l.add("marker %d %s.%s %s %s", i, m.Keyspace, m.Table, m.Name, m.Type)
	}
	if p.KeyMarkers != nil {
		l.add("key markers %v", p.KeyMarkers)
	}
	for _, c := range p.Result {
		l.add("column %s %s", c.Name, c.Type)
	}
	l.flag(!p.Qualified, "unqualified")
	if d, ok := p.Plan.(define.Definition); ok {
		tables := 0
		for _, k := range env.Catalog.Keyspaces() {
			tables += len(k.TablesAndViews())
		}
		c, out, err := d.Apply(env.Catalog, define.Run{NewID: [16]byte{2, byte(tables)}})
		if err != nil {
			return errorText(err)
		}
		env.Catalog = c
		for _, e := range out.Events {
			name := e.Name
			if e.Args != nil {
				name += "(" + strings.Join(e.Args, "; ") + ")"
			}
			l.add("event %s", strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Kind, e.Target, e.Keyspace, name)))
		}
	}
	return l.String()
}

func errorText(err error) string {
	if e, ok := cqlerr.As(err); ok {
		return fmt.Sprintf("error %04x: %s", uint32(e.Code), e.Message)
	}
	return "internal error: " + err.Error()
}

// TestEveryStatement asks for a plan, or a refusal of the planner's own, of every kind of statement that
// package cql declares.
func TestEveryStatement(t *testing.T) {
	kinds := map[string]cql.Statement{
		"Select": &cql.Select{}, "Insert": &cql.Insert{}, "Update": &cql.Update{}, "Delete": &cql.Delete{},
		"Batch": &cql.Batch{}, "Truncate": &cql.Truncate{}, "Use": &cql.Use{},
		"CreateKeyspace": &cql.CreateKeyspace{}, "DropKeyspace": &cql.DropKeyspace{},
		"CreateTable": &cql.CreateTable{}, "DropTable": &cql.DropTable{}, "Describe": &cql.Describe{},
		"AlterKeyspace": &cql.AlterKeyspace{}, "AlterTable": &cql.AlterTable{}, "CreateType": &cql.CreateType{},
		"AlterType": &cql.AlterType{}, "DropType": &cql.DropType{}, "CreateIndex": &cql.CreateIndex{},
		"DropIndex": &cql.DropIndex{}, "CreateView": &cql.CreateView{}, "AlterView": &cql.AlterView{},
		"DropView": &cql.DropView{}, "CreateFunction": &cql.CreateFunction{}, "DropFunction": &cql.DropFunction{},
		"CreateAggregate": &cql.CreateAggregate{}, "DropAggregate": &cql.DropAggregate{}, "CreateTrigger": &cql.CreateTrigger{},
		"DropTrigger": &cql.DropTrigger{}, "CreateRole": &cql.CreateRole{}, "AlterRole": &cql.AlterRole{},
		"DropRole": &cql.DropRole{}, "CreateUser": &cql.CreateUser{}, "AlterUser": &cql.AlterUser{},
		"DropUser": &cql.DropUser{}, "AddIdentity": &cql.AddIdentity{}, "DropIdentity": &cql.DropIdentity{},
		"GrantPermissions": &cql.GrantPermissions{}, "RevokePermissions": &cql.RevokePermissions{}, "GrantRole": &cql.GrantRole{},
		"RevokeRole": &cql.RevokeRole{}, "ListPermissions": &cql.ListPermissions{}, "ListRoles": &cql.ListRoles{},
		"ListUsers": &cql.ListUsers{},
	}
	env := Env{Catalog: catalog(t), Keyspace: "ks"}
	for _, name := range statementKinds(t) {
		s, ok := kinds[name]
		if !ok {
			t.Errorf("cql.%s is not planned: add it to planning.statement and here", name)
			continue
		}
		if _, err := Make(s, env); err != nil && strings.HasPrefix(err.Error(), "no plan for") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// statementKinds are the types of package cql with a statement method.
func statementKinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../cql/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		f, err := goparser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "statement" || fn.Recv == nil {
				continue
			}
			names = append(names, fn.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
		}
	}
	if len(names) < 13 {
		t.Fatalf("found only %v", names)
	}
	return names
}
