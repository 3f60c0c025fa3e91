package control

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/server"
)

// Statement is a statement that a client has run.
type Statement struct {
	Opcode      string // QUERY, EXECUTE or BATCH; PREPARE is recorded too
	Kind        string // select, insert, update, delete, truncate, use, describe or definition; batch: of several tables
	Text        string // of a BATCH: all statements, with semicolons between them
	Keyspace    string
	Table       string
	Prepared    bool // all of it was prepared
	Consistency cqlerr.Consistency
	BatchType   string // of a BATCH: logged, unlogged or counter
	Nulls       int    // null values that were bound to statements of kind insert

	Values []string // bound ones as literals, or "unset", if the record keeps them

	Keys       []string // partitions that were read by their keys or written to: the values, with commas between them
	Returned   int      // rows in the answer
	RowsRead   int      // before filters
	Tombstones int      // read
	Scanned    bool     // it has read all partitions: no key, token range or index restricted it

	Number int64  // counted from 1 since the server was started
	Client string // "": a connection inside the process
	Node   int    // the number of the node that coordinated it; 1: the server has no ring
	Took   time.Duration
	Err    error // that the client got; nil: it succeeded
}

// Record keeps the statements that clients have run, while it is on.
type Record struct {
	controls   *Controls
	isOn       atomic.Bool  // now
	valueBytes atomic.Int64 // how much memory is left for bound values

	mu      sync.Mutex
	all     []Statement
	size    int   // the last statements that are kept; 0: all
	number  int64 // of the last one
	started bool  // by Start, which nothing ends

	watchers int           // calls of Watch that have not ended
	left     int           // statements that are recorded for them before the next pause
	pauses   int64         // how often there were none left
	unwatch  chan struct{} // is closed when watchers gets 0
}

// Start begins a new record. It keeps the last size statements; 0: all.
// It costs the server a goroutine for each request.
func (r *Record) Start(size int) {
	r.mu.Lock()
	r.all, r.size, r.started = nil, size, true
	r.isOn.Store(true)
	r.mu.Unlock()
	r.controls.update()
}

// KeepValues has bound values recorded from then on, up to a number of bytes in all. They may be secret: neither logs
// nor the table of statements have them.
func (r *Record) KeepValues(bytes int64) { r.valueBytes.Store(bytes) }

// Watch records the beginnings of statements until end is called, and keeps at least the last size of them. Of more
// than size statements in a short time it records a sample, because recording costs more than many requests do. Calls
// may overlap, and do not change a record that Start has begun.
func (r *Record) Watch(size int) (end func()) {
	r.watch(1, size)
	return sync.OnceFunc(func() { r.watch(-1, size) })
}

func (r *Record) watch(more, size int) {
	r.mu.Lock()
	r.watchers += more
	switch {
	case r.watchers == 0:
		close(r.unwatch)
	case r.watchers == 1 && more == 1:
		r.left, r.unwatch = size, make(chan struct{})
		end := r.unwatch
		r.controls.server.Go(func() { r.refill(size, end) })
	}
	if !r.started {
		if r.watchers == 0 {
			r.all = nil
		}
		r.size = size
		r.isOn.Store(r.watchers > 0 && r.left > 0)
	}
	r.mu.Unlock()
	r.controls.update()
}

// While more statements arrive than Watch may record, it records so many of them per interval.
const (
	sampled        = 20
	sampleInterval = 200 * time.Millisecond
)

// refill allows for more statements, up to size, until end is closed.
func (r *Record) refill(size int, end chan struct{}) {
	tick := time.NewTicker(sampleInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-end:
			return
		}
		r.mu.Lock()
		r.left = min(r.left+sampled, size)
		resumed := r.watchers > 0 && r.isOn.CompareAndSwap(false, true)
		r.mu.Unlock()
		if resumed {
			r.controls.update()
		}
	}
}

// Pauses returns how often statements were left out because more of them arrived than Watch may record.
func (r *Record) Pauses() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pauses
}

// After returns the statements with numbers greater than a number.
func (r *Record) After(number int64) []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := len(r.all)
	for first > 0 && r.all[first-1].Number > number {
		first--
	}
	return slices.Clone(r.all[first:])
}

// Last returns the number of the last statement.
func (r *Record) Last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

// IsStarted reports whether Start has begun a record.
func (r *Record) IsStarted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started
}

// Statements are the statements that clients have run since Start or Forget, in the order in which they were answered,
// without the reads of the server's own tables.
func (r *Record) Statements() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.all
	if r.size > 0 && len(last) > r.size {
		last = last[len(last)-r.size:]
	}
	return slices.Clone(last)
}

