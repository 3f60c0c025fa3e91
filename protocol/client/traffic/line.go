// Package traffic records the messages between clients and a server, and replays them against another server. The
// commands cqld proxy and cqld replay are Proxy and Replay with flags.
//
// A recording is text, with one line for each message:
//
//	# cqld proxy: traffic of db.example:9042
//	@ 1 1763845200123 open
//	# QUERY "SELECT name FROM shop.items WHERE id = ?" ...
//	> 1 1763845200124 v5 00 12 QUERY 0000...
//	< 1 1763845200125 v5 00 12 RESULT 0000...
//	@ 1 1763845200200 closed
//
// The mark is followed by the number of the connection, from 1, and the time in milliseconds since 1970. "@" is a
// connection that was opened or closed; ">" is a request and "<" a response or event, in the order in which they
// passed: protocol version, envelope flags in hexadecimal, stream, opcode, and body in hexadecimal. Bodies are
// uncompressed and not in segments, without the compression flag. Values are as in the protocol. "-" replaces an
// omitted body: tokens of logins, and statements with the word PASSWORD and their responses. "#" begins a comment.
package traffic

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol"
)

// The marks of lines.
const (
	markConnection = '@'
	markRequest    = '>'
	markAnswer     = '<'
	markComment    = '#'
)

// leftOut replaces an omitted body.
const leftOut = "-"

// line is a line of a recording, but not a comment.
type line struct {
	number int // in the file
	mark   byte
	conn   int
	at     time.Time
	state  string // of a connection: open or closed

	header protocol.Header
	body   []byte
	secret bool // the body is left out
}

// append appends the line with its end.
func (l *line) append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%c %d %d ", l.mark, l.conn, l.at.UnixMilli())
	if l.mark == markConnection {
		return append(append(dst, l.state...), '\n')
	}
	h := &l.header
	dst = fmt.Appendf(dst, "v%d %02x %d %s ", h.Version, byte(h.Flags&^protocol.FlagCompressed), h.Stream, h.Opcode)
	if l.secret {
		dst = append(dst, leftOut...)
	} else {
		dst = hex.AppendEncode(dst, l.body)
	}
	return append(dst, '\n')
}

// parseLine reads a line; nil is a comment or an empty line.
func parseLine(text string, number int) (*line, error) {
	if text = strings.TrimRight(text, "\r\n"); text == "" || text[0] == markComment {
		return nil, nil
	}
	words := strings.Split(text, " ")
	wrong := func(reason string) (*line, error) { return nil, fmt.Errorf("line %d: %s", number, reason) }
	if len(words) < 4 || len(words[0]) != 1 {
		return wrong("it is no line of a recording")
	}
	l := &line{number: number, mark: words[0][0]}
	conn, err := strconv.Atoi(words[1])
	if err != nil {
		return wrong("its second word is no number of a connection")
	}
	millis, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return wrong("its third word is no time")
	}
	l.conn, l.at = conn, time.UnixMilli(millis)
	switch l.mark {
	case markConnection:
		l.state = words[3]
		return l, nil
	case markRequest, markAnswer:
	default:
		return wrong("its mark is none of @, > and <")
	}
	if len(words) != 8 {
		return wrong(fmt.Sprintf("a message has 8 words, not %d", len(words)))
	}
	version, err := strconv.Atoi(strings.TrimPrefix(words[3], "v"))
	if err != nil {
		return wrong("its version is no number")
	}
	flags, err := strconv.ParseUint(words[4], 16, 8)
	if err != nil {
		return wrong("its flags are no byte")
	}
	stream, err := strconv.ParseInt(words[5], 10, 16)
	if err != nil {
		return wrong("its stream is no number")
	}
	l.header = protocol.Header{
		Version: protocol.Version(version), Response: l.mark == markAnswer,
		Flags: protocol.Flags(flags), Stream: int16(stream),
	}
	for l.header.Opcode = 0; l.header.Opcode.String() != words[6]; l.header.Opcode++ {
		if !l.header.Opcode.Known() {
			return wrong("its opcode is unknown")
		}
	}
	if l.secret = words[7] == leftOut; l.secret {
		return l, nil
	}
	if l.body, err = hex.DecodeString(words[7]); err != nil {
		return wrong("its body is no hexadecimal number")
	}
	l.header.Length = uint32(len(l.body))
	return l, nil
}
