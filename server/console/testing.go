package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/server/control"
)

// testingData is the state of the controls for tests, as the tables of keyspace cqld_control have it.
type testingData struct {
	Now    string
	Shift  string // from the real time, or ""
	Frozen bool
	Faults []faultView
	Nodes  []nodeView
	Ring   ringView
}

// faultView is a rule.
type faultView struct {
	Name, Rule     string
	Matched, Acted int64
}

// nodeView is a node of a ring.
type nodeView struct {
	Number                          int64
	Address, Datacenter, Rack, Slow string
	Up, Partitioned                 bool
	Tokens                          []int64
}

// Class is the class of the node's colour.
func (n *nodeView) Class() string {
	class := fmt.Sprintf("node n%d", (n.Number-1)%8)
	switch {
	case !n.Up:
		class += " down"
	case n.Partitioned:
		class += " cut"
	}
	return class
}

// Acts are the names of acts.
func (*testingData) Acts() []string { return control.ActNames() }

// Kinds are the kinds of statements.
func (*testingData) Kinds() []string { return control.FaultKinds }

// readTests reads the tables of keyspace cqld_control.
func (p *page) readTests(ctx context.Context, d *activityData) error {
	if !p.console.o.TestControls {
		return nil
	}
	t := &testingData{}
	r, err := p.query(ctx, "SELECT * FROM cqld_control.clock")
	if err != nil {
		return err
	}
	for row := range model.Records(r) {
		t.Now = time.UnixMilli(row.Number("now")).UTC().Format("2006-01-02 15:04:05 UTC")
		t.Frozen = row.True("frozen")
		if b, _ := row.Value("ahead"); b != nil {
			t.Shift = shiftText(b)
		}
	}
	if r, err = p.query(ctx, "SELECT * FROM cqld_control.faults"); err != nil {
		return err
	}
	for row := range model.Records(r) {
		f := faultView{Name: row.Text("name"), Matched: row.Number("matched"), Acted: row.Number("acted")}
		var parts []string
		for _, c := range r.Columns {
			b, _ := row.Value(c.Name)
			if b == nil || slices.Contains([]string{"name", "matched", "acted", "position"}, c.Name) {
				continue
			}
			parts = append(parts, c.Name+" = "+c.Type.Format(b))
		}
		f.Rule = shortened(strings.Join(parts, ", "), maxStatement)
		t.Faults = append(t.Faults, f)
	}
	slices.SortFunc(t.Faults, func(a, b faultView) int { return cmp.Compare(a.Name, b.Name) })
	if r, err = p.query(ctx, "SELECT * FROM cqld_control.nodes"); err != nil {
		return err
	}
	for row := range model.Records(r) {
		n := nodeView{
			Number: row.Number("number"), Address: row.Address("address") + ":" + countDigits(row.Number("port")),
			Datacenter: row.Text("datacenter"), Rack: row.Text("rack"), Up: row.True("up"), Partitioned: row.True("partitioned"),
		}
		if b, _ := row.Value("slow"); b != nil {
			n.Slow = types.Duration.Format(b)
		}
		if b, _ := row.Value("tokens"); b != nil {
			for token := range types.Elements(b) {
				n.Tokens = append(n.Tokens, types.DecodeBigInt(token))
			}
		}
		t.Nodes = append(t.Nodes, n)
	}
	slices.SortFunc(t.Nodes, func(a, b nodeView) int { return cmp.Compare(a.Number, b.Number) })
	t.Ring = newRing(t.Nodes)
	d.Tests = t
	return nil
}

// shiftText prints how far the clock is ahead of or behind the real time.
func shiftText(b []byte) string {
	_, days, nanos := types.DecodeDuration(b)
	shift := (time.Duration(days)*24*time.Hour + time.Duration(nanos)).Round(time.Second)
	if shift < 0 {
		return (-shift).String() + " behind"
	}
	return shift.String() + " ahead"
}

func countDigits(n int64) string { return strconv.FormatInt(n, 10) }

