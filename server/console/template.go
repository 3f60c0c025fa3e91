package console

import (
	"fmt"
	"html"
	"net/url"
	"reflect"
	"strings"
	"text/template/parse"
	"time"

	"github.com/cqld/cqld/protocol/client/model"
)

// pageTemplate is a template with the templates that it uses, in the syntax of package html/template. That package
// itself makes the binary a fifth larger, and an idle server 3 MiB: it calls methods by name, so that the linker keeps
// all methods of all types.
//
// Actions may be in text and in attributes with double quotes, where characters of HTML are escaped, but not in
// scripts, styles and tags; the test of this file checks that. Fields are found by name. callMethod lists
// the methods.
type pageTemplate struct {
	trees map[string]*parse.Tree
	funcs map[string]func(args []reflect.Value) any
}

// parseTemplate parses files. A template that is defined twice is the one of the later file.
func parseTemplate(funcs map[string]func([]reflect.Value) any, texts ...string) (*pageTemplate, error) {
	t := &pageTemplate{trees: map[string]*parse.Tree{}, funcs: funcs}
	for i, text := range texts {
		name := "frame"
		if i > 0 {
			name = "page"
		}
		all, err := parse.Parse(name, text, "", "", map[string]any{}, t.names())
		if err != nil {
			return nil, err
		}
		for name, tree := range all {
			if old := t.trees[name]; old == nil || !parse.IsEmptyTree(tree.Root) {
				t.trees[name] = tree
			}
		}
	}
	return t, nil
}

// names are the names of functions as the parser wants them.
func (t *pageTemplate) names() map[string]any {
	all := map[string]any{}
	for name := range t.funcs {
		all[name] = true
	}
	return all
}

// execute executes the template with a name.
func (t *pageTemplate) execute(out *strings.Builder, name string, data any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("template %s: %v", name, r)
		}
	}()
	e := &execution{pageTemplate: t, out: out}
	e.template(name, reflect.ValueOf(data))
	return nil
}

// execution is an execution of a template. It panics with errors: they are mistakes in the templates.
type execution struct {
	*pageTemplate
	out  *strings.Builder
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

// template executes another template, with new variables.
func (e *execution) template(name string, dot reflect.Value) {
	tree := e.trees[name]
	if tree == nil {
		panic("there is no template " + name)
	}
	outer := e.vars
	e.vars = []variable{{"$", dot}}
	e.walk(tree.Root, dot)
	e.vars = outer
}

func (e *execution) walk(node parse.Node, dot reflect.Value) {
	before := len(e.vars)
	switch n := node.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			e.walk(one, dot)
		}
	case *parse.TextNode:
		e.out.Write(n.Text)
	case *parse.ActionNode:
		if v := e.pipe(n.Pipe, dot); len(n.Pipe.Decl) == 0 {
			e.out.WriteString(escape(v))
		}
		return // its variables stay
	case *parse.TemplateNode:
		e.template(n.Name, e.pipe(n.Pipe, dot))
	case *parse.IfNode:
		e.branch(&n.BranchNode, dot, dot)
	case *parse.WithNode:
		e.branch(&n.BranchNode, dot, reflect.Value{})
	case *parse.RangeNode:
		all := indirect(e.pipe(n.Pipe, dot))
		for i := range length(all) {
			e.walk(n.List, all.Index(i))
		}
	default:
		panic(fmt.Sprintf("unexpected %s", node))
	}
	if _, list := node.(*parse.ListNode); !list {
		e.vars = e.vars[:before]
	}
}

// branch executes if or with; inside is the dot of if, and invalid for with.
func (e *execution) branch(n *parse.BranchNode, dot, inside reflect.Value) {
	v := e.pipe(n.Pipe, dot)
	if !inside.IsValid() {
		inside = v
	}
	if isTrue(v) {
		e.walk(n.List, inside)
	} else if n.ElseList != nil {
		e.walk(n.ElseList, dot)
	}
}

// pipe evaluates an expression, and sets the variable that it declares.
func (e *execution) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	args := p.Cmds[0].Args
	v := e.value(args[0], args[1:], dot)
	for _, d := range p.Decl {
		e.vars = append(e.vars, variable{d.Ident[0], v})
	}
	return v
}

// value evaluates an operand, or a call with arguments.
func (e *execution) value(node parse.Node, args []parse.Node, dot reflect.Value) reflect.Value {
	var values []reflect.Value
	for _, a := range args {
		values = append(values, e.value(a, nil, dot))
	}
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		return reflect.ValueOf(n.Int64)
	case *parse.PipeNode:
		return e.pipe(n, dot)
	case *parse.FieldNode:
		return fields(dot, n.Ident, values)
	case *parse.VariableNode:
		for i := len(e.vars) - 1; i >= 0; i-- {
			if e.vars[i].name == n.Ident[0] {
				return fields(e.vars[i].value, n.Ident[1:], values)
			}
		}
	case *parse.IdentifierNode:
		return reflect.ValueOf(e.funcs[n.Ident](values))
	}
	panic(fmt.Sprintf("unexpected %s", node))
}

