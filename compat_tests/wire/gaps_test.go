package wire

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
)

// gaps are the features that the server refused as not supported yet in one file of recordings, and the objects
// missing therefore. An exchange is pending only if its answer follows from that: everything else that is not equal
// is a fault, or has a separate reason.
type gaps struct {
	missing map[string]bool   // definitions that were not made, by name without keyspace
	changed map[string]bool   // tables and types that an ALTER should have changed
	indexed map[string]bool   // tables that should have got or lost an index
	texts   map[string]string // of prepared statements, by id in hex
	refused map[string]bool   // ids of statements whose PREPARE was refused
}

func newGaps() *gaps {
	return &gaps{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}}
}

const notSupported = "not supported by cqld yet"

var (
	creates  = regexp.MustCompile(`CREATE (?:OR REPLACE )?(?:TABLE|TYPE|MATERIALIZED VIEW|FUNCTION|AGGREGATE)(?: IF NOT EXISTS)? (?:\w+\.)?("[^"]+"|\w+)`)
	alters   = regexp.MustCompile(`ALTER (?:TABLE|TYPE) \w+\.(\w+)`)
	indexes  = regexp.MustCompile(`(?:CREATE .*INDEX .*ON|DROP INDEX) \w+\.(\w+)`)
	absent   = regexp.MustCompile(`table (\w+) does not exist|Unknown type \w+\.([\w ]+)|Unknown function '(?:\w+\.)?(\w+)'|Materialized view '\w+\.(\w+)'`)
	column   = regexp.MustCompile(`Undefined column name \w+ in table \w+\.(\w+)`)
	unknown  = regexp.MustCompile(`Prepared query with ID ([0-9a-f]{32}) not found`)
	mentions = regexp.MustCompile(`\w+\.(\w+)`)
)

// follows reports whether an error says that something is not supported, or that an unsupported object is missing.
func (g *gaps) follows(answer string) bool {
	if strings.Contains(answer, notSupported) {
		return true
	}
	if m := absent.FindStringSubmatch(answer); m != nil {
		return g.missing[m[1]] || g.missing[m[2]] || g.missing[m[3]] || g.missing[m[4]]
	}
	if m := column.FindStringSubmatch(answer); m != nil {
		return g.changed[m[1]]
	}
	m := unknown.FindStringSubmatch(answer)
	return m != nil && g.refused[m[1]]
}

// note keeps the objects that the answer to a statement leaves missing.
func (g *gaps) note(text, answer string, preparing bool) {
	id := md5.Sum([]byte(text))
	if preparing {
		g.texts[hex.EncodeToString(id[:])] = text
	}
	switch {
	case !g.follows(answer):
	case preparing:
		g.refused[hex.EncodeToString(id[:])] = true
	default:
		for names, pattern := range map[*map[string]bool]*regexp.Regexp{
			&g.missing: creates, &g.changed: alters, &g.indexed: indexes,
		} {
			if m := pattern.FindStringSubmatch(text); m != nil {
				(*names)[strings.Trim(m[1], `"`)] = true
			}
		}
		if strings.Contains(text, " FUNCTION ") || strings.Contains(text, " AGGREGATE ") {
			g.missing[""] = true // events about it to v3 name only the keyspace, and then nothing
		}
	}
}

// explain reports whether a different answer follows from an unsupported feature.
func (g *gaps) explain(x *exchange, want []expectedEnvelope, got []*envelope) bool {
	for _, e := range got {
		if e.opcode() == opError && g.follows(string(e.body)) {
			return true
		}
	}
	wanted := g.present(want)
	if len(wanted) < len(want) && len(wanted) == len(got) {
		same := true
		for i := range wanted {
			same = same && wanted[i].matches(got[i])
		}
		return same
	}
	text := x.query()
	for id, prepared := range g.texts {
		if strings.Contains(hex.EncodeToString(x.request), id) {
			text += prepared
		}
	}
	for _, m := range mentions.FindAllStringSubmatch(text, -1) {
		if g.changed[m[1]] {
			return true
		}
		if g.indexed[m[1]] && len(want) == 1 && unknown.Match(want[0].body) {
			return true
		}
	}
	return len(want) == 1 && len(got) == 1 && g.sameRowsPresent(&want[0].envelope, got[0])
}

// present leaves out the events about definitions that are not there.
func (g *gaps) present(want []expectedEnvelope) []expectedEnvelope {
	var kept []expectedEnvelope
	for _, w := range want {
		name, ok := eventName(w.body)
		if w.opcode() != opEvent || !ok || !g.missing[name] {
			kept = append(kept, w)
		}
	}
	return kept
}

// eventName is the definition that the event of a schema change names: its fifth string, which the event of a
// keyspace does not have.
func eventName(body []byte) (name string, ok bool) {
	for range 5 {
		if len(body) < 2 {
			return "", false
		}
		n := min(int(binary.BigEndian.Uint16(body)), len(body)-2)
		name, body = string(body[2:2+n]), body[2+n:]
	}
	return name, true
}

// sameRowsPresent compares rows of system_schema without the rows of missing definitions.
func (g *gaps) sameRowsPresent(want, got *envelope) bool {
	rw, rg := decodeRows(want), decodeRows(got)
	if rw == nil || rg == nil || len(rw.columns) == 0 || rw.columns[0].Keyspace != "system_schema" {
		return false
	}
	kept := rw.data[:0:0]
	for _, row := range rw.data {
		gone := false
		for i, c := range rw.columns {
			if c.Name == "table_name" || c.Name == "type_name" {
				gone = gone || g.missing[string(row[i])]
			}
		}
		if !gone {
			kept = append(kept, row)
		}
	}
	if len(kept) != len(rg.data) {
		return false
	}
	for i, row := range kept {
		for j, cell := range row {
			if !bytes.Equal(cell, rg.data[i][j]) {
				return false
			}
		}
	}
	return true
}
