package console

import (
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
)

// Options configure a Console. Server, Store and Controls are required, and belong together.
type Options struct {
	Server   *server.Server
	Store    *store.Store
	Controls *control.Controls

	TestControls bool // the server has keyspace cqld_control
	Logins       bool // clients log in
	Write        bool // all statements may run, not only reads
	Version      string

	// Figures returns more figures for the page of activity; nil: there are none.
	Figures func() []Figure
}

// Figure is a named number of the page of activity.
type Figure struct{ Name, Value string }

// Console serves the pages of one server. It is an http.Handler.
type Console struct {
	o        Options
	handler  http.Handler
	prepare  func() // reads the files at the first request: most servers get none
	pages    map[string]*pageTemplate
	versions map[string]string // of files, in their addresses
	sessions sessions
	everyone *visitor // without logins
	history  history
	own      ownRequests
	key      [32]byte // signs paging states
	streams  *places
	queries  *places
}

//go:embed files
var files embed.FS

// The limits of what happens at a time, in all and for one role. A live page keeps the server recording. A query or a
// download holds a page of rows, up to 16 MiB, until the visitor has read the response.
const (
	maxStreams     = 32
	maxRoleStreams = 8
	maxQueries     = 8
	maxRoleQueries = 4
)

// New returns the pages of a server.
func New(o Options) *Console {
	c := &Console{
		o: o, pages: map[string]*pageTemplate{}, versions: map[string]string{},
		everyone: &visitor{}, streams: newPlaces(maxStreams, maxRoleStreams), queries: newPlaces(maxQueries, maxRoleQueries),
	}
	_, _ = rand.Read(c.key[:]) // never fails
	c.sessions.init()
	c.prepare = sync.OnceFunc(c.readFiles)
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(*page) error{
		"GET /{$}":              schemaPage,
		"GET /diagram.svg":      diagramFile,
		"GET /advisor":          advisorPage,
		"GET /query":            queryPage,
		"POST /query":           oneQuery(queryPage),
		"POST /query/plan":      planFragment,
		"POST /query/download":  oneQuery(download),
		"GET /query/names":      names,
		"GET /activity":         activityPage,
		"GET /activity/events":  activityEvents,
		"POST /activity/clock":  clockForm,
		"POST /activity/faults": faultForm,
		"POST /activity/nodes":  nodeForm,
	} {
		mux.Handle(pattern, c.page(serve))
	}
	mux.HandleFunc("GET /login", c.loginPage)
	mux.HandleFunc("POST /login", c.login)
	mux.HandleFunc("POST /logout", c.logout)
	mux.HandleFunc("GET /static/{name}", c.static)
	c.handler = http.NewCrossOriginProtection().Handler(protect(mux))
	return c
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	c.prepare()
	c.handler.ServeHTTP(w, r)
}

// protect refuses requests that a page of another origin makes, unless the visitor follows a link to here: also a
// request whose response that page cannot read costs the server something.
func protect(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			r.Header.Get("Sec-Fetch-Dest") == "document"
		if (site == "cross-site" || site == "same-site") && !link {
			http.Error(w, "a page of another origin sent this request", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// readFiles parses the templates and computes the versions of the other files.
func (c *Console) readFiles() {
	entries, err := fs.ReadDir(files, "files")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".html" {
			sum := sha256.Sum256([]byte(fileText(e.Name())))
			c.versions[e.Name()] = hex.EncodeToString(sum[:6])
		}
	}
	funcs := templateFuncs(func(name string) string { return "/static/" + name + "?" + c.versions[name] })
	frame := fileText("frame.html")
	for _, name := range []string{"schema", "query", "activity", "advisor", "login", "error"} {
		t, err := parseTemplate(funcs, frame, fileText(name+".html"))
		if err != nil {
			panic(err)
		}
		c.pages[name] = t
	}
}

// fileText returns the content of a file.
func fileText(name string) string {
	content, err := files.ReadFile(path.Join("files", name))
	if err != nil {
		panic(err) // the files are part of the program
	}
	return string(content)
}

// static serves a style sheet or script. Its address changes with its content.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, err := files.ReadFile("files/" + name)
	if err != nil || c.versions[name] == "" {
		http.NotFound(w, r)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if strings.HasSuffix(name, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	if r.URL.RawQuery == c.versions[name] {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(content) // the client may have hung up
}

// queryTime limits a request of a page.
const queryTime = 2 * time.Minute
