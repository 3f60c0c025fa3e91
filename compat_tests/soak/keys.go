package main

import (
	"slices"
	"time"
)

// The partitions of a worker in a table have few rows. Every wideEvery-th has many, so that range tombstones and slices
// span blocks of the server's tables.
const (
	narrowRows = 16
	wideRows   = 256
	wideEvery  = 32
)

// Long values are written only to the first rows of the first partitions, so that they are a bounded share of the data.
// One in longRowEvery writes of any kind goes to such a row, and one in longEvery blobs there is long.
const (
	longPartitions = 2
	longRows       = 2
	longRowEvery   = 200
	longEvery      = 10
)

// keysPerWorker is the distance between the first partition keys of two workers.
const keysPerWorker = 1_000_000

func mayBeLong(p *partition, c int) bool {
	return p.key%keysPerWorker < longPartitions && c < longRows
}

// makePartitions returns partitions that have at least a number of rows in all.
func makePartitions(worker, rows int) (all []*partition) {
	for first := 0; first < rows; {
		n := narrowRows
		if len(all)%wideEvery == wideEvery-1 {
			n = wideRows
		}
		all = append(all, newPartition(int64(worker*keysPerWorker+len(all)), n, first))
		first += n
	}
	return all
}

// choose draws a table and one of its rows.
func (w *worker) choose() (*owned, *partition, int) {
	o := w.tables[w.random.IntN(len(w.tables))]
	if w.random.IntN(longRowEvery) == 0 {
		return o, o.partitions[w.random.IntN(min(longPartitions, len(o.partitions)))], w.random.IntN(longRows)
	}
	last := o.partitions[len(o.partitions)-1]
	n := w.random.IntN(last.first + last.rows)
	i, found := slices.BinarySearchFunc(o.partitions, n, func(p *partition, n int) int { return p.first - n })
	if !found {
		i--
	}
	return o, o.partitions[i], n - o.partitions[i].first
}

func (w *worker) nextSeed() uint64 {
	w.seeds++
	return uint64(w.id+1)<<40 | w.seeds
}

// How many timestamps are out of order, and by how much.
const (
	scatteredEvery = 10
	scatteredFor   = 60 * time.Second
)

// stampWrite gives a write the timestamp by which the model orders it. Timestamps in order are even and increase.
// Timestamps out of order are odd, and repeat in a partition only after hundreds of others: two writes with the same
// timestamp would be ordered by their values. Where the server assigns timestamps they increase like the model's,
// because the worker waits for each answer.
func (w *worker) stampWrite(d *write) {
	now := time.Now()
	w.last = max(now.UnixMicro()&^1, w.last+2)
	d.timestamp, d.stated = w.last, d.table.stamping != serverStamps
	if d.table.stamping == scatteredStamps && w.random.IntN(scatteredEvery) == 0 {
		p := d.partition
		p.scattered++
		then := now.Add(-time.Duration(w.random.Int64N(int64(scatteredFor))))
		d.timestamp = then.UnixMilli()*1000 + 1 + 2*int64(p.scattered%499)
	}
}
