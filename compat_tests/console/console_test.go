package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cqld/cqld/protocol/client"
)

// shop is a keyspace with rows of every kind, some of them hostile.
const shop = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
CREATE TYPE shop.address (street text, city text);
CREATE TABLE shop.orders_by_customer (customer text, day date, id int, status text, total decimal, lines list<text>,
	ship_to frozen<address>, tier text static, PRIMARY KEY ((customer), day, id)) WITH CLUSTERING ORDER BY (day DESC, id ASC)
	AND comment = 'Q1: orders of a customer';
CREATE TABLE shop.products (id text PRIMARY KEY, name text, price decimal, tags set<text>, photo blob)
	WITH comment = 'Q2: the product of an order line (orders_by_customer -> products)';
CREATE INDEX products_by_name ON shop.products (name);
CREATE TABLE shop.views_by_product (product text, hour timestamp, views counter, PRIMARY KEY (product, hour))
	WITH comment = 'Q3: views of a product (products -> views_by_product)';
INSERT INTO shop.orders_by_customer (customer, day, id, status, total, lines, ship_to, tier) VALUES ('anna', '2026-11-03', 1, 'paid', 12.50, ['tea', 'milk'], {street: 'Elm Street 1', city: 'Turku'}, 'gold');
INSERT INTO shop.orders_by_customer (customer, day, id, status, total, lines) VALUES ('anna', '2026-11-03', 2, 'sent', 4.20, ['tea']);
INSERT INTO shop.orders_by_customer (customer, day, id, status, total, lines) VALUES ('anna', '2026-10-28', 9, 'returned', 31, ['cup', 'pot', 'tea']);
INSERT INTO shop.orders_by_customer (customer, day, id, status, total) VALUES ('bert', '2026-11-01', 4, 'open', 7.95);
INSERT INTO shop.products (id, name, price, tags, photo) VALUES ('tea', 'Green tea', 4.20, {'hot', 'drink'}, 0xcafebabe);
INSERT INTO shop.products (id, name, price, tags) VALUES ('milk', 'Milk', 1.20, {'cold', 'drink'});
INSERT INTO shop.products (id, name, price) VALUES ('cup', 'שלום עולם', 11.50);
INSERT INTO shop.products (id, name) VALUES ('evil', '</bdi><script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">');
UPDATE shop.views_by_product SET views = views + 7 WHERE product = 'tea' AND hour = '2026-11-03 10:00:00Z'`

const selectOrders = "SELECT * FROM shop.orders_by_customer WHERE customer = 'anna';"

// TestPages shows every page in light and dark, from 400 to 1600 pixels wide: nothing may be cut off at the side.
func TestPages(t *testing.T) {
	s := startServer(t, shop, "--test-controls", "--ring", "3")
	conn := s.dial(client.Options{})
	for i := range 40 {
		if _, err := conn.Query(t.Context(), fmt.Sprintf("SELECT * FROM shop.products WHERE id = '%s'", []string{"tea", "milk", "tea"}[i%3]), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"SELECT * FROM shop.orders_by_customer", "SELECT * FROM shop.orders_by_customer WHERE status = 'open' ALLOW FILTERING"} {
		for range 5 {
			if _, err := conn.Query(t.Context(), text, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, width := range []int{400, 900, 1600} {
		for _, dark := range []bool{false, true} {
			tb := s.newTab(width, dark)
			name := fmt.Sprintf("-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark])
			check := func(page string) {
				t.Helper()
				if over := eval[int](tb, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s%s is %d pixels wider than the window", page, name, over)
				}
				tb.screenshot(page+name, page == "activity" || page == "schema" || page == "advisor")
			}
			tb.open("/")
			tb.wait("document.querySelectorAll('table.columns').length === 3")
			check("schema")
			tb.open("/?keyspace=shop&table=orders_by_customer")
			check("table")
			tb.open("/query?keyspace=shop")
			tb.run(chromedp.SetValue("#text", selectOrders, chromedp.ByQuery))
			tb.run(chromedp.Evaluate("area.dispatchEvent(new Event('input')); form.elements.trace.checked = true; form.requestSubmit()", nil))
			tb.wait("document.querySelectorAll('table.rows tbody tr').length === 3 && document.querySelector('.trace')")
			check("query")
			tb.run(chromedp.Evaluate("area.value = 'SELECT * FROM shop.products WHERE name = 1 +'; form.elements.trace.checked = false; changed(); form.requestSubmit()", nil))
			tb.wait("document.querySelector('.message.error mark')")
			check("error")
			tb.open("/activity")
			tb.wait("document.querySelector('.live.on') && document.querySelectorAll('.ring path').length > 3")
			check("activity")
			tb.open("/advisor")
			tb.wait("document.querySelector('.findings section')")
			check("advisor")
			if n := eval[int](tb, "performance.getEntriesByType('navigation')[0].responseEnd - performance.getEntriesByType('navigation')[0].requestStart | 0"); n > 50 {
				t.Logf("the last page took %d ms", n)
			}
		}
	}
}

// TestKeyboard writes and runs a statement, turns pages, edits a cell and goes to another page without a mouse.
func TestKeyboard(t *testing.T) {
	s := startServer(t, shop, "--console-write")
	tb := s.newTab(1200, false)
	tb.open("/")
	tb.press(kb.Tab)
	if got := eval[string](tb, "document.activeElement.textContent"); got != "Skip to the content" {
		t.Errorf("the first element is %s", got)
	}
	tabTo(tb, "Query")
	tb.press(kb.Enter)
	tb.wait("document.activeElement?.id === 'text' && names && names.shop")
	// Completion: of a table after its keyspace, and of a column.
	tb.press("SELECT * FROM shop.or")
	tb.wait("!list.hidden && list.children[0].dataset.insert === 'orders_by_customer'")
	tb.press(kb.Tab)
	tb.press(" WHERE cust")
	tb.wait("!list.hidden")
	tb.screenshot("completion", false)
	tb.press(kb.ArrowDown, kb.Enter, " = 'anna'")
	if got, want := eval[string](tb, "area.value"), "SELECT * FROM shop.orders_by_customer WHERE customer = 'anna'"; got != want {
		t.Errorf("the statement is %s, want %s", got, want)
	}
	tb.wait("document.querySelector('#plan').innerText.includes('all rows of each')")
	tb.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	tb.wait("document.querySelectorAll('table.rows tbody tr').length === 3")
	// The first cell is the last stop but the buttons.
	tabTo(tb, "anna")
	tb.press(kb.ArrowDown)
	for range 4 {
		tb.press(kb.ArrowRight)
	}
	tb.press(kb.Enter)
	tb.wait("dialog.open")
	tb.press("['it''s']")
	tb.screenshot("edit", false)
	tb.press(kb.Enter)
	tb.wait("document.activeElement === area && !dialog.open")
	want := "UPDATE shop.orders_by_customer SET lines = ['it''s'] WHERE customer = 'anna' AND day = '2026-11-03' AND id = 2;"
	if got := eval[string](tb, "area.value"); got != want {
		t.Errorf("the statement is %s, want %s", got, want)
	}
	tb.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	tb.wait("document.querySelector('#result').innerText.includes('Done.')")
	r, err := s.dial(client.Options{}).Query(t.Context(), "SELECT lines FROM shop.orders_by_customer WHERE customer = 'anna' AND day = '2026-11-03' AND id = 2", nil, nil)
	if err != nil || !strings.Contains(string(r.Rows[0][0]), "it's") {
		t.Errorf("the row is %q, error %v", r.Rows, err)
	}
	// The history has both statements, and no password.
	tb.run(chromedp.Evaluate("remember(\"CREATE ROLE x WITH PASSWORD = 'secret'\")", nil))
	if got := eval[int](tb, "historyBox.querySelectorAll('li').length"); got != 2 {
		t.Errorf("the history has %d statements", got)
	}
}

// tabTo presses the tab key until an element with a text has the focus.
func tabTo(tb *tab, text string) {
	tb.t.Helper()
	for range 60 {
		if strings.TrimSpace(eval[string](tb, "document.activeElement?.innerText ?? ''")) == text {
			return
		}
		tb.press(kb.Tab)
	}
	tb.t.Fatalf("the tab key does not reach %q", text)
}

// TestHostileCell shows a cell that is markup.
func TestHostileCell(t *testing.T) {
	s := startServer(t, shop)
	tb := s.newTab(1200, false)
	tb.open("/query?keyspace=shop")
	tb.run(chromedp.Evaluate("area.value = 'SELECT id, name FROM products'; form.requestSubmit()", nil))
	tb.wait("document.querySelectorAll('table.rows tbody tr').length === 4")
	tb.wait("[...document.querySelectorAll('td')].some(td => td.textContent.startsWith('</bdi><script>'))")
	if eval[bool](tb, "'pwned' in window || document.querySelectorAll('td img, td script').length > 0") {
		t.Error("a cell became markup")
	}
	tb.run(chromedp.Evaluate("area.value = \"INSERT INTO products (id) VALUES ('x')\"; form.requestSubmit()", nil))
	tb.wait("document.querySelector('#result').innerText.includes('read-only')")
}

// TestOtherOrigin opens a page of another origin, and of another site, that tries all it can.
func TestOtherOrigin(t *testing.T) {
	s := startServer(t, shop, "--console-write", "--test-controls")
	done := make(chan string, 2)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/done" {
			done <- r.URL.Query().Get("got")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<iframe id="frame" src="http://%[1]s/query"></iframe><iframe name="answer"></iframe>
<form method="post" target="answer" action="http://%[1]s/query"><input name="text" value="DROP KEYSPACE shop"><input name="act" value="run"></form>
<script>
const target = "http://%[1]s", got = [];
const body = new URLSearchParams({text: "DROP KEYSPACE shop", act: "run"});
const note = text => () => got.push(text);
(async () => {
	await fetch(target + "/query", {method: "POST", mode: "no-cors", body}).catch(() => {});
	await fetch(target + "/query", {method: "POST", body, credentials: "include"}).then(note("a POST"), () => {});
	await fetch(target + "/query/names").then(note("names"), () => {});
	await fetch(target + "/activity/clock", {method: "POST", mode: "no-cors", body: new URLSearchParams({act: "freeze"})}).catch(() => {});
	await new Promise(end => { const s = new EventSource(target + "/activity/events"); s.onopen = () => { got.push("events"); end(); }; s.onerror = end; });
	await new Promise(end => { const s = document.createElement("script"); s.src = target + "/static/editor.js"; s.onload = () => { got.push("a script"); end(); }; s.onerror = end; document.body.append(s); });
	await new Promise(end => { document.querySelector("[name=answer]").onload = end; document.forms[0].submit(); });
	try { if (document.getElementById("frame").contentDocument?.forms.length) got.push("a frame"); } catch {}
	fetch("/done?got=" + encodeURIComponent(got.join(", ")));
})();
</script>`, s.HTTP)
	}))
	t.Cleanup(evil.Close)
	for _, address := range []string{evil.Listener.Addr().String(), otherHost(evil.Listener.Addr().String())} {
		ctx, cancel := chromedp.NewContext(browsers)
		if err := chromedp.Run(ctx, chromedp.Navigate("http://"+address)); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-done:
			if got != "" {
				t.Errorf("the page of %s got %s", address, got)
			}
		case <-t.Context().Done():
		}
		cancel()
	}
	conn := s.dial(client.Options{})
	if _, err := conn.Query(t.Context(), "SELECT * FROM shop.products", nil, nil); err != nil {
		t.Errorf("the page of another origin ran a statement: %v", err)
	}
	r, err := conn.Query(t.Context(), "SELECT frozen FROM cqld_control.clock", nil, nil)
	if err != nil || len(r.Rows) != 1 || len(r.Rows[0][0]) == 1 && r.Rows[0][0][0] != 0 {
		t.Errorf("the clock is %v, error %v", r.Rows, err)
	}
}

