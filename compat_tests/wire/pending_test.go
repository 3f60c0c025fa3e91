package wire

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"testing"
)

// errorEnvelope is an answer of v4 with an error's text.
func errorEnvelope(text string) *envelope {
	return &envelope{header: [9]byte{0x84, 0, 0, 1, opError}, body: appendString([]byte{0, 0, 0x22, 0}, text)}
}

// request is an exchange with one message around a statement.
func request(opcode byte, text string) *exchange {
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	header := []byte{4, 0, 0, 1, opcode}
	return &exchange{request: append(binary.BigEndian.AppendUint32(header, uint32(len(body))), body...)}
}

// TestGaps checks the replay itself: only consequences of a refusal are pending.
func TestGaps(t *testing.T) {
	const prepared = "UPDATE wire.n SET c = c + ? WHERE k = ?"
	unprepared := func(text string) string {
		return fmt.Sprintf("Prepared query with ID %x not found", md5.Sum([]byte(text)))
	}
	g := newGaps()
	g.note("CREATE TABLE wire.c (k int PRIMARY KEY, m map<int, int>)", "Such a column is "+notSupported, false)
	g.note("CREATE TYPE wire.u (a int)", "CREATE TYPE is "+notSupported, false)
	g.note("CREATE TABLE wire.uu (k int PRIMARY KEY, u frozen<u>)", "Unknown type wire.u", false)
	g.note("CREATE TABLE wire.bad (k int)", "No PRIMARY KEY specified for table 'bad' (exactly one required)", false)
	g.note("ALTER TABLE wire.alt ADD w int", "ALTER TABLE is "+notSupported, false)
	g.note(prepared, "A counter is "+notSupported, true)
	for _, c := range []struct {
		x      *exchange
		answer string
		want   bool
	}{
		{request(opQuery, "ALTER TABLE wire.t ADD w int"), "ALTER TABLE is " + notSupported, true},
		{request(opQuery, "SELECT * FROM wire.c"), "table c does not exist", true},
		{request(opQuery, "SELECT * FROM wire.uu"), "table uu does not exist", true},
		{request(opQuery, "SELECT * FROM wire.t"), "table t does not exist", false},
		{request(opQuery, "SELECT * FROM wire.bad"), "table bad does not exist", false},
		{request(opQuery, "SELECT * FROM wire.alt"), "Undefined column name w in table wire.alt", true},
		{request(opQuery, "SELECT * FROM wire.t"), "Undefined column name w in table wire.t", false},
		{request(opExecute, ""), unprepared(prepared), true},
		{request(opExecute, ""), unprepared("SELECT * FROM wire.t"), false},
	} {
		want := []expectedEnvelope{{envelope: envelope{header: [9]byte{0x84, 0, 0, 1, opResult}}}}
		if got := g.explain(c.x, want, []*envelope{errorEnvelope(c.answer)}); got != c.want {
			t.Errorf("%s: %s: pending is %v, want %v", c.x.text(), c.answer, got, c.want)
		}
	}
}
