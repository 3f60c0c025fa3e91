package protocol

import (
	"math"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
)

// TestHeaderCheck has the headers that Cassandra refuses and how it answers them.
func TestHeaderCheck(t *testing.T) {
	const supported = "; supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"
	for _, c := range []struct {
		header  string
		kind    HeaderErrorKind
		version Version
		stream  int16
		text    string
	}{
		{"010000050500000000", UnsupportedVersion, 1, 0, "Invalid or unsupported protocol version (1)" + supported},
		{"020000050500000000", UnsupportedVersion, 2, 0, "Invalid or unsupported protocol version (2)" + supported},
		{"420000050500000000", UnsupportedVersion, V5, 0, "Invalid or unsupported protocol version (66)" + supported},
		{"ff0000050500000000", UnsupportedVersion, V5, 0, "Invalid or unsupported protocol version (127)" + supported},
		{
			"060000050500000000", BetaUnset, V6, 0,
			"Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset",
		},
		{
			"840000050500000000", WrongDirection, V5, 5,
			"Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode 5 (OPTIONS)",
		},
		{
			"040000050800000000", WrongDirection, V5, 5,
			"Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode 8 (RESULT)",
		},
		{"040000051100000000", UnknownOpcode, V5, 5, "Unknown opcode 17"},
		{"04000005ff00000000", UnknownOpcode, V5, 5, "Unknown opcode 255"},
	} {
		err := ParseHeader(unhex(t, c.header)).Check()
		if err == nil || err.Kind != c.kind || err.Version != c.version || err.Stream != c.stream || err.Error() != c.text {
			t.Errorf("%s: %+v", c.header, err)
		}
	}
	for _, good := range []string{"030000050500000000", "061000050500000000", "05ff00050100000000"} {
		if err := ParseHeader(unhex(t, good)).Check(); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestOldVersionIsAnsweredInItsForm has a header of 8 bytes, and a beta version its flag.
func TestOldVersionIsAnsweredInItsForm(t *testing.T) {
	m := &Error{cqlerr.Protocolf("x")}
	for v, want := range map[Version]string{
		1:  "81 00 00 00 00000007 0000000a 0001 78",
		V5: "85 00 0000 00 00000007 0000000a 0001 78",
		V6: "86 10 0000 00 00000007 0000000a 0001 78",
	} {
		if got := AppendResponse(nil, v, 0, nil, m); string(got) != string(unhex(t, want)) {
			t.Errorf("%d: %x", v, got)
		}
	}
}

// TestCheckLength has bodies at the limit and beyond it.
func TestCheckLength(t *testing.T) {
	const limit = 16777216
	for _, c := range []struct {
		length    uint32
		segmented bool
		want      string
	}{
		{16777207, false, ""},
		{16777208, false, "Request is too big: length 16777217 exceeds maximum allowed length 16777216."},
		{math.MaxUint32, false, "Request is too big: length 4294967304 exceeds maximum allowed length 16777216."},
		{16777208, true, ""},
		{16777217, true, "CQL Message of size 16777217 bytes exceeds allowed maximum of 16777216 bytes"},
		{math.MaxUint32, true, "Invalid value for envelope header body length field: -1"},
	} {
		err := CheckLength(Header{Length: c.length}, limit, c.segmented)
		if (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%d: %v", c.length, err)
		}
	}
}

// TestVersionMismatch has the two texts that differ by a blank.
func TestVersionMismatch(t *testing.T) {
	for connection, want := range map[Version]string{
		V5: "Invalid message version. Got 4/v4 but previousmessages on this connection had version 5/v5",
		V3: "Invalid message version. Got 4/v4 but previous messages on this connection had version 3/v3",
	} {
		if got := VersionMismatch(V4, connection).Message; got != want {
			t.Errorf("%s", got)
		}
	}
}
