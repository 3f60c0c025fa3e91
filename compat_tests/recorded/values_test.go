package recorded

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// Package cql/types has a file of values for each type.
func init() {
	paths, err := filepath.Glob(filepath.Join(root, "cql/types/testdata/values/*.txt"))
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		files[strings.TrimPrefix(filepath.ToSlash(path), root+"/")] = values
	}
}

// valuesKeyspace is where they are asked for; it shows in the class names of user types.
const valuesKeyspace = "recorded_values"

// recordedValue is a line of such a file.
type recordedValue struct {
	order   string // = if it is equal to the value above it, else <; ? if the server fails to compare it
	written string // a literal, or 0x and the bytes that are bound
	bytes   []byte
	literal string // as it is shown where statements are traced
	text    string // as CAST prints it, or - if it does not
	json    string
}

// values asks for the bytes of values, how they print and in which order they are.
func values(c *cassandra, file string) string {
	c.keyspace(valuesKeyspace)
	lines := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
	top := ""
	var typ string
	var all []*recordedValue
	for _, line := range lines {
		if name, ok := strings.CutPrefix(line, "# type: "); ok {
			typ = name
		}
		if create, ok := strings.CutPrefix(line, "# with: "); ok {
			c.must(create)
		}
		if strings.HasPrefix(line, "#") {
			top += line + "\n"
			continue
		}
		all = append(all, &recordedValue{written: unescape(c, strings.Split(line, "\t")[1])})
	}
	c.must("CREATE TABLE v (k int, n int, v " + typ + ", PRIMARY KEY (k, n))")
	for i, v := range all {
		c.printed(typ, v, i)
	}
	create := "CREATE TABLE w (k int PRIMARY KEY"
	for i := range all {
		create += fmt.Sprintf(", v%d %s", i, typ)
	}
	c.must(create + ")")
	c.literals(typ, all)
	var b strings.Builder
	b.WriteString(top)
	for _, v := range c.sorted(typ, all) {
		fields := []string{v.order, escape(v.written), printBytes(v.bytes), escape(v.literal), escape(v.text), escape(v.json)}
		b.WriteString(strings.Join(fields, "\t") + "\n")
	}
	return b.String()
}

// printed writes a value as row n of table v and asks for its bytes, its text and its JSON.
func (c *cassandra) printed(typ string, v *recordedValue, n int) {
	c.t.Helper()
	where := fmt.Sprintf(" WHERE k = 0 AND n = %d", n)
	switch b, ok := strings.CutPrefix(v.written, "0x"); {
	case ok:
		c.must("UPDATE v SET v = ?"+where, append([]byte{}, c.unhex(b)...))
	case typ == "counter":
		c.must("UPDATE v SET v = v + " + v.written + where)
	default:
		c.must("UPDATE v SET v = " + v.written + where)
	}
	v.bytes = c.must("SELECT v FROM v" + where).Rows[0][0]
	v.text = c.shown("CAST(v AS text)", where)
	if strings.Contains(v.text, "none of its type signatures match") {
		v.text = "-"
	}
	v.json = c.shown("to_json(v)", where)
}

// shown is a selected text, or why there is none.
func (c *cassandra) shown(selector, where string) string {
	r, err := c.try("SELECT " + selector + " FROM v" + where)
	switch {
	case err != nil:
		return verdict(err, "")
	case r.Rows[0][0] == nil:
		return "null"
	}
	return string(r.Rows[0][0])
}

// traceTime is how long the server may take to write a trace down.
const traceTime = 20 * time.Second

// literals binds values to markers of one statement and reads its trace, which has them as literals. If the server
// fails to print one of many, each gets a separate statement.
func (c *cassandra) literals(typ string, all []*recordedValue) {
	c.t.Helper()
	set, bound := "", make([]types.Value, len(all))
	for i, v := range all {
		if i > 0 {
			set += ", "
		}
		set += fmt.Sprintf("v%d = ", i)
		if typ == "counter" {
			set += fmt.Sprintf("v%d + ", i)
		}
		set += "?"
		bound[i].Bytes = v.bytes
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), answerTime)
	defer cancel()
	p, err := c.conn.Prepare(ctx, "UPDATE w SET "+set+" WHERE k = 0", valuesKeyspace)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := c.conn.Execute(ctx, p, bound, &client.QueryOptions{Tracing: true})
	switch {
	case err == nil:
		parameters := c.trace(r.TracingID)
		for i, v := range all {
			v.literal = parameters[fmt.Sprintf("bound_var_%d_v%d", i, i)]
		}
	case len(all) > 1:
		for i := range all {
			c.literals(typ, all[i:i+1])
		}
	default:
		all[0].literal = verdict(err, "")
	}
}

