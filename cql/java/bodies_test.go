package java

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/json"
)

// The expected results in testdata/*.txt are Cassandra's. To record them, compile testdata/oracle/Oracle.java with the
// jars of Cassandra 5.0 on Java 17, and name the command that runs it:
//
//	go test ./cql/java -record 'java -Djava.security.manager=allow -cp /path/to/jars/*:/path/to/classes Oracle'
var recordWith = flag.String("record", "", "command of the oracle that records what Cassandra answers")

// testCase is a function with calls of it.
//
//	int (a int, b int)
//		return a + b;
//	[1, 2] -> 3
//
// CALLED after the type of the result makes it CALLED ON NULL INPUT. The arguments are JSON; results are literals of
// CQL, "thrown" with the text of an exception, or, instead of all calls, "refused" with why it does not compile. Before
// calls whose results are ours, "beyond" has why Cassandra refuses the body.
type testCase struct {
	line    int
	comment []string
	header  string
	spec    Spec
	calls   []testCall
	refused string
	beyond  string // why Cassandra refuses a body that compiles here
}

type testCall struct{ args, want string }

func readCases(t testing.TB, file string) []*testCase {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*testCase
	var comment []string
	for i, line := range strings.Split(string(data), "\n") {
		last := len(all) - 1
		switch {
		case strings.HasPrefix(line, "#"), line == "":
			comment = append(comment, line)
		case strings.HasPrefix(line, "\t"):
			all[last].spec.Body += strings.TrimPrefix(line, "\t") + "\n"
		case strings.HasPrefix(line, "["):
			args, want, _ := strings.Cut(line, " -> ")
			all[last].calls = append(all[last].calls, testCall{args, want})
		case strings.HasPrefix(line, "beyond "):
			all[last].beyond = line
		case strings.HasPrefix(line, "refused"):
			all[last].refused = strings.TrimPrefix(line, "refused ")
		default:
			c := &testCase{line: i + 1, header: line, comment: comment}
			comment = nil
			c.spec = parseHeader(t, line)
			all = append(all, c)
		}
	}
	for _, c := range all {
		c.spec.Body = strings.TrimSuffix(c.spec.Body, "\n")
	}
	return all
}

func parseHeader(t testing.TB, line string) (spec Spec) {
	before, after, _ := strings.Cut(line, " (")
	before, spec.CalledOnNull = strings.CutSuffix(before, " CALLED")
	spec.Returns = parseType(t, before)
	for _, arg := range splitTypes(strings.TrimSuffix(after, ")")) {
		name, typ, _ := strings.Cut(arg, " ")
		spec.ArgNames = append(spec.ArgNames, name)
		spec.ArgTypes = append(spec.ArgTypes, parseType(t, typ))
	}
	return spec
}

// splitTypes splits at the commas that are not inside <>.
func splitTypes(text string) (parts []string) {
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if text != "" {
		parts = append(parts, strings.TrimSpace(text[start:]))
	}
	return parts
}

var testUserType = &types.UserType{Keyspace: "ks", Name: "u", Frozen: true, Fields: []types.Field{
	{Name: "a", Type: types.Int},
	{Name: "b", Type: types.Text},
	{Name: "Big", Type: types.VarInt},
	{Name: "l", Type: &types.List{Elem: types.Int, Frozen: true}},
}}

func parseType(t testing.TB, text string) types.Type {
	if native, ok := types.Native(text); ok {
		return native
	}
	if text == "u" {
		return testUserType
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	parts := splitTypes(rest)
	switch name {
	case "list":
		return &types.List{Elem: parseType(t, parts[0])}
	case "set":
		return &types.Set{Elem: parseType(t, parts[0])}
	case "map":
		return &types.Map{Key: parseType(t, parts[0]), Value: parseType(t, parts[1])}
	case "vector":
		n, _ := strconv.Atoi(parts[1])
		return &types.Vector{Elem: parseType(t, parts[0]), Dim: n}
	case "tuple":
		tuple := &types.Tuple{}
		for _, p := range parts {
			tuple.Elems = append(tuple.Elems, parseType(t, p))
		}
		return tuple
	}
	t.Fatalf("type %q", text)
	return nil
}

// values are the arguments of a call. A string that begins with 0x: is the value in hexadecimal.
func (c *testCase) values(t testing.TB, call testCall) [][]byte {
	v, err := json.Decode(call.args, nil)
	if err != nil {
		t.Fatalf("line %d: %s: %v", c.line, call.args, err)
	}
	array := v.(json.Array)
	if len(array) != len(c.spec.ArgTypes) {
		t.Fatalf("line %d: %s: %d arguments", c.line, call.args, len(array))
	}
	values := make([][]byte, len(array))
	for i, a := range array {
		if a == nil {
			continue
		}
		if s, ok := a.(json.String); ok && strings.HasPrefix(string(s), "0x:") {
			if values[i], err = hex.DecodeString(string(s)[3:]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if values[i], err = c.spec.ArgTypes[i].ParseJSON(a); err != nil {
			t.Fatalf("line %d: %s: %v", c.line, call.args, err)
		}
	}
	return values
}

// literal is a result as the files have it.
func (c *testCase) literal(b []byte) string {
	if b == nil {
		return "null"
	}
	if err := c.spec.Returns.Validate(b); err != nil {
		return fmt.Sprintf("0x%x", b)
	}
	return printable(c.spec.Returns.Format(b))
}

// printable is a text on one line, without control characters.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\n", `\n`) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func dataFiles(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no data files", err)
	}
	return files
}

func TestBodies(t *testing.T) {
	for _, file := range dataFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			cases := readCases(t, file)
			if *recordWith != "" {
				recordCases(t, file, cases)
			}
			for _, c := range cases {
				c.check(t)
			}
		})
	}
}