// TestActivity gets statements and a node's state without loading the page again, and nothing while it is hidden.
func TestActivity(t *testing.T) {
	s := startServer(t, shop, "--test-controls", "--ring", "3")
	conn := s.dial(client.Options{})
	tb := s.newTab(1200, false)
	tb.open("/activity")
	tb.wait("document.querySelector('.live.on')")
	if _, err := conn.Query(t.Context(), "SELECT * FROM shop.products WHERE id = '<live>'", nil, nil); err != nil {
		t.Fatal(err)
	}
	tb.wait("document.querySelector('#statements').innerText.includes(\"'<live>'\")")
	tb.wait("document.querySelector('[data-part=hot]').innerText.includes(\"'<live>'\")")
	tabTo(tb, "Stop") // the clock's
	tb.press(kb.Enter)
	tb.wait("document.querySelector('.clock').innerText.includes('stopped')")
	tb.run(chromedp.Evaluate("document.getElementById('node 2 up').focus()", nil))
	tb.press(kb.Enter)
	tb.wait("document.querySelectorAll('.ring path.down').length > 0 && document.activeElement.innerText === 'Start'")
	tb.run(chromedp.Evaluate("document.querySelector('[name=name]').focus()", nil))
	tb.press("slow", kb.Enter)
	tb.wait("!document.querySelector('#failed').hidden || document.querySelector('[data-part=faults] td')?.innerText === 'slow'")
	tb.run(chromedp.Evaluate("Object.defineProperty(document, 'hidden', {get: () => true}); document.dispatchEvent(new Event('visibilitychange'))", nil))
	if eval[bool](tb, "source !== null || document.querySelector('.live.on') !== null") {
		t.Error("the hidden page is live")
	}
}

