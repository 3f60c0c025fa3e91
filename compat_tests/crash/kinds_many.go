package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// numbers is a list of numbers as text, which is the state of a collection.
type numbers []int

func parseNumbers(text string) numbers {
	var all numbers
	for _, f := range strings.Fields(text) {
		all = append(all, number(f))
	}
	return all
}

// String prints the numbers with blanks between them.
func (n numbers) String() string { return strings.Trim(fmt.Sprint([]int(n)), "[]") }

// maxElements is the length at which a list is replaced by a list of one element.
const maxElements = 20

// writeCollection changes all three collections of a row: the set and the map have the elements of the list.
func writeCollection(r *rand.Rand, key, before string) (statement, after string) {
	old := parseNumbers(before)
	x := r.IntN(1000)
	switch {
	case len(old) >= maxElements:
		return fmt.Sprintf("UPDATE collections SET s = {%d}, m = {%d: '%s'}, l = [%d] WHERE p = %s", x, x, fill(x), x, key),
			numbers{x}.String()
	case len(old) > 2 && r.IntN(3) == 0:
		x = old[r.IntN(len(old))]
		kept := slices.DeleteFunc(slices.Clone(old), func(n int) bool { return n == x })
		if len(kept) == 0 {
			return "DELETE FROM collections WHERE p = " + key, ""
		}
		return fmt.Sprintf("UPDATE collections SET s = s - {%d}, m = m - {%d}, l = l - [%d] WHERE p = %s", x, x, x, key), kept.String()
	}
	return fmt.Sprintf("UPDATE collections SET s = s + {%d}, m[%d] = '%s', l = l + [%d] WHERE p = %s", x, x, fill(x), x, key),
		append(old, x).String()
}

// elements decodes the elements of a set or list, or the keys and values of a map one after the other.
func elements(b []byte, perEntry int) (all [][]byte) {
	if len(b) < 4 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(b)) * perEntry
	b = b[4:]
	for range n {
		size := int(binary.BigEndian.Uint32(b))
		all, b = append(all, b[4:4+size]), b[4+size:]
	}
	return all
}

func readCollections(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	return each(ctx, c, "SELECT p, s, m, l FROM crash.collections", func(row [][]byte) {
		var list numbers
		in := map[int]bool{}
		for _, e := range elements(row[3], 1) {
			list = append(list, integer(e))
			in[integer(e)] = true
		}
		sorted := slices.Sorted(maps.Keys(in))
		var set, keys numbers
		for _, e := range elements(row[1], 1) {
			set = append(set, integer(e))
		}
		state := list.String()
		m := elements(row[2], 2)
		for i := 0; i < len(m); i += 2 {
			keys = append(keys, integer(m[i]))
			if string(m[i+1]) != fill(integer(m[i])) {
				state += " with another's text"
			}
		}
		if !slices.Equal(set, sorted) || !slices.Equal(keys, sorted) {
			state += fmt.Sprintf(" with the set %v and the map of %v", set, keys)
		}
		found(strconv.Itoa(integer(row[0])), state)
	})
}

// A batch writes one number to batchRows rows of each of two tables, in as many partitions.
const batchRows = 4

func writeBatch(r *rand.Rand, key, before string) (statement, after string) {
	n := r.IntN(1<<20)*longFill + 1 // no long text: a batch may have 50 KiB
	deletes := before != "" && r.IntN(5) == 0
	b := strings.Builder{}
	b.WriteString("BEGIN BATCH ")
	for i := range batchRows {
		if deletes {
			fmt.Fprintf(&b, "DELETE FROM batch_a WHERE p = %s%d; DELETE FROM batch_b WHERE p = %d AND c = %s; ", key, i, i, key)
			continue
		}
		fmt.Fprintf(&b, "INSERT INTO batch_a (p, n, fill) VALUES (%s%d, %d, '%s'); INSERT INTO batch_b (p, c, n) VALUES (%d, %s, %d); ",
			key, i, n, fill(n), i, key, n)
	}
	b.WriteString("APPLY BATCH")
	if deletes {
		return b.String(), ""
	}
	return b.String(), strconv.Itoa(n)
}

// readBatches finds the number of each batch, or its torn parts.
func readBatches(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	parts := map[string][]string{}
	err := each(ctx, c, "SELECT p, n, fill FROM crash.batch_a", func(row [][]byte) {
		key := strconv.Itoa(integer(row[0]) / 10)
		parts[key] = append(parts[key], filled(row[1], row[2]))
	})
	if err != nil {
		return err
	}
	err = each(ctx, c, "SELECT p, c, n FROM crash.batch_b", func(row [][]byte) {
		key := strconv.Itoa(integer(row[1]))
		parts[key] = append(parts[key], strconv.Itoa(integer(row[2])))
	})
	for key, all := range parts {
		state := all[0]
		if len(all) != 2*batchRows || slices.ContainsFunc(all, func(s string) bool { return s != state }) {
			state = fmt.Sprintf("torn: %v", all)
		}
		found(key, state)
	}
	return err
}
