package transfer

// write is what one statement writes of a row.
type write struct {
	row       row
	has       []bool // which columns but those of the key it writes
	timed     bool
	timestamp int64
	ttl       int64
	static    bool // it names a partition only
}

// writesOf divides a row into statements: cells with the same timestamp and TTL go together, static ones apart. A row
// of which only the key is there is written too.
func writesOf(t *table, r row) (all []*write) {
	add := func(i int, static bool) {
		c := &r[i]
		for _, w := range all {
			if w.static == static && w.timed == c.timed && w.timestamp == c.timestamp && w.ttl == c.ttl {
				w.has[i] = true
				return
			}
		}
		w := &write{row: r, has: make([]bool, len(r)), timed: c.timed, timestamp: c.timestamp, ttl: c.ttl, static: static}
		if static {
			w.row = append(row(nil), r...)
			for j, k := range t.columns {
				if k.kind == "clustering" {
					w.row[j] = cell{}
				}
			}
		}
		w.has[i] = true
		all = append(all, w)
	}
	rows, clustered := 0, true
	for i, c := range t.columns {
		switch {
		case c.kind == "clustering" && r[i].value == nil:
			clustered = false
		case !c.isKey() && r[i].value != nil:
			add(i, c.kind == "static")
			if c.kind == "regular" {
				rows++
			}
		}
	}
	if rows == 0 && clustered && !t.counter {
		all = append(all, &write{row: r, has: make([]bool, len(r))})
	}
	return all
}
