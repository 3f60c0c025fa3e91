package schema

import "fmt"

// section is one kind of thing that a definition may have and most do not. It is written under a number of its own,
// which is never given to another kind, and only if there is something to write.
type section[T any] struct {
	number  uint64
	present func(T) bool
	write   func(*encoder, T)
	read    func(*decoder, T)
}

// keyspaceSections follow the types of a keyspace.
var keyspaceSections = []section[*Keyspace]{viewSection, functionSection, aggregateSection}

// tableSections follow the options of a table. Reading fills in what NewTable is given.
var tableSections = []section[*Table]{
	droppedSection,
	{2, func(t *Table) bool { return len(t.Indexes) > 0 }, writeIndexes, readIndexes},
	maskSection,
	compactSection,
}

// writeSections writes what of is there.
//
//	<n> n × (number section)
func writeSections[T any](e *encoder, kinds []section[T], of T) {
	n := uint64(0)
	for _, s := range kinds {
		if s.present(of) {
			n++
		}
	}
	e.uint(n)
	for _, s := range kinds {
		if s.present(of) {
			e.uint(s.number)
			s.write(e, of)
		}
	}
}

// readSections reads what writeSections wrote.
func readSections[T any](d *decoder, kinds []section[T], into T) {
	if d.version < sectionsVersion {
		return
	}
	for range d.count() {
		number, known := d.uint(), false
		for _, s := range kinds {
			if s.number == number {
				s.read(d, into)
				known = true
			}
		}
		if !known {
			d.fail(fmt.Errorf("section %d is not known", number))
			return
		}
	}
}
