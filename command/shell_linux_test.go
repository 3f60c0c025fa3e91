package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/cqld/cqld/cqltest"
)

// shellVariable makes this test the shell that TestShellOnTerminal starts; it has the host and the port of the server,
// and flags.
const shellVariable = "TEST_SHELL"

// shellTerminal is a terminal on which shells are started.
type shellTerminal struct {
	*testing.T
	server             *cqltest.Server
	home, flags        string
	keyboard, terminal *os.File
	shown              *servedLog
	from               int // of the text that expect looks at
}

func newShellTerminal(t *testing.T, server *cqltest.Server) *shellTerminal {
	t.Helper()
	term := &shellTerminal{T: t, server: server, home: t.TempDir()}
	term.keyboard, term.terminal, term.shown = newKeyboard(t)
	term.resize(120)
	return term
}

// resize changes the number of columns.
func (t *shellTerminal) resize(columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(t.keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// start starts a shell.
func (t *shellTerminal) start(env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestShellOnTerminal$")
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = t.terminal, t.terminal, t.terminal, t.home
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append([]string{
		shellVariable + "=" + strings.ReplaceAll(t.server.Addr(), ":", " ") + " " + t.flags, "HOME=" + t.home, "TERM=xterm", "PATH=" + os.Getenv("PATH"),
	}, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// expect waits until the terminal shows a text, and returns the output since the last expected text.
func (t *shellTerminal) expect(pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		shown := t.shown.String()[t.from:]
		if text := lastDrawn(shown); wanted.MatchString(text) {
			t.from += len(shown)
			return text
		}
	}
	t.Fatalf("the terminal does not show %q after %q", pattern, t.shown.String()[max(0, t.from-600):])
	return ""
}

// expectColors waits for a line as the editor draws it, with its colours.
func (t *shellTerminal) expectColors(line string) {
	t.Helper()
	t.shown.awaitFrom(t.T, t.from, regexp.QuoteMeta(line+"\x1b[0K"))
}

// draws matches what the editor draws of a line: it moves to the beginning, and erases the old rest.
var draws = regexp.MustCompile(`^([^\x1b]*)(?:\x1b\[\d+G.*)?\x1b\[\d+G(.*?)\x1b\[0K\x1b\[\d+G(.*)`)

// lastDrawn is a text that the terminal got, with each line as it was drawn last, without the editor's colours.
func lastDrawn(shown string) string {
	var b strings.Builder
	for line := range strings.Lines(shown) {
		if m := draws.FindStringSubmatch(line); m != nil {
			line = m[1] + colors.ReplaceAllString(m[2], "") + strings.TrimPrefix(line[len(line)-len(m[3])-endOfLine(line):], m[2])
		}
		b.WriteString(line)
	}
	return b.String()
}

// endOfLine is 1 if a line has its end.
func endOfLine(line string) int { return strings.Count(line, "\n") }

// press types keys.
func (t *shellTerminal) press(keys string) {
	t.Helper()
	if _, err := t.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// TestShellOnTerminal types at the prompt of the shell.
func TestShellOnTerminal(t *testing.T) {
	if arguments := os.Getenv(shellVariable); arguments != "" {
		os.Args = append([]string{"cqlsh"}, strings.Fields(arguments)...)
		Main("test", nil)
	}
	server := cqltest.RunT(t)
	t.Run("commands", func(t *testing.T) { typeCommands(t, server) })
	t.Run("colors", func(t *testing.T) { typeInColors(t, server) })
	t.Run("keys", func(t *testing.T) { typeKeys(t, server) })
	server.Query(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	server.Query(t, "CREATE TABLE shop.hotels (city text, id int, rooms int, PRIMARY KEY (city, id))")
	term := newShellTerminal(t, server)
	expect, press := term.expect, term.press
	// complete presses the tab key until the line is completed: the schema is read in the background.
	complete := func(line, want string) {
		t.Helper()
		for range 1000 {
			begin := term.from
			press(line + "\t")
			expect(regexp.QuoteMeta(line)) // by the editor, which takes Ctrl-C from then on
			press("\x03")
			expect(`\^C[\r\n]+[^>]*> $`)
			if strings.Contains(term.shown.String()[begin:], want) {
				return
			}
		}
		t.Errorf("%s is not completed to %s", line, want)
	}

	shell := term.start("NO_COLOR=1")
	expect(`\[cqlsh 6\.2\.2\+cqld-test \| Cassandra 5\.0\.8 \|.*[\r\n]+Use HELP for help\.[\r\n]+cqlsh> $`)
	press("USE shop;\r")
	expect(`cqlsh:shop> $`)
	press("INSERT INTO hotels (city, id, rooms)\r")
	expect(`\n +\.\.\. $`)
	press("VALUES ('北京', 1, 900);\r")
	expect(`cqlsh:shop> $`)
	press("SELECT * FROM hotels;\r")
	expect("\n city \\| id \\| rooms\r\n-+\\+-+\\+-+\r\n 北京 \\|  1 \\|   900\r\n\r\n\\(1 rows\\)\r\ncqlsh:shop> $")
	press("SELECT rooms FORM hotels;\r")
	expect("SyntaxException: .*\r\n  SELECT rooms FORM hotels;\r\n               \\^+\r\ncqlsh:shop> $")
	complete("SELECT * FROM hot", "FROM hotels ")
	complete("SELECT roo", "SELECT rooms ")
	complete("CREATE MAT", "MATERIALIZED ")
	complete("UPDATE hotels SE", "SET ")
	complete("CONSISTENCY LOCAL_Q", "LOCAL_QUORUM ")
	complete("DESCRIBE KEYSPACE sh", "shop ")
	press("SELECT half")
	expect("half$")
	press("\x03")
	expect(`\^C[\r\n]+cqlsh:shop> $`)
	press("\\watch 1h SELECT id FROM hotels\r")
	expect(`\(1 rows\)`)
	press("\x03") // ends the statement, but not the shell
	expect(`cqlsh:shop> $`)
	press("\x1b[A\r")
	expect(`watch 1h[^>]*\(1 rows\)`)
	press("\x03")
	expect(`cqlsh:shop> $`)
	press("INSERT INTO hotels (city, id) VALUES ('Bern', 2);\r")
	expect(`cqlsh:shop> $`)
	press("PAGING 1\r")
	expect(`Page size: 1\r\ncqlsh:shop> $`)
	press("SELECT id FROM hotels;\r")
	expect(`---MORE---$`)
	press(" ")
	expect(`---MORE---$`)
	press("q")
	expect(`[\r\n]cqlsh:shop> $`)
	press("LOGIN cassandra 'hidden'\r")
	expect(`cqlsh:shop> $`)
	press("EXIT\r")
	if err := shell.Wait(); err != nil {
		t.Errorf("the shell ends with %v", err)
	}
	if colors.MatchString(term.shown.String()) {
		t.Error("there are colours")
	}

	term.from = len(term.shown.String())
	shell = term.start()
	expect(`cqlsh> $`)
	press("\x12北京")
	expect(`i-search\)\[北京\]:INSERT INTO`)
	press("\x03")
	expect(`\^C\r\ncqlsh> $`)
	press("SELECT key FROM system.local;\r")
	expect("\x1b\\[0;1;33mlocal\x1b\\[0m")
	press("\x04")
	if err := shell.Wait(); err != nil {
		t.Errorf("the shell ends with %v", err)
	}
	history, err := os.ReadFile(filepath.Join(term.home, ".cassandra", "cqlsh_history"))
	if err != nil || !strings.Contains(string(history), "INSERT INTO hotels (city, id, rooms) VALUES ('北京', 1, 900);\n") ||
		strings.Contains(string(history), "hidden") {
		t.Errorf("the history is %q, error %v", history, err)
	}
}

// typeCommands types commands that need a terminal.
func typeCommands(t *testing.T, server *cqltest.Server) {
	server.Query(t, "CREATE KEYSPACE depot WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	server.Query(t, "CREATE TABLE depot.parts (place text, id int, name text, kind text STATIC, PRIMARY KEY (place, id))")
	term := newShellTerminal(t, server)
	expect, press := term.expect, term.press
	term.resize(0) // a terminal that does not know its size
	shell := term.start("COLUMNS=110")
	expect(`cqlsh> $`)
	if size, err := unix.IoctlGetWinsize(int(term.terminal.Fd()), unix.TIOCGWINSZ); err != nil || size.Col != 110 {
		t.Errorf("the terminal has the size %v, error %v", size, err)
	}

	press("LOGIN cassandra\r")
	expect(`Password: $`)
	press("unspoken\x03")
	expect(`interrupted\S*\s+cqlsh> $`)
	press("LOGIN cassandra\r")
	expect(`Password: $`)
	press("unspoken\r")
	expect(`cassandra@cqlsh> $`)
	if strings.Contains(term.shown.String(), "unspoken") {
		t.Error("the password is shown")
	}

	press("COPY depot.parts (place, id, name, kind) FROM STDIN;\r")
	expect(`\[Use \. on a line by itself to end input\]\s+\[copy\] $`)
	press("Bern,1,a very long name of something,bolt\r")
	expect(`\[copy\] $`)
	press(".\r")
	expect(`1 rows imported from 1 files in [\d.]+ seconds \(0 skipped\)\.\s+\S+> $`)

	press("\\width 12\r")
	expect(`cut to 12 columns[^>]*> $`)
	press("SELECT * FROM depot.parts;\r")
	table := expect(`\(1 rows\)\s+\S+> $`)
	for _, want := range []string{red + "place", cyan + "id", white + "kind", magenta + "name", "a very long…"} {
		if !strings.Contains(table, want) {
			t.Errorf("there is no %q in %q", want, table)
		}
	}

	long := "SELECT place FROM depot.parts WHERE place = 'Bern' AND id IN (1, 2, 3, 4, 5) LIMIT 1000;"
	press(long)
	expect(regexp.QuoteMeta(long) + "$")
	term.resize(60)
	if line := expect(`\r\S+> .*LIMIT 1000;$`); strings.Contains(line, "SELECT") {
		t.Errorf("more than the end is drawn: %q", line)
	}
	press("\r")
	expect(`Bern[^>]*> $`)

	press("TRACING TREE\r")
	expect(`TREE\s+\S+> $`)
	press(long + "\r")
	timeline := expect(`coordinator\)(?s:.*)├(?s:.*)> $`)
	for line := range strings.Lines(timeline[strings.Index(timeline, "coordinator)"):]) {
		if width := utf8.RuneCountInString(colors.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")); width > 60 {
			t.Errorf("a line takes %d columns: %q", width, line)
		}
	}
	if !strings.Contains(timeline, "…") {
		t.Errorf("no line is cut:\n%s", timeline)
	}
	press("TRACING OFF\r")
	expect(`OFF\s+\S+> $`)

	const rows = 12_000
	var file strings.Builder
	for i := range rows {
		fmt.Fprintf(&file, "many,%d,name\n", i)
	}
	if err := os.WriteFile(filepath.Join(term.home, "parts.csv"), []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	term.resize(200)
	expect(`\r\S+> $`) // the prompt is drawn again
	command := "COPY depot.parts (place, id, name) FROM 'parts.csv' WITH RESUME = true AND NUMPROCESSES = 1"
	press(command + " AND INGESTRATE = 2000 AND REPORTFREQUENCY = 0;\r")
	expect(`Processed: \d+ rows; Rate: +\d+ rows/s; Avg\. rate: +\d+ rows/s; \d+ %, \d+s left`)
	press("\x03")
	expect(`The first \d+ rows are finished, and some after them may be; the same command continues\.\s+(?s:.*)cancelled(?s:.*)> $`)
	press(command + ";\r")
	expect(`Continuing after the first \d+ rows`)
	expect(`\d+ rows imported from 1 files(?s:.*)> $`)
	press("EXIT\r")
	if err := shell.Wait(); err != nil {
		t.Errorf("the shell ends with %v", err)
	}
	if got := server.Query(t, "SELECT count(*) FROM depot.parts WHERE place = 'many'").String(); got != strconv.Itoa(rows) {
		t.Errorf("there are %s rows", got)
	}
	if left, err := filepath.Glob(filepath.Join(term.home, "*.resume")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}

// typeInColors types statements, with and without colours.
func typeInColors(t *testing.T, server *cqltest.Server) {
	term := newShellTerminal(t, server)
	expect, press := term.expect, term.press
	exit := func(shell *exec.Cmd) {
		t.Helper()
		press("EXIT\r")
		expect(`EXIT\r\n$`)
		if err := shell.Wait(); err != nil {
			t.Errorf("the shell ends with %v", err)
		}
	}

	shell := term.start()
	expect(`cqlsh> $`)
	const off, keyword, text, number, name, comment = "\x1b[0m", "\x1b[0;1;34m", "\x1b[0;32m", "\x1b[0;36m", "\x1b[0;35m", "\x1b[0;2m"
	press("SELEC")
	term.expectColors(off + "SELEC")
	press("T")
	term.expectColors(keyword + "SELECT" + off)
	press(` "a", -1.5 -- x`)
	term.expectColors(keyword + "SELECT" + off + " " + name + `"a"` + off + ", " + number + "-1.5" + off + " " + comment + "-- x" + off)
	press("\x03")
	expect(`\^C\r\ncqlsh> $`)
	press("SELECT 'it''s\r")
	expect(`\.\.\. $`)
	press("FROM' AS c /*") // the string goes on
	term.expectColors(text + "FROM'" + off + " " + keyword + "AS" + off + " c " + comment + "/*" + off)
	press("\r")
	expect(`\.\.\. $`)
	press("1 */ FROM x")
	term.expectColors(comment + "1 */" + off + " " + keyword + "FROM" + off + " x")
	press("\x03")
	expect(`\^C\r\ncqlsh> $`)
	press("CONSISTENCY x")
	term.expectColors(keyword + "CONSISTENCY" + off + " x")
	press("\x03")
	expect(`\^C\r\ncqlsh> $`)
	exit(shell)

	for _, c := range []struct{ flags, env string }{{"--no-color", "TERM=xterm"}, {"", "TERM=dumb"}} {
		begin := term.from
		term.flags = c.flags
		shell := term.start(c.env)
		expect(`cqlsh> $`)
		press("SELECT key FROM system.local;\r")
		expect(`local\s+\(1 rows\)\s+cqlsh> $`)
		exit(shell)
		if shown := term.shown.String()[begin:]; colors.MatchString(shown) || c.flags == "" && strings.Contains(shown, "\x1b") {
			t.Errorf("%v: there are colours in %q", c, shown)
		}
	}
}

// typeKeys pastes texts and edits lines.
func typeKeys(t *testing.T, server *cqltest.Server) {
	server.Query(t, "CREATE KEYSPACE harbour WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	server.Query(t, "CREATE TABLE harbour.ships (id int PRIMARY KEY, name text)")
	term := newShellTerminal(t, server)
	expect, press := term.expect, term.press
	shell := term.start("NO_COLOR=1")

	const pasted = 50
	var b strings.Builder
	for i := range pasted { // before the prompt too
		fmt.Fprintf(&b, "INSERT INTO harbour.ships (id,\rname) VALUES (%d, 'ship');\r", i)
	}
	b.WriteString("SELECT count(*) FROM harbour.ships;\r")
	press(b.String())
	expect(fmt.Sprintf(`\n +%d\r\n\r\n\(1 rows\)(?s:.*)> $`, pasted))

	long := "SELECT id FROM harbour.ships WHERE name = '" + strings.Repeat("x", 10_000) + "' ALLOW FILTERING;"
	for begin := 0; begin < len(long); begin += 1000 { // the terminal holds 4,096 characters
		press(long[begin:min(begin+1000, len(long))])
	}
	press("\r")
	expect(`\(0 rows\)\s+cqlsh> $`)

	// e with an accent is one character, and so is 京, which takes two columns.
	press("SELECT 'e\u0301' 京x")
	expect("SELECT 'e\u0301' 京x$")
	press("\x1b[D\x7f\x1b[D\x1b[D\x7f\x1b[H#\x1b[4~$")
	expect(`#SELECT '' x\$$`)
	press("\x01\x0bINSERT\x1b[A") // the last line that begins so
	expect(`^INSERT INTO .* VALUES \(49, 'ship'\);$`)
	press("\x1b[A\x1b[B\x1b[B")
	expect(`^INSERT$`)
	press("\x15\x12COUNT")
	expect(`i-search\)\[COUNT\]:SELECT count`)
	press("\r")
	expect(`\(1 rows\)(?s:.*)> $`)
	press("1\x12zz\r")
	expect(`\.\.\. $`)
	press("\x1b\x03")
	expect(`\^C\r\ncqlsh> $`)
	press("\x1bO\x18\x1b[5;7Q\x1b[24~1") // keys without a meaning
	expect(`^\a+1$`)

	if err := shell.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := shell.Wait(); err == nil || shell.ProcessState.ExitCode() != 143 {
		t.Errorf("the shell ends with %v", err)
	}
	if mode, err := unix.IoctlGetTermios(int(term.terminal.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 || mode.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal has the mode %v, error %v", mode, err)
	}
}

// The colours of names of columns.
const (
	red, cyan, white, magenta = "\x1b[0;1;31m", "\x1b[0;1;36m", "\x1b[0;1;37m", "\x1b[0;1;35m"
)

var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")