// Forget forgets the recorded statements.
func (r *Record) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// add records a request. err is the error of a fault, which the client got instead of the answer.
func (r *Record) add(seen *server.Inspected, err error) {
	st := Statement{
		Opcode: seen.Opcode, Text: shownTexts(seen.Statements), Consistency: seen.Consistency,
		Returned: seen.Returned, RowsRead: seen.RowsRead, Tombstones: seen.Tombstones,
		BatchType: seen.BatchType, Nulls: seen.Nulls,
		Node: seen.Node, Took: seen.Took, Prepared: len(seen.Parts) > 0, Err: err,
	}
	if seen.Client.IsValid() {
		st.Client = seen.Client.String()
	}
	if seen.Err != nil && err == nil {
		st.Err = seen.Err
	}
	own := len(seen.Parts) > 0 // it reads nothing but the server's own tables
	for i, p := range seen.Parts {
		own = own && schema.IsSystem(p.Keyspace)
		if i == 0 {
			st.Kind, st.Keyspace, st.Table = p.Kind, p.Keyspace, p.Table
		} else if p.Keyspace != st.Keyspace || p.Table != st.Table || p.Kind != st.Kind {
			st.Kind = "batch"
			if p.Keyspace != st.Keyspace || p.Table != st.Table {
				st.Keyspace, st.Table = "", ""
			}
		}
		st.Prepared = st.Prepared && p.Prepared
		st.Scanned = st.Scanned || p.Scan && seen.Opcode != "PREPARE" && seen.Err == nil
	}
	if own {
		return
	}
	for _, k := range seen.Keys {
		st.Keys = append(st.Keys, k.Key)
	}
	bytes := 0
	for _, v := range seen.Values {
		bytes += len(v)
	}
	if bytes > 0 && r.valueBytes.Add(int64(-bytes)) >= 0 {
		st.Values = seen.Values
	}
	if r.append(&st) {
		r.controls.update()
	}
}

// append appends a statement. It reports whether the record pauses then.
func (r *Record) append(st *Statement) (pauses bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started { // only a page watches: it shows the beginning, and memory is for clients
		if r.left == 0 {
			return false // it was inspected before the pause began
		}
		st.Text = strings.Clone(st.Text[:min(len(st.Text), watchedText)])
		st.Keys = slices.Clone(st.Keys[:min(len(st.Keys), watchedKeys)])
		if r.left--; r.left == 0 {
			r.pauses++
			r.isOn.Store(false)
			pauses = true
		}
	}
	r.number++
	st.Number = r.number
	if r.size > 0 && len(r.all) >= 2*r.size {
		r.all = slices.Clone(r.all[len(r.all)-r.size+1:])
	}
	r.all = append(r.all, *st)
	return pauses
}

// How much of a statement Watch records: bytes of its text, and keys of partitions.
const (
	watchedText = 4 << 10
	watchedKeys = 100
)

// shownTexts are statements with semicolons between them, without passwords.
func shownTexts(statements []string) string {
	shown := make([]string, len(statements))
	for i, text := range statements {
		shown[i] = secret.Hide(text)
	}
	return strings.Join(shown, "; ")
}

// statementTable has the recorded statements:
//
//	SELECT statement, full_scan, error FROM cqld_control.statements
//	TRUNCATE cqld_control.statements
type statementTable struct{ record *Record }

func (t statementTable) rows() (all []Row) {
	for _, s := range t.record.Statements() {
		v := values{}
		v.setDuration("took", s.Took)
		v.setText("opcode", s.Opcode)
		v.setText("kind", s.Kind)
		v.setText("statement", s.Text)
		v.setText("keyspace_name", s.Keyspace)
		v.setText("table_name", s.Table)
		v.setText("client", s.Client)
		v.setBool("prepared", s.Prepared)
		v.setBool("full_scan", s.Scanned)
		v.setInt("node", s.Node)
		v.setInt("returned", s.Returned)
		v.setInt("rows_read", s.RowsRead)
		v.setInt("tombstones_read", s.Tombstones)
		v.setInt("nulls_inserted", s.Nulls)
		v.setText("batch_type", s.BatchType)
		if s.Opcode != "PREPARE" {
			v.setText("consistency", s.Consistency.String())
		}
		if s.Err != nil {
			v.setText("error", s.Err.Error())
		}
		keys := make([][]byte, len(s.Keys))
		for i, k := range s.Keys {
			keys[i] = types.EncodeText(k)
		}
		v["partitions"] = types.NewList(keys)
		all = append(all, Row{types.EncodeBigInt(s.Number), v})
	}
	return all
}

// Write refuses to change the record.
func (t statementTable) Write([]byte, map[string][]byte) error {
	return errCannot("The statements that clients have run cannot be changed: TRUNCATE forgets them")
}

// Delete refuses to change the record.
func (t statementTable) Delete([]byte) error { return t.Write(nil, nil) }

// Truncate forgets the statements.
func (t statementTable) Truncate() error {
	t.record.Forget()
	return nil
}
