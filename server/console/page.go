package console

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server/control"
)

// page is a request for a page, and the values of its template.
type page struct {
	console *Console
	ctx     context.Context
	w       http.ResponseWriter
	r       *http.Request
	visitor *visitor
	conn    *client.Conn // for the page itself: it is not recorded, and faults do not apply to it

	Tab, Title string
	Data       any
}

// failure is an error with a status of HTTP.
type failure struct {
	status int
	text   string
}

// Error implements error.
func (f failure) Error() string { return f.text }

// maxForm limits a form, and so the statement of the editor.
const maxForm = 4 << 20

// page serves a page for the visitor who has logged in.
func (c *Console) page(serve func(*page) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.visitor(r)
		if v == nil {
			c.toLogin(w, r)
			return
		}
		conn, err := c.connect(r.Context(), Sender(r), v, control.SetupDriver)
		if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.BadCredentials {
			c.sessions.end(r)
			c.toLogin(w, r)
			return
		}
		p := &page{console: c, ctx: r.Context(), w: w, r: r, visitor: v, conn: conn}
		if err == nil {
			defer conn.Close()
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err = r.ParseForm(); err != nil {
				err = badForm(err)
			} else {
				err = serve(p)
			}
		}
		if err != nil {
			p.fail(err)
		}
	})
}

// badForm is the answer to a form that cannot be read.
func badForm(err error) failure {
	status := http.StatusBadRequest
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		status = http.StatusRequestTimeout
	}
	return failure{status, "The form cannot be read: " + err.Error()}
}

// toLogin redirects a browser to the form, and tells a script that it has to log in.
func (c *Console) toLogin(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") == "cors" {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, "/login?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
}

// fail shows an error, with the text of the server.
func (p *page) fail(err error) {
	status := http.StatusInternalServerError
	var f failure
	switch e, ok := cqlerr.As(err); {
	case errors.As(err, &f):
		status = f.status
	case ok && e.Code == cqlerr.Unauthorized:
		status = http.StatusForbidden
	case ok:
		status = http.StatusBadRequest
	}
	p.Title, p.Data = "Error", err.Error()
	if p.isFragment() {
		p.write(status, "error", "main")
		return
	}
	p.write(status, "error", "")
}

// isFragment reports whether a script asks for the part of a page that changes.
func (p *page) isFragment() bool { return p.r.Header.Get("X-Fragment") != "" }

// show shows a page, or the part of it that has a name.
func (p *page) show(name, part string) error {
	p.write(http.StatusOK, name, part)
	return nil
}

// write executes a template before it sends anything.
func (p *page) write(status int, name, part string) {
	var b strings.Builder
	if err := p.console.pages[name].execute(&b, cmp.Or(part, "frame"), p); err != nil {
		http.Error(p.w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	p.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.w.WriteHeader(status)
	_, _ = io.WriteString(p.w, b.String()) // the client may have hung up
}

// query runs a query of the page itself, and returns the rows of all its pages.
func (p *page) query(ctx context.Context, statement string) (r *client.Result, err error) {
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 1000}
	for {
		next, err := p.conn.Query(ctx, statement, nil, &o)
		p.console.own.add(err)
		if err != nil {
			return nil, err
		}
		if r != nil {
			next.Rows = append(r.Rows, next.Rows...)
		}
		if r = next; r.PagingState == nil {
			return r, nil
		}
		o.PagingState = r.PagingState
	}
}

// seesStatements checks whether the role may see the statements of others, and keys of partitions: as for
// system_views.queries, which shows statements too. Otherwise it returns the reason.
func (p *page) seesStatements(ctx context.Context) (reason string, err error) {
	_, err = p.query(ctx, "SELECT thread_id FROM system_views.queries")
	if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.Unauthorized {
		return e.Message, nil
	}
	return "", err
}

// The fields of the frame.

// Role is the role that has logged in, or "".
func (p *page) Role() string { return p.visitor.name }

// Logins reports whether clients log in.
func (p *page) Logins() bool { return p.console.o.Logins }

// Write reports whether all statements may run.
func (p *page) Write() bool { return p.console.o.Write }

// TestControls reports whether the server has keyspace cqld_control.
func (p *page) TestControls() bool { return p.console.o.TestControls }

// Version is the version of the server.
func (p *page) Version() string { return p.console.o.Version }