// TestLogin logs in with the keyboard, and out.
func TestLogin(t *testing.T) {
	s := startServer(t, "", "--auth", "password")
	tb := s.newTab(700, false)
	tb.open("/query?text=LIST")
	tb.wait("document.activeElement?.name === 'name'")
	tb.press("cassandra", kb.Tab, "wrong", kb.Enter)
	tb.wait("document.querySelector('.message.error')")
	tb.screenshot("login", false)
	tb.run(chromedp.Evaluate("document.querySelector('[type=password]').focus()", nil))
	tb.press("cassandra", kb.Enter)
	tb.wait("location.pathname + location.search === '/query?text=LIST'")
	var cookies []*network.Cookie
	tb.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	if len(cookies) != 1 || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteStrict {
		t.Errorf("the cookies are %v", cookies)
	}
	tabTo(tb, "Log out")
	tb.press(kb.Enter)
	tb.wait("location.pathname === '/login'")
	tb.open("/")
	tb.wait("location.pathname === '/login'")
}

// TestWithoutScripts runs a statement, and turns a page, in a browser whose scripts are off.
func TestWithoutScripts(t *testing.T) {
	s := startServer(t, shop)
	tb := s.newTab(1000, true)
	tb.run(emulation.SetScriptExecutionDisabled(true))
	tb.open("/query?keyspace=shop&text=SELECT+*+FROM+products")
	tb.run(chromedp.Click("button.primary", chromedp.ByQuery), chromedp.WaitVisible("table.rows", chromedp.ByQuery))
	var text string
	tb.run(chromedp.Text("#result", &text, chromedp.ByQuery))
	if !strings.Contains(text, "Green tea") {
		t.Error(text)
	}
	tb.screenshot("without-scripts", false)
	tb.open("/activity")
	tb.run(chromedp.WaitVisible("[data-part=memory] table", chromedp.ByQuery))
}