// trace waits for the parameters of a traced request.
func (c *cassandra) trace(id [16]byte) map[string]string {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < traceTime; time.Sleep(50 * time.Millisecond) {
		r := c.must("SELECT duration, parameters FROM system_traces.sessions WHERE session_id = ?", id[:])
		if len(r.Rows) == 0 || r.Rows[0][0] == nil || r.Rows[0][1] == nil {
			continue
		}
		parameters := map[string]string{}
		for k, v := range types.Entries(r.Rows[0][1]) {
			parameters[string(k)] = string(v)
		}
		return parameters
	}
	c.t.Fatalf("no trace %x", id)
	return nil
}

// sorted puts values into their order as a clustering column, or as min has it if they can be none.
func (c *cassandra) sorted(typ string, all []*recordedValue) []*recordedValue {
	c.t.Helper()
	if _, err := c.try("CREATE TABLE o (k int, c " + typ + ", n int, PRIMARY KEY (k, c))"); err != nil {
		return c.sortedByMin(all)
	}
	var incomparable []*recordedValue
	equal := map[int32][]*recordedValue{}
	for i, v := range all {
		if c.comparable(v.bytes, i+2) {
			c.must("INSERT INTO o (k, c, n) VALUES (1, ?, ?)", v.bytes, types.EncodeInt(int32(i)))
			continue
		}
		v.order = "?"
		incomparable = append(incomparable, v)
	}
	for _, v := range all {
		if v.order == "?" {
			continue
		}
		n := types.DecodeInt(c.must("SELECT n FROM o WHERE k = 1 AND c = ?", v.bytes).Rows[0][0])
		equal[n] = append(equal[n], v)
	}
	var sorted []*recordedValue
	for _, row := range c.must("SELECT n FROM o WHERE k = 1").Rows {
		sorted = appendEqual(sorted, equal[types.DecodeInt(row[0])])
	}
	return append(sorted, incomparable...)
}

// comparable writes a value twice into partition k. Cassandra compares it with itself, and fails if it cannot.
func (c *cassandra) comparable(b []byte, k int) bool {
	c.t.Helper()
	for range 2 {
		ctx, cancel := context.WithTimeout(c.t.Context(), answerTime)
		_, err := c.conn.Query(ctx, fmt.Sprintf("INSERT INTO o (k, c) VALUES (%d, ?)", k), []types.Value{{Bytes: b}}, nil)
		cancel()
		if e, ok := cqlerr.As(err); ok && e.Code == cqlerr.WriteFailure {
			return false
		}
		if err != nil {
			c.t.Fatalf("%x: %v", b, err)
		}
	}
	return true
}

// sortedByMin asks for the least of the values that are left, again and again.
func (c *cassandra) sortedByMin(all []*recordedValue) []*recordedValue {
	c.t.Helper()
	left := map[int]*recordedValue{}
	for i, v := range all {
		left[i] = v
	}
	var sorted []*recordedValue
	for len(left) > 0 {
		var numbers []string
		for i := range all {
			if left[i] != nil {
				numbers = append(numbers, strconv.Itoa(i))
			}
		}
		least := c.must("SELECT min(v) FROM v WHERE k = 0 AND n IN (" + strings.Join(numbers, ", ") + ")").Rows[0][0]
		var equal []*recordedValue
		for i, v := range all {
			if left[i] != nil && bytes.Equal(v.bytes, least) {
				equal = append(equal, v)
				delete(left, i)
			}
		}
		if len(equal) == 0 {
			c.t.Fatalf("min is %x, which is not there", least)
		}
		sorted = appendEqual(sorted, equal)
	}
	return sorted
}

// appendEqual appends values that are equal, in the order of their writing.
func appendEqual(sorted, equal []*recordedValue) []*recordedValue {
	slices.SortFunc(equal, func(a, b *recordedValue) int { return strings.Compare(a.written, b.written) })
	for i, v := range equal {
		v.order = "="
		if i == 0 {
			v.order = "<"
		}
	}
	return append(sorted, equal...)
}

// escape writes a text as a field of a line.
func escape(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// unescape undoes escape.
func unescape(c *cassandra, s string) string {
	c.t.Helper()
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		c.t.Fatalf("%s: %v", s, err)
	}
	return text
}
