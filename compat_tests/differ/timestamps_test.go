package main

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// timestampShape is a write time as a statement has it, bound or not.
var timestampShape = regexp.MustCompile(`TIMESTAMP (-?[0-9]+)`)

// writeTimes are the write times of a scenario, in order.
func writeTimes(t *testing.T, s *scenario) (times []int) {
	t.Helper()
	for _, st := range s.steps {
		st = st.changed(func(*step) {}, inline)
		text, _ := st.cql(tableName)
		for _, found := range timestampShape.FindAllStringSubmatch(text, -1) {
			at, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, at)
		}
	}
	return times
}

// TestWriteTimes wants the write times that families are about: under views they rise, and where nothing follows the
// rows there are equal ones.
func TestWriteTimes(t *testing.T) {
	for name, wanted := range map[string]func(times []int) bool{
		"views": slices.IsSorted[[]int],
		"rows": func(times []int) bool {
			slices.Sort(times)
			return len(slices.Compact(slices.Clone(times))) < len(times)
		},
	} {
		families, err := findFamilies(name, false)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(20) {
			s := families[0].makeScenario(newGen(1, n), 500)
			if times := writeTimes(t, s); len(times) < 50 || !wanted(times) {
				t.Errorf("%s, scenario %d: %v", name, n, times)
			}
		}
	}
}
