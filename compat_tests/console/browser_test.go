package console

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

var (
	binary      string          // cqld
	browsers    context.Context // the browser, in which each test has tabs
	screenshots string          // the folder
)

// browserNames are the programs that are looked for.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program := ""
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		fmt.Printf("SKIPPED: no browser was found, none of %s: apt-get install chromium\n", strings.Join(browserNames, ", "))
		return 0
	}
	folder, err := os.MkdirTemp("", "console")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(folder)
	if screenshots = os.Getenv("CONSOLE_SCREENSHOTS"); screenshots == "" {
		screenshots = folder
	} else if err := os.MkdirAll(screenshots, 0o755); err != nil {
		log.Print(err)
		return 1
	}
	binary = filepath.Join(folder, "cqld")
	if err := process.Build(binary); err != nil {
		log.Print(err)
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(filepath.Join(folder, "profile")), chromedp.Flag("hide-scrollbars", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	var endBrowser context.CancelFunc
	browsers, endBrowser = chromedp.NewContext(allocator)
	defer endBrowser()
	if err := chromedp.Run(browsers); err != nil {
		log.Printf("start %s: %v", program, err)
		return 1
	}
	return m.Run()
}

// server is a cqld with a console.
type server struct {
	*process.Process
	t *testing.T
}

// startServer starts a cqld that stops with the test, and runs statements.
func startServer(t *testing.T, statements string, args ...string) *server {
	t.Helper()
	p, err := process.Start(binary, append([]string{"--memory", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("%v\n%s", err, p.Log())
		}
	})
	s := &server{p, t}
	if statements != "" {
		conn := s.dial(client.Options{})
		for _, text := range strings.Split(strings.TrimSpace(statements), ";\n") {
			if _, err := conn.Query(t.Context(), text, nil, nil); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	return s
}

// dial opens a connection of a client.
func (s *server) dial(o client.Options) *client.Conn {
	s.t.Helper()
	conn, err := client.Dial(s.t.Context(), s.Addr, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// tab is a tab of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	own string // the host and port of the console

	mu       sync.Mutex
	requests []string
	errors   []string // exceptions of scripts, and what the Content-Security-Policy forbids
}

// newTab opens a tab for the console of a server. When the test ends, it must have had no errors, and have sent
// requests to nothing but the console.
func (s *server) newTab(width int, dark bool) *tab {
	s.t.Helper()
	created, cancelTab := chromedp.NewContext(browsers)
	ctx, cancel := context.WithTimeout(created, 2*time.Minute)
	tb := &tab{t: s.t, ctx: ctx, own: s.HTTP}
	chromedp.ListenTarget(ctx, func(event any) {
		tb.mu.Lock()
		defer tb.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			tb.requests = append(tb.requests, e.Request.URL)
		case *runtime.EventExceptionThrown:
			tb.errors = append(tb.errors, e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Source == cdplog.SourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
				tb.errors = append(tb.errors, e.Entry.Text)
			}
		}
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	tb.run(network.Enable(), cdplog.Enable(), emulation.SetDeviceMetricsOverride(int64(width), 1000, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	s.t.Cleanup(func() {
		cancel()
		cancelTab()
		tb.mu.Lock()
		defer tb.mu.Unlock()
		for _, text := range tb.errors {
			s.t.Errorf("an error in the page: %s", text)
		}
		for _, address := range tb.requests {
			u, err := url.Parse(address)
			if err != nil || u.Host != tb.own && u.Scheme != "data" && u.Scheme != "about" {
				s.t.Errorf("the page sent a request to %s", address)
			}
		}
	})
	return tb
}

func (tb *tab) run(actions ...chromedp.Action) {
	tb.t.Helper()
	if err := chromedp.Run(tb.ctx, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// open opens a page of the console.
func (tb *tab) open(path string) {
	tb.t.Helper()
	tb.run(chromedp.Navigate("http://" + tb.own + path))
}

// eval returns the value of an expression.
func eval[T any](tb *tab, expression string) (v T) {
	tb.t.Helper()
	tb.run(chromedp.Evaluate(expression, &v))
	return v
}

// wait waits until an expression is true, perhaps of the next page.
func (tb *tab) wait(expression string) {
	tb.t.Helper()
	var last error
	for ends := time.Now().Add(20 * time.Second); time.Now().Before(ends); time.Sleep(20 * time.Millisecond) {
		var is bool
		if last = chromedp.Run(tb.ctx, chromedp.Evaluate("!!("+expression+")", &is)); last == nil && is {
			return
		}
	}
	var text string
	_ = chromedp.Run(tb.ctx, chromedp.Evaluate("document.body.innerText", &text)) // only for the message
	tb.t.Fatalf("%s: %v\n%s", expression, last, text)
}

// press presses a key of package kb, or types a text. Unlike chromedp's events, a key whose default a page prevents has
// no effect, as in a browser.
func (tb *tab) press(keys ...string) {
	tb.t.Helper()
	for _, text := range keys {
		k := kb.Keys[[]rune(text)[0]]
		if k == nil || k.Print && text != kb.Enter {
			tb.run(chromedp.KeyEvent(text))
			continue
		}
		kind := input.KeyRawDown
		if k.Text != "" {
			kind = input.KeyDown
		}
		event := input.DispatchKeyEvent(kind).WithKey(k.Key).WithCode(k.Code).WithText(k.Text).
			WithWindowsVirtualKeyCode(k.Windows).WithNativeVirtualKeyCode(k.Native)
		up := *event
		up.Type, up.Text = input.KeyUp, ""
		tb.run(event, &up)
	}
}

// screenshot saves what the tab shows, or the whole page.
func (tb *tab) screenshot(name string, whole bool) {
	tb.t.Helper()
	var b []byte
	action := chromedp.CaptureScreenshot(&b)
	if whole {
		action = chromedp.FullScreenshot(&b, 100)
	}
	tb.run(action)
	if err := os.WriteFile(filepath.Join(screenshots, name+".png"), b, 0o644); err != nil {
		tb.t.Fatal(err)
	}
}

// otherHost returns an address of localhost by its other name, which is another site for browsers.
func otherHost(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return "localhost:" + port
}
