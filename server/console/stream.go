package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// How often a live page gets statements, and everything else. If many pages are open, each gets them less often, so
// that all of them together cost as much as a few.
const (
	statementInterval = 200 * time.Millisecond
	partsInterval     = time.Second
	fewPages          = 4
)

// slower is the factor of the intervals.
func (c *Console) slower() time.Duration {
	return time.Duration((c.streams.used() + fewPages - 1) / fewPages)
}

// update is the data of an event: new rows of the list of statements, and the parts that have changed.
type update struct {
	Rows    string            `json:"rows,omitempty"`
	Skipped int               `json:"skipped,omitempty"` // statements between these rows and the older ones
	Sampled bool              `json:"sampled,omitempty"` // and others that were not recorded
	Parts   map[string]string `json:"parts,omitempty"`
}

// watchedStatements is how many statements the server keeps between two reads of a live page.
const watchedStatements = 2_000

// activityEvents sends changes to the page of activity, as server-sent events, until the page is closed or hidden.
// Meanwhile the server records statements.
func activityEvents(p *page) error {
	if !p.console.streams.take(p.visitor.name) {
		return failure{http.StatusServiceUnavailable, "Too many pages of activity are open."}
	}
	defer p.console.streams.give(p.visitor.name)
	record := &p.console.o.Controls.Record
	if reason, err := p.seesStatements(p.ctx); err != nil {
		return err
	} else if reason == "" {
		end := record.Watch(watchedStatements)
		defer end()
	}
	seen, last, pauses := observed{hot: map[[2]string]int{}}, record.Last(), record.Pauses()
	for _, s := range record.Statements() { // with --test-controls
		seen.add(&s)
	}
	p.w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(p.w)
	t := p.console.pages["activity"]
	sent := map[string]string{}
	var d *activityData
	tick := time.NewTicker(statementInterval)
	defer tick.Stop()
	for next := time.Now(); ; {
		u := update{Parts: map[string]string{}}
		statements := record.After(last)
		for i := range statements {
			last = statements[i].Number
			seen.add(&statements[i])
		}
		if now := time.Now(); !now.Before(next) {
			var err error
			if d, err = p.activity(p.ctx); err != nil {
				return nil // the server stops, or the role may not connect any more; the page tries again
			}
			next = now.Add(partsInterval * p.console.slower())
			if d.Hidden == "" {
				d.Hot, d.Slow = seen.hottest(), seen.slow
			}
			p.Data = d
			for _, part := range parts {
				text, err := p.render(t, part)
				if err != nil {
					return nil
				}
				if sent[part] != text {
					u.Parts[part], sent[part] = text, text
				}
			}
		}
		if d.Hidden == "" && len(statements) > 0 {
			u.Skipped = max(0, len(statements)-maxListed)
			d.Statements = nil
			for _, s := range slices.Backward(statements[u.Skipped:]) {
				d.Statements = append(d.Statements, newStatementView(&s))
			}
			text, err := p.render(t, "statements")
			if err != nil {
				return nil
			}
			u.Rows = text
			u.Sampled = pauses != record.Pauses()
			pauses = record.Pauses()
		}
		if err := p.send(out, u); err != nil {
			return nil // the page was closed
		}
		select {
		case <-tick.C:
			tick.Reset(statementInterval * p.console.slower())
		case <-p.ctx.Done():
			return nil
		}
	}
}

// send sends an event, unless nothing has changed.
func (p *page) send(out *http.ResponseController, u update) error {
	if u.Rows == "" && len(u.Parts) == 0 {
		return nil
	}
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.w, "data: %s\n\n", strings.ReplaceAll(string(text), "\n", " ")); err != nil {
		return err
	}
	return out.Flush()
}
