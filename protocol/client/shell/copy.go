package shell

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// copyJob is a COPY command.
type copyJob struct {
	transfer.Copy
	style   style
	dialect transfer.Dialect
	file    string // "": the standard output or input
	to      bool
	options map[string]string // that were not read yet
	err     error             // of the first wrong option

	header                         bool
	report                         time.Duration
	rateFile                       string
	begin, end                     int64
	maxLines                       int // of a file
	maxRows, skipRows              int
	skip                           []string
	maxParseErrors, maxInsertError int
	errorFile                      string
	rate                           int
	ttl                            int
	resume, counter                bool
}

// copyCommand is COPY, in both directions.
func (s *Session) copyCommand(ctx context.Context, a arguments) error {
	j := &copyJob{options: map[string]string{}}
	columns, ok := j.parse(a.tokens)
	if !ok {
		return a.improper()
	}
	if j.Keyspace == "" {
		if j.Keyspace = s.keyspace; j.Keyspace == "" {
			return shown("Not in any keyspace.")
		}
	}
	known, err := s.copyColumns(ctx, j)
	if err != nil {
		return err
	}
	if err := j.readConfig(s.o.CopyFile); err != nil {
		return err
	}
	if err := j.configure(s); err != nil {
		return err
	}
	if err := j.choose(known, columns); err != nil {
		return err
	}
	if err := s.console.Flush(); err != nil {
		return err
	}
	if j.to {
		return j.export(ctx, s)
	}
	return j.load(ctx, s)
}

// copyColumns reads the columns of the table.
func (s *Session) copyColumns(ctx context.Context, j *copyJob) ([]transfer.Column, error) {
	asking, cancel := context.WithTimeout(ctx, s.o.RequestTimeout)
	defer cancel()
	known, err := transfer.Columns(asking, s.conn, j.Keyspace, j.Table)
	if errors.Is(err, transfer.ErrNoTable) {
		return nil, shownf("Column family %s not found", j.Table)
	}
	if _, fromServer := cqlerr.As(err); err != nil && !fromServer {
		s.close() // an answer may come later
	}
	return known, err
}

// parse reads the command up to its options.
func (j *copyJob) parse(t []token) (columns []string, ok bool) {
	next := func() token {
		if len(t) == 0 {
			return token{kind: terminal}
		}
		first := t[0]
		t = t[1:]
		return first
	}
	table := next()
	if !table.isName() {
		return nil, false
	}
	j.Table = table.identifier()
	after := next()
	if after.text == "." {
		if table = next(); !table.isName() {
			return nil, false
		}
		j.Keyspace, j.Table = j.Table, table.identifier()
		after = next()
	}
	for separator := after; separator.text == "(" && separator.kind == symbol || separator.text == ","; {
		column := next()
		if !column.isName() {
			return nil, false
		}
		columns = append(columns, column.identifier())
		if separator = next(); separator.text == ")" {
			after = next()
		}
	}
	j.to = after.is("TO")
	if !j.to && !after.is("FROM") {
		return nil, false
	}
	switch file := next(); {
	case file.kind == text:
		j.file = expandPath(file.content())
	case j.to && !file.is("STDOUT"), !j.to && !file.is("STDIN"):
		return nil, false
	}
	for {
		keyword := next()
		if keyword.kind == terminal {
			return columns, true
		}
		if !keyword.is("WITH") && !keyword.is("AND") {
			return nil, false
		}
		option, equals, value := next(), next(), next()
		if value.text == "-" && len(t) > 0 {
			number := next()
			value.text += number.text
		}
		if option.kind != word || equals.text != "=" || value.kind == terminal {
			return nil, false
		}
		j.options[strings.ToLower(option.text)] = value.content()
	}
}