func (c *testCase) check(t *testing.T) {
	f, err := Compile(c.spec)
	if c.refused != "" {
		want, _, _ := strings.Cut(c.refused, " | ")
		if err == nil {
			t.Errorf("line %d: compiled, want: %s\n%s", c.line, c.refused, c.spec.Body)
		} else if got := oneLine(err.Error()); got != want {
			t.Errorf("line %d: got %s\nwant %s\n%s", c.line, got, want, c.spec.Body)
		}
		return
	}
	if err != nil {
		t.Errorf("line %d: %v%s", c.line, err, c.spec.Body)
		return
	}
	for _, call := range c.calls {
		if got := c.answer(t, f, call); got != call.want {
			t.Errorf("line %d: %s: got %s\nwant %s\n%s", c.line, call.args, got, call.want, c.spec.Body)
		}
	}
}

// oneLine is the text of a compilation error without its first line.
func oneLine(text string) string {
	text = strings.TrimPrefix(text, "Java source compilation failed:\n")
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", `\n`)
}

func (c *testCase) answer(t *testing.T, f *Function, call testCall) string {
	env := &Env{Steps: 1_000_000, Memory: 64 << 20, Keyspace: "ks"}
	result, err := f.Call(env, c.values(t, call), nil)
	var exception *Exception
	switch {
	case errors.As(err, &exception):
		return "thrown " + strings.ReplaceAll(err.Error(), "\n", `\n`)
	case err != nil:
		return err.Error()
	}
	return c.literal(result)
}

// recordCases asks the oracle and writes its answers into the file. A body that is refused has our text, and "accepted"
// after it if Cassandra takes the body.
func recordCases(t *testing.T, file string, cases []*testCase) {
	var in bytes.Buffer
	for _, c := range cases {
		fmt.Fprintf(&in, "%v\t%s\t%s", c.spec.CalledOnNull, base64.StdEncoding.EncodeToString([]byte(c.spec.Body)),
			c.spec.Returns.ClassName())
		for i, a := range c.spec.ArgTypes {
			fmt.Fprintf(&in, "\t%s:%s", c.spec.ArgNames[i], a.ClassName())
		}
		in.WriteByte('\n')
		for _, call := range c.calls {
			for _, b := range c.values(t, call) {
				if b == nil {
					in.WriteString("\tnull")
				} else {
					fmt.Fprintf(&in, "\t%x", b)
				}
			}
			if len(c.spec.ArgTypes) == 0 {
				in.WriteString("\t")
			}
			in.WriteByte('\n')
		}
	}
	words := strings.Fields(*recordWith)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(bytes.NewReader(out))
	answers.Buffer(nil, 64<<20)
	next := func() (kind, text string) {
		for answers.Scan() {
			kind, text, _ = strings.Cut(answers.Text(), " ")
			switch kind {
			case "refused", "thrown":
				b, _ := base64.StdEncoding.DecodeString(text)
				return kind, string(b)
			case "compiled", "value", "null":
				return kind, text
			}
		}
		t.Fatal("the oracle has ended")
		return "", ""
	}
	var w strings.Builder
	for _, c := range cases {
		for _, line := range c.comment {
			w.WriteString(line + "\n")
		}
		w.WriteString(c.header + "\n")
		for _, line := range strings.Split(c.spec.Body, "\n") {
			w.WriteString("\t" + line + "\n")
		}
		compiled, why := next()
		f, err := Compile(c.spec)
		beyond := compiled == "refused" && err == nil && c.refused == ""
		switch {
		case beyond:
			first, _, _ := strings.Cut(oneLine(why), `\n`)
			w.WriteString("beyond " + first + "\n")
		case c.refused != "" || compiled == "refused":
			ours := ""
			if err != nil {
				ours = oneLine(err.Error())
			}
			c.refused = ours + " | accepted"
			if compiled == "refused" {
				c.refused = ours
			}
			w.WriteString("refused " + c.refused + "\n")
		}
		for i := range c.calls {
			kind, text := next()
			call := &c.calls[i]
			switch kind {
			case "value":
				b, _ := hex.DecodeString(text)
				call.want = c.literal(b)
			case "null":
				call.want = "null"
			default:
				call.want = kind + " " + strings.ReplaceAll(text, "\n", `\n`)
			}
			if beyond {
				call.want = c.answer(t, f, *call)
			}
			if compiled != "refused" || beyond {
				w.WriteString(call.args + " -> " + call.want + "\n")
			}
		}
	}
	if err := os.WriteFile(file, []byte(w.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