// fields follows names of fields and methods. The last one gets the arguments.
func fields(v reflect.Value, names []string, args []reflect.Value) reflect.Value {
	for i, name := range names {
		if i < len(names)-1 {
			v = field(v, name, nil)
		} else {
			v = field(v, name, args)
		}
	}
	return v
}

func field(v reflect.Value, name string, args []reflect.Value) reflect.Value {
	v = indirect(v)
	if f := v.FieldByName(name); f.IsValid() {
		return f
	}
	on := v
	if !on.CanAddr() { // so that methods of the pointer are found too
		on = reflect.New(v.Type()).Elem()
		on.Set(v)
	}
	return reflect.ValueOf(callMethod(on.Addr().Interface(), name, args))
}

// callMethod calls a method that a template names.
func callMethod(on any, name string, args []reflect.Value) any {
	switch name {
	case "Acts":
		return on.(interface{ Acts() []string }).Acts()
	case "ChartWidth":
		return on.(interface{ ChartWidth() float64 }).ChartWidth()
	case "Kinds":
		return on.(interface{ Kinds() []string }).Kinds()
	case "KindName":
		return on.(*tableItem).KindName(args[0].Interface().(model.Column))
	case "Last":
		return on.(interface{ Last() int }).Last()
	case "Logins":
		return on.(interface{ Logins() bool }).Logins()
	case "Sizes":
		return on.(interface{ Sizes() []int32 }).Sizes()
	case "TableLink":
		return on.(*keyspaceItem).TableLink(args[0].String())
	case "TestControls":
		return on.(interface{ TestControls() bool }).TestControls()
	case "Views":
		return on.(interface{ Views() []findingView }).Views()
	case "Write":
		return on.(interface{ Write() bool }).Write()
	case "Class":
		return on.(interface{ Class() string }).Class()
	case "DiagramLink":
		return on.(interface{ DiagramLink() string }).DiagramLink()
	case "EditorLink":
		return on.(interface{ EditorLink() string }).EditorLink()
	case "ErrorText":
		return on.(interface{ ErrorText() string }).ErrorText()
	case "Link":
		return on.(interface{ Link() string }).Link()
	case "LogicalLink":
		return on.(interface{ LogicalLink() string }).LogicalLink()
	case "MaxText":
		return on.(interface{ MaxText() string }).MaxText()
	case "QueryLink":
		return on.(interface{ QueryLink() string }).QueryLink()
	case "RateText":
		return on.(interface{ RateText() string }).RateText()
	case "Role":
		return on.(interface{ Role() string }).Role()
	case "SeenLink":
		return on.(interface{ SeenLink() string }).SeenLink()
	case "Version":
		return on.(interface{ Version() string }).Version()
	case "WindowText":
		return on.(interface{ WindowText() string }).WindowText()
	}
	panic(fmt.Sprintf("%T has no %s", on, name))
}

// indirect follows pointers and interfaces.
func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func length(v reflect.Value) int {
	if v = indirect(v); v.IsValid() {
		return v.Len()
	}
	return 0
}

// isTrue reports whether a value is not zero or empty. As in html/template, every struct is true.
func isTrue(v reflect.Value) bool {
	v = indirect(v)
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// printed prints a value.
func printed(v reflect.Value) string {
	if v = indirect(v); !v.IsValid() {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// escape prints a value for text and attributes of HTML.
func escape(v reflect.Value) string {
	return html.EscapeString(strings.ReplaceAll(printed(v), "\x00", "\uFFFD"))
}

// templateFuncs are the functions of templates. static returns the address of a file.
func templateFuncs(static func(name string) string) map[string]func(args []reflect.Value) any {
	number := func(v reflect.Value) int64 {
		return reflect.ValueOf(indirect(v).Interface()).Convert(reflect.TypeFor[int64]()).Int()
	}
	equal := func(args []reflect.Value) bool { return printed(args[0]) == printed(args[1]) }
	return map[string]func(args []reflect.Value) any{
		"static":   func(args []reflect.Value) any { return static(args[0].String()) },
		"urlquery": func(args []reflect.Value) any { return url.QueryEscape(printed(args[0])) },
		"bytes":    func(args []reflect.Value) any { return bytesText(number(args[0])) },
		"count":    func(args []reflect.Value) any { return countText(number(args[0])) },
		"took":     func(args []reflect.Value) any { return tookText(time.Duration(number(args[0]))) },
		"of":       func(args []reflect.Value) any { return ofText(number(args[0]), args[1].String()) },
		"len":      func(args []reflect.Value) any { return length(args[0]) },
		"eq":       func(args []reflect.Value) any { return equal(args) },
		"ne":       func(args []reflect.Value) any { return !equal(args) },
		"gt":       func(args []reflect.Value) any { return number(args[0]) > number(args[1]) },
		"lt":       func(args []reflect.Value) any { return number(args[0]) < number(args[1]) },
		"not":      func(args []reflect.Value) any { return !isTrue(args[0]) },
		"and": func(args []reflect.Value) any {
			for _, a := range args {
				if !isTrue(a) {
					return false
				}
			}
			return true
		},
	}
}
