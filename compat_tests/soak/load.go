package main

import "math"

// operation is one kind of statement of the load. Its function completes a write whose row is chosen.
type operation struct {
	weight int // how often it is drawn, relative to the others of the table
	draw   func(w *worker, d *write)
}

// dataOperations are the operations on tables of data, weighted in percent.
var dataOperations = []operation{
	{24, func(w *worker, d *write) { w.set(d, insert, columnN, columnW, columnV) }},
	{5, func(w *worker, d *write) { w.set(d, insert, columnN, columnW) }},
	{20, func(w *worker, d *write) { w.set(d, update, columnV) }},
	{7, func(w *worker, d *write) { w.set(d, update, columnN) }},
	{7, func(w *worker, d *write) { w.set(d, update, columnW) }},
	{5, func(w *worker, d *write) { w.set(d, update, columnN, columnW, columnV) }},
	{4, expiring(shortTTL, func(w *worker, d *write) { w.set(d, insert, columnN, columnW, columnV) })},
	{3, expiring(shortTTL, func(w *worker, d *write) { w.set(d, update, columnV) })},
	{2, expiring(shortTTL, func(w *worker, d *write) { w.set(d, update, columnN, columnW) })},
	{3, expiring(longTTL, func(w *worker, d *write) { w.set(d, insert, columnN, columnW, columnV) })},
	{2, expiring(longTTL, func(w *worker, d *write) { w.set(d, update, columnN) })},
	{2, func(_ *worker, d *write) { clearCells(d, update, columnW) }}, // SET w = null
	{4, func(_ *worker, d *write) { clearCells(d, deleteCells, columnV) }},
	{2, func(_ *worker, d *write) { clearCells(d, deleteCells, columnN, columnW) }},
	{6, func(_ *worker, d *write) { d.form = deleteRows }},
	{3, deleteRange},
	{1, deletePartition},
}

// mapOperations are the operations on the elements of a map, besides dataOperations.
var mapOperations = []operation{
	{20, func(w *worker, d *write) { w.set(d, update, w.element()) }},
	{6, expiring(shortTTL, func(w *worker, d *write) { w.set(d, update, w.element()) })},
	{8, replaceMap},
	{8, func(w *worker, d *write) { clearCells(d, deleteCells, w.element()) }},
	{4, func(_ *worker, d *write) { d.form, d.emptied = deleteCells, emptiesMap }},
}

// conditionalOperations are the operations on a table of conditional writes. It has no others, because their
// timestamps would come from another clock.
var conditionalOperations = []operation{
	{30, func(w *worker, d *write) {
		w.set(d, insert, columnN, columnW, columnV)
		d.condition = ifNotExists
	}},
	{25, func(w *worker, d *write) {
		w.set(d, update, columnV)
		w.expect(d)
	}},
	{25, increment},
	{8, func(w *worker, d *write) {
		w.set(d, update, columnW)
		d.condition = ifExists
	}},
	{6, func(_ *worker, d *write) { d.form, d.condition = deleteRows, ifExists }},
	{4, func(w *worker, d *write) {
		d.form = deleteRows
		w.expect(d)
	}},
	{2, func(w *worker, d *write) {
		clearCells(d, deleteCells, columnV)
		w.expect(d)
	}},
}

// counterOperations are increments and decrements of one counter of a row, or of both.
var counterOperations = []operation{
	{3, func(w *worker, d *write) { w.add(d, 0) }},
	{1, func(w *worker, d *write) { w.add(d, 1) }},
	{1, func(w *worker, d *write) { w.add(d, 0, 1) }},
}

// The TTLs, in seconds: short ones, which expire during the run, and long ones, which do not.
var (
	shortTTL = [2]int{3, 20}
	longTTL  = [2]int{24 * 3600, 48 * 3600}
)

// The lengths of blobs. Few rows have long ones: see longPartitions.
const (
	shortestBlob    = 64
	shortBlob       = 16 << 10
	shortestLong    = 100 << 10
	shortestElement = 8
	longestElement  = 300
)

