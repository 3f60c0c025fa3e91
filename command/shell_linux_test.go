package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cqld/cqld/cqltest"
)

// shellVariable makes this test the shell that TestShellOnTerminal starts; it has the address of the server.
const shellVariable = "TEST_SHELL"

// TestShellOnTerminal types at the prompt of the shell.
func TestShellOnTerminal(t *testing.T) {
	if addr := os.Getenv(shellVariable); addr != "" {
		host, port, _ := strings.Cut(addr, ":")
		os.Args = []string{"cqlsh", host, port}
		Main("test", nil)
	}
	server := cqltest.RunT(t)
	server.Query(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	server.Query(t, "CREATE TABLE shop.hotels (city text, id int, rooms int, PRIMARY KEY (city, id))")
	keyboard, terminal, shown := newKeyboard(t)
	if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	start := func(env ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestShellOnTerminal$")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
		cmd.Env = append([]string{shellVariable + "=" + server.Addr(), "HOME=" + home, "TERM=xterm", "PATH=" +
			os.Getenv("PATH")}, env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	from := 0
	// expect waits until a text is shown after the last one.
	expect := func(pattern string) {
		t.Helper()
		shown.awaitFrom(t, from, pattern)
		from = len(shown.String())
	}
	press := func(keys string) {
		t.Helper()
		if _, err := keyboard.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	// complete presses the tab key until the line is completed: the schema is read in the background.
	complete := func(line, want string) {
		t.Helper()
		for range 1000 {
			begin := from
			press(line + "\t")
			expect(regexp.QuoteMeta(line)) // by the editor, which takes Ctrl-C from then on
			press("\x03")
			expect(`\^C[\r\n]+[^>]*> $`)
			if strings.Contains(shown.String()[begin:], want) {
				return
			}
		}
		t.Errorf("%s is not completed to %s", line, want)
	}

	shell := start("NO_COLOR=1")
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
	if strings.Contains(shown.String(), "\x1b[0;1;") {
		t.Error("there are colours")
	}

	from = len(shown.String())
	shell = start()
	expect(`cqlsh> $`)
	press("\x12北京")
	expect(`i-search\)` + "`北京'")
	press("\x03")
	press("SELECT key FROM system.local;\r")
	expect("\x1b\\[0;1;33mlocal\x1b\\[0m")
	press("\x04")
	if err := shell.Wait(); err != nil {
		t.Errorf("the shell ends with %v", err)
	}
	history, err := os.ReadFile(filepath.Join(home, ".cassandra", "cqlsh_history"))
	if err != nil || !strings.Contains(string(history), "INSERT INTO hotels (city, id, rooms) VALUES ('北京', 1, 900);\n") ||
		strings.Contains(string(history), "hidden") {
		t.Errorf("the history is %q, error %v", history, err)
	}
}
