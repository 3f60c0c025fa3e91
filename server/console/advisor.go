package console

import (
	"net/url"
	"slices"

	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/model"
)

// advisorData is the page of advice.
type advisorData struct {
	Keyspaces []string
	Keyspace  string // "": all
	*advise.Report
}

// findingView is a finding with its rule.
type findingView struct {
	advise.Finding
	Title, Why string
}

// Views are the findings, the worst first.
func (d *advisorData) Views() (all []findingView) {
	for _, f := range d.Findings {
		v := findingView{Finding: f}
		if i := slices.IndexFunc(advise.Rules, func(r advise.Rule) bool { return r.Name == f.Rule }); i >= 0 {
			v.Title, v.Why = advise.Rules[i].Title, advise.Rules[i].Why
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b findingView) int {
		return slices.Index(advise.Severities, string(a.Severity)) - slices.Index(advise.Severities, string(b.Severity))
	})
	return all
}

// EditorLink is the address of the editor with the better model.
func (f findingView) EditorLink() string { return "/query?" + url.Values{"text": {f.Better}}.Encode() }

// advisorPage compares the schema, and the statements that were recorded, with the rules of data modelling.
func advisorPage(p *page) (err error) {
	p.Tab, p.Title = "advisor", "Advisor"
	d := &advisorData{Keyspace: p.r.FormValue("keyspace")}
	p.Data = d
	all, err := model.Keyspaces(p.ctx, p.query)
	if err != nil {
		return err
	}
	for _, k := range all {
		d.Keyspaces = append(d.Keyspaces, k.Name)
	}
	ctx, cancel := p.limited()
	defer cancel()
	if d.Report, err = advise.Advise(ctx, p.query, advise.Options{Keyspace: d.Keyspace}); err != nil {
		return err
	}
	return p.show("advisor", "")
}