// readConfig adds the options of the sections of a file in the format of cqlshrc.
func (j *copyJob) readConfig(path string) error {
	if own := j.options["configfile"]; own != "" {
		path = expandPath(own)
	}
	delete(j.options, "configfile")
	if _, err := os.Stat(path); path == "" || err != nil {
		return nil
	}
	sections, err := cqlfiles.ReadSettings(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	direction, table := "copy-from", j.Keyspace+"."+j.Table
	if j.to {
		direction = "copy-to"
	}
	all := map[string]string{}
	for _, section := range []string{"copy", direction, "copy:" + table, direction + ":" + table} {
		for k, v := range sections[section] {
			all[k] = v
		}
	}
	for k, v := range j.options {
		all[k] = v
	}
	j.options = all
	return nil
}

// option takes an option, or its default.
func (j *copyJob) option(name, without string) string {
	if value, ok := j.options[name]; ok {
		delete(j.options, name)
		return value
	}
	return without
}

func (j *copyJob) number(name string, without int) int {
	text := j.option(name, strconv.Itoa(without))
	n, err := strconv.Atoi(text)
	if err != nil && j.err == nil {
		j.err = shownf("COPY: %s = %s is no whole number.", strings.ToUpper(name), pythonString(text))
	}
	return n
}

func (j *copyJob) token(name string, without int64) int64 {
	text := j.option(name, "")
	if text == "" {
		return without
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && j.err == nil {
		j.err = shownf("COPY: %s = %s is no token.", strings.ToUpper(name), pythonString(text))
	}
	return n
}

// char takes an option that is one character.
func (j *copyJob) char(name, without string) byte {
	text := j.option(name, without)
	if text == `\t` {
		text = "\t"
	}
	if len(text) != 1 {
		if j.err == nil {
			j.err = shownf("COPY: %s = %s is not one character.", strings.ToUpper(name), pythonString(text))
		}
		return 0
	}
	return text[0]
}

// only refuses an option that has another value than those that make no difference here.
func (j *copyJob) only(name string, values ...string) {
	text := j.option(name, values[0])
	if !slices.Contains(values, strings.ToLower(text)) && j.err == nil {
		j.err = shownf("COPY: %s = %s is not supported; the only value is %s.", strings.ToUpper(name),
			pythonString(text), values[0])
	}
}

// maxJobs bounds the connections of COPY if NUMPROCESSES does not say how many.
const maxJobs = 16

// configure reads the options.
func (j *copyJob) configure(s *Session) error {
	j.Server = transfer.Server{
		Addr: s.o.Addr, Username: s.o.Username, Password: s.o.Password, TLS: s.o.TLS,
		Timeout: s.o.RequestTimeout,
	}
	j.Consistency = s.consistency
	j.dialect = transfer.Dialect{
		Delimiter: j.char("delimiter", ","), Quote: j.char("quote", `"`),
		Escape: j.char("escape", `\`),
	}
	j.style = s.style
	j.style.color, j.style.millis = false, true
	j.style.null = j.option("null", "")
	j.style.timeFormat = j.option("datetimeformat", s.style.timeFormat)
	j.style.decimalSep, j.style.thousandSep = j.option("decimalsep", "."), j.option("thousandssep", "")
	yes, no, _ := strings.Cut(j.option("boolstyle", "True, False"), ",")
	j.style.booleans = [2]string{strings.TrimSpace(yes), strings.TrimSpace(no)}
	if b := j.style.booleans; (b[0] == b[1] || b[0] == "" || b[1] == "") && j.err == nil {
		j.err = shownf("Invalid boolean styles [%s, %s]", pythonString(b[0]), pythonString(b[1]))
	}
	j.header = strings.EqualFold(j.option("header", ""), "true")
	j.Attempts = j.number("maxattempts", 5)
	frequency, err := strconv.ParseFloat(j.option("reportfrequency", "0.25"), 64)
	if (err != nil || frequency < 0) && j.err == nil {
		j.err = shown("COPY: REPORTFREQUENCY is no number of seconds.")
	}
	j.report = time.Duration(frequency * float64(time.Second))
	j.rateFile = expandPath(j.option("ratefile", ""))
	if j.Jobs = j.number("numprocesses", min(maxJobs, max(2, runtime.GOMAXPROCS(0)))); j.Jobs < 1 && j.err == nil {
		j.err = shown("COPY: NUMPROCESSES must be positive.")
	}
	if j.to {
		j.only("encoding", "utf8", "utf-8")
		if j.PageSize = j.number("pagesize", 1000); j.PageSize < 1 && j.err == nil {
			j.err = shown("COPY: PAGESIZE must be positive.")
		}
		j.Timeout = time.Duration(j.number("pagetimeout", max(10, j.PageSize/100))) * time.Second
		j.begin, j.end = j.token("begintoken", math.MinInt64), j.token("endtoken", math.MaxInt64)
		j.maxLines = j.number("maxoutputsize", -1)
		j.style.float, j.style.double = j.number("floatprecision", 5), j.number("doubleprecision", 12)
		j.only("maxrequests", "6")
	} else {
		j.maxRows, j.skipRows = j.number("maxrows", -1), j.number("skiprows", 0)
		j.skip = strings.FieldsFunc(j.option("skipcols", ""), func(r rune) bool { return r == ',' || r == ' ' })
		j.maxParseErrors, j.maxInsertError = j.number("maxparseerrors", -1), j.number("maxinserterrors", 1000)
		j.errorFile = expandPath(j.option("errfile", fmt.Sprintf("import_%s_%s.err", j.Keyspace, j.Table)))
		j.rate, j.ttl = j.number("ingestrate", 0), j.number("ttl", -1)
		j.resume = strings.EqualFold(j.option("resume", ""), "true")
		for name, value := range map[string]string{
			"chunksize": "5000", "minbatchsize": "10", "maxbatchsize": "20",
			"preparedstatements": "true",
		} {
			j.only(name, value)
		}
	}
	if len(j.options) > 0 {
		var names []string
		for name := range j.options {
			names = append(names, name)
		}
		slices.Sort(names)
		return shownf("Unrecognized COPY %s options: %s", j.direction(), strings.Join(names, ", "))
	}
	if j.to && j.begin >= j.end && j.err == nil {
		j.err = shownf("Begin token %d must be smaller than end token %d", j.begin, j.end)
	}
	return j.err
}

func (j *copyJob) direction() string { return map[bool]string{true: "TO", false: "FROM"}[j.to] }

// choose sets the columns.
func (j *copyJob) choose(known []transfer.Column, columns []string) error {
	if columns == nil {
		for _, k := range known {
			columns = append(columns, k.Name)
		}
	}
	for _, name := range columns {
		if !slices.ContainsFunc(known, func(k transfer.Column) bool { return k.Name == name }) {
			return shownf("Invalid column name %s", name)
		}
		if !slices.Contains(j.skip, name) {
			j.Columns = append(j.Columns, name)
		}
	}
	for _, k := range known {
		j.counter = k.Counter
		if !j.to && k.Key && !slices.Contains(j.Columns, k.Name) {
			return shownf("Primary key column '%s' missing or skipped", k.Name)
		}
	}
	return nil
}

// meter prints how many rows are done.
type meter struct {
	s              *Session
	interval       time.Duration
	file           *os.File // of the rates, or nil
	silent         bool
	began, printed time.Time
	rows, before   int
	width          int            // of the line on the terminal
	part           func() float64 // of the work that is done; 0: not known
}

func (j *copyJob) newMeter(s *Session, silent bool) (*meter, error) {
	m := &meter{
		s: s, interval: j.report, silent: silent, began: time.Now(), printed: time.Now(),
		part: func() float64 { return 0 },
	}
	if j.rateFile == "" {
		return m, nil
	}
	var err error
	m.file, err = os.Create(j.rateFile)
	return m, err
}

// add counts rows.
func (m *meter) add(rows int) {
	m.rows += rows
	if time.Since(m.printed) >= m.interval {
		m.print()
	}
}

func (m *meter) print() {
	now := time.Now()
	rate := float64(m.rows-m.before) / max(now.Sub(m.printed).Seconds(), 1e-9)
	average := float64(m.rows) / max(now.Sub(m.began).Seconds(), 1e-9)
	line := fmt.Sprintf("Processed: %d rows; Rate: %7.0f rows/s; Avg. rate: %7.0f rows/s", m.rows, rate, average)
	m.printed, m.before = now, m.rows
	if m.file != nil {
		fmt.Fprintln(m.file, line)
	}
	if !m.silent && m.s.o.Terminal {
		if part := m.part(); part > 0 && part < 1 {
			left := time.Duration(float64(now.Sub(m.began)) * (1 - part) / part).Round(time.Second)
			line += fmt.Sprintf("; %.0f %%, %s left", part*100, left)
		}
		width := len(line)
		line += strings.Repeat(" ", max(0, m.width-width)) // over what is left of the last one
		m.width = width
		m.s.print("%s\r", line)
		_ = m.s.console.Flush() // its error is returned by the next one
	}
}

// end prints the last line. done is a phrase such as "exported to".
func (m *meter) end(done string, files int, more string) error {
	m.print()
	if !m.silent {
		m.s.print("\n%d rows %s %d files in %.3f seconds%s.\n", m.rows, done, files, time.Since(m.began).Seconds(),
			more)
	}
	if m.file != nil {
		return m.file.Close()
	}
	return nil
}