// control runs statements about the controls, and returns to the page.
func (p *page) control(statements ...string) error {
	for _, s := range statements {
		_, err := p.conn.Query(p.ctx, s, nil, nil)
		p.console.own.add(err)
		if err != nil {
			return err
		}
	}
	http.Redirect(p.w, p.r, "/activity", http.StatusSeeOther)
	return nil
}

// durationLiteral returns a duration of a form in CQL. It refuses other texts.
func durationLiteral(text string) (string, error) {
	b, err := types.Duration.ParseLiteral(types.DurationLiteral, text)
	if err != nil {
		return "", failure{http.StatusBadRequest, fmt.Sprintf("%q is no duration: write it as 90m, 1d or 200ms.", text)}
	}
	return types.Duration.Format(b), nil
}

// clockForm moves, sets, stops or resets the clock.
func clockForm(p *page) error {
	write := func(column, value string) error {
		return p.control("UPDATE cqld_control.clock SET " + column + " = " + value + " WHERE key = " + quote.Text(control.ClockKey))
	}
	switch value := strings.TrimSpace(p.r.PostFormValue("value")); p.r.PostFormValue("act") {
	case "advance":
		d, err := durationLiteral(value)
		if err != nil {
			return err
		}
		return write("advance", d)
	case "set":
		return write("now", quote.Text(value))
	case "freeze":
		return write("frozen", "true")
	case "run":
		return write("frozen", "false")
	case "reset":
		return p.control("TRUNCATE cqld_control.clock")
	}
	return errAct
}

var errAct = failure{http.StatusBadRequest, "This form has no such button."}

// faultForm adds or removes a rule.
func faultForm(p *page) error {
	name := p.r.PostFormValue("name")
	switch p.r.PostFormValue("act") {
	case "remove":
		return p.control("DELETE FROM cqld_control.faults WHERE name = " + quote.Text(name))
	case "clear":
		return p.control("TRUNCATE cqld_control.faults")
	case "add":
	default:
		return errAct
	}
	if name == "" {
		return failure{http.StatusBadRequest, "The fault needs a name."}
	}
	columns, values := []string{"name"}, []string{quote.Text(name)}
	for _, column := range []string{"kind", "keyspace_name", "table_name", "text_contains", "fault"} {
		value := p.r.PostFormValue(column)
		if value == "" {
			continue
		}
		if column == "fault" {
			column = "act"
		}
		columns, values = append(columns, column), append(values, quote.Text(value))
	}
	if delay := strings.TrimSpace(p.r.PostFormValue("delay")); delay != "" {
		d, err := durationLiteral(delay)
		if err != nil {
			return err
		}
		columns, values = append(columns, "delay"), append(values, d)
	}
	if times := p.r.PostFormValue("times"); times != "" {
		n, err := strconv.Atoi(times)
		if err != nil {
			return failure{http.StatusBadRequest, fmt.Sprintf("%q is no number.", times)}
		}
		columns, values = append(columns, "times"), append(values, strconv.Itoa(n))
	}
	return p.control("DELETE FROM cqld_control.faults WHERE name = "+quote.Text(name), "INSERT INTO cqld_control.faults ("+
		strings.Join(columns, ", ")+") VALUES ("+strings.Join(values, ", ")+")")
}

// nodeForm stops, starts, cuts off or slows a node.
func nodeForm(p *page) error {
	number, err := strconv.Atoi(p.r.PostFormValue("number"))
	if err != nil {
		return errAct
	}
	write := func(column, value string) error {
		return p.control(fmt.Sprintf("UPDATE cqld_control.nodes SET %s = %s WHERE number = %d", column, value, number))
	}
	switch p.r.PostFormValue("act") {
	case "stop":
		return write("up", "false")
	case "start":
		return write("up", "true")
	case "partition":
		return write("partitioned", "true")
	case "heal":
		return write("partitioned", "false")
	case "slow":
		d, err := durationLiteral(p.r.PostFormValue("value"))
		if err != nil {
			return err
		}
		return write("slow", d)
	}
	return errAct
}