// groups is how many values the indexes and the view see of each worker.
const groups = 40

// draw makes a random write to a row.
func (w *worker) draw(t *table, p *partition, c int) *write {
	d := &write{table: t, partition: p, from: c, to: c}
	all := 0
	for _, o := range t.operations {
		all += o.weight
	}
	n := w.random.IntN(all)
	for _, o := range t.operations {
		if n -= o.weight; n < 0 {
			o.draw(w, d)
			break
		}
	}
	w.stampWrite(d)
	return d
}

// set gives cells values.
func (w *worker) set(d *write, f form, cells ...int) {
	d.form = f
	for _, i := range cells {
		d.cells = append(d.cells, change{i, w.value(d, i)})
	}
}

// value draws a value for a cell.
func (w *worker) value(d *write, i int) value {
	switch {
	case i == columnN:
		return integerValue(w.group(w.random.IntN(groups)))
	case i == columnW:
		return wordValue(w.group(w.random.IntN(groups)))
	case i >= firstElement:
		return blobValue(w.nextSeed(), shortestElement+w.random.IntN(longestElement))
	case mayBeLong(d.partition, d.from) && w.random.IntN(longEvery) == 0:
		return blobValue(w.nextSeed(), w.length(shortestLong, d.table.maxBlob))
	}
	return blobValue(w.nextSeed(), w.length(shortestBlob, shortBlob))
}

// length draws a length: as many between one and two kilobytes as between one and two megabytes.
func (w *worker) length(shortest, longest int) int {
	return int(float64(shortest) * math.Pow(float64(longest)/float64(shortest), w.random.Float64()))
}

// group is a value of the worker's range.
func (w *worker) group(i int) uint64 { return uint64(w.id*1000 + i + 1) }

func (w *worker) element() int { return firstElement + w.random.IntN(mapKeys) }

func expiring(ttl [2]int, draw func(*worker, *write)) func(*worker, *write) {
	return func(w *worker, d *write) {
		draw(w, d)
		d.ttl = uint32(ttl[0] + w.random.IntN(ttl[1]-ttl[0]))
	}
}

func clearCells(d *write, f form, cells ...int) {
	d.form = f
	for _, i := range cells {
		d.cells = append(d.cells, change{cell: i})
	}
}

// deleteRange deletes some rows, at times all up to an end of the partition.
func deleteRange(w *worker, d *write) {
	d.form = deleteRows
	d.to = min(d.from+w.random.IntN(8), d.partition.rows-1)
	if w.random.IntN(8) == 0 && d.from < 8 {
		d.from = 0
	}
}

func deletePartition(_ *worker, d *write) {
	d.form, d.from, d.to = deleteRows, 0, d.partition.rows-1
}

func replaceMap(w *worker, d *write) {
	d.form, d.emptied = update, replacesMap
	for i := firstElement; i < maxCells; i++ {
		if w.random.IntN(2) == 0 {
			d.cells = append(d.cells, change{i, w.value(d, i)})
		}
	}
}

// expect adds IF n = the current value or, at times, another one.
func (w *worker) expect(d *write) {
	d.condition, d.expected = ifN, integerValue(uint64(w.random.IntN(1<<20)))
	if r := &d.partition.states[0][d.from]; r.cell(columnN, window{}) == present && w.random.IntN(5) > 0 {
		d.expected = r.cells[columnN].value
	}
}

// increment counts with conditional writes, as applications do.
func increment(w *worker, d *write) {
	w.expect(d)
	d.form, d.cells = update, []change{{columnN, integerValue(d.expected.seed + 1)}}
}

func (w *worker) add(d *write, counters ...int) {
	d.form = count
	for _, i := range counters {
		d.cells = append(d.cells, change{i, counterValue(int64(w.random.IntN(1000)) - 300)})
	}
}
