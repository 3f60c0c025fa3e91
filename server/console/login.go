package console

import (
	"net/http"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// loginData is the form of a login.
type loginData struct{ To, Name, Error string }

// loginPage shows the form.
func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	to := local(r.URL.Query().Get("to")) // FormValue would read a body, which nothing limits before a login
	if c.visitor(r) != nil {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	c.showLogin(w, r, http.StatusOK, loginData{To: to})
}

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request, status int, d loginData) {
	p := &page{console: c, w: w, r: r, visitor: c.everyone, Title: "Log in", Data: d}
	p.write(status, "login", "")
}

// maxLogin limits the form of a login.
const maxLogin = 64 << 10

// login checks the password of the role in the form, and begins a session.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	d := loginData{To: local(r.PostFormValue("to")), Name: r.PostFormValue("name")}
	if !c.o.Logins {
		http.Redirect(w, r, d.To, http.StatusSeeOther)
		return
	}
	login, err := c.o.Server.Login(r.Context(), Sender(r), d.Name, r.PostFormValue("password"))
	if err != nil {
		status := http.StatusInternalServerError
		if d.Error = "The server could not be reached."; r.Context().Err() == nil {
			if e, ok := cqlerr.As(err); ok {
				d.Error, status = e.Message, http.StatusUnauthorized
			}
		}
		if d.Name == "" {
			d.Error, status = "A role and its password are needed.", http.StatusUnauthorized
		}
		c.showLogin(w, r, status, d)
		return
	}
	c.sessions.end(r)
	http.SetCookie(w, c.sessions.begin(visitor{login.Role(), login}))
	http.Redirect(w, r, d.To, http.StatusSeeOther)
}

// logout ends the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.sessions.end(r)
	http.SetCookie(w, &http.Cookie{
		Name: c.sessions.cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// local returns an address if it is a path of this server, else /.
func local(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}
