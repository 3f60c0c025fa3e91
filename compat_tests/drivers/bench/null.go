package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

// Opcodes of the few messages that gocql sends.
const (
	opStartup   = 0x01
	opReady     = 0x02
	opOptions   = 0x05
	opSupported = 0x06
	opQuery     = 0x07
	opError     = 0x00
	opResult    = 0x08
	opPrepare   = 0x09
	opExecute   = 0x0a
	opRegister  = 0x0b
)

// These are the first bytes of the prepared ids that the null server gives out.
const (
	idSelect = 's'
	idSlice  = 'l'
	idWrite  = 'w'

	rawID = 0x80 // and above: the number of a recorded answer
)

// serveNull answers every request with a prebuilt frame: it reads, looks at the opcode, and writes.
// Answers are flushed when no request is waiting.
func serveNull(answers string) error {
	canned, err := readAnswers(answers)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Starting listening for CQL clients on /%s\n", l.Addr())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		os.Exit(0)
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go nullConnection(conn, canned)
	}
}

// nullConnection serves one connection until it ends.
func nullConnection(conn net.Conn, recorded [][]byte) {
	defer conn.Close()
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	canned := cannedAnswers(recorded)
	header := make([]byte, 9)
	body := make([]byte, 64<<10)
	for {
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
		if _, err := io.ReadFull(in, header); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint32(header[5:]))
		if n > len(body) {
			return
		}
		if _, err := io.ReadFull(in, body[:n]); err != nil {
			return
		}
		answer := canned.choose(header[4], body[:n])
		binary.BigEndian.PutUint16(answer[2:], binary.BigEndian.Uint16(header[2:]))
		if _, err := out.Write(answer); err != nil {
			return
		}
	}
}

// answers are frames with everything but the stream id.
type answers struct {
	ready, supported, void, local, none, row, slice []byte

	recorded [][]byte // to requests with an id that begins with rawID and a number

	prepared map[string][]byte // by the statement
}

func (a *answers) choose(opcode byte, body []byte) []byte {
	switch opcode {
	case opStartup, opRegister:
		return a.ready
	case opOptions:
		return a.supported
	case opPrepare:
		if answer := a.prepared[string(body[4:])]; answer != nil {
			return answer
		}
		return a.none
	case opBatch:
		return a.recorded[body[6]-rawID] // after the kind of the batch, two counts and the kind of the first statement
	case opExecute:
		if body[2] >= rawID {
			return a.recorded[body[2]-rawID]
		}
		switch body[2] {
		case idSelect:
			return a.row
		case idSlice:
			return a.slice
		}
		return a.void
	}
	if opcode == opQuery && bytes.Contains(body, []byte("system.local")) {
		return a.local
	}
	return a.none
}

// Types of columns as metadata has them.
const (
	typeBlob = 3
	typeInt  = 9
	typeText = 13
	typeUUID = 12
	typeInet = 16
)

type column struct {
	name string
	typ  uint16
}

var (
	valueColumns  = []column{{"a", typeBlob}, {"b", typeBlob}, {"c", typeBlob}, {"d", typeBlob}, {"e", typeBlob}}
	insertColumns = append([]column{{"k", typeInt}}, valueColumns...)
	updateColumns = append(slices.Clone(valueColumns), insertColumns[0])
	localColumns  = []column{
		{"key", typeText},
		{"data_center", typeText},
		{"rack", typeText},
		{"release_version", typeText},
		{"host_id", typeUUID},
		{"rpc_address", typeInet},
		{"partitioner", typeText},
		{"schema_version", typeUUID},
		{"cluster_name", typeText},
	}
)

func cannedAnswers(recorded [][]byte) *answers {
	uuid := make([]byte, 16)
	uuid[6], uuid[8] = 0x40, 0x80
	local := appendRows(localColumns, [][]byte{
		[]byte("local"), []byte("datacenter1"), []byte("rack1"), []byte("5.0.8"), uuid,
		{127, 0, 0, 1},
		[]byte("org.apache.cassandra.dht.Murmur3Partitioner"), uuid, []byte("null"),
	})
	cells := make([][]byte, columns)
	for i := range cells {
		cells[i] = cell
	}
	supported := []byte{0, 1}
	supported = appendText(supported, "CQL_VERSION")
	supported = appendText(append(supported, 0, 1), "3.4.7")
	a := &answers{
		ready:     frame(opReady, nil),
		supported: frame(opSupported, supported),
		void:      frame(opResult, []byte{0, 0, 0, 1}),
		local:     frame(opResult, local),
		none:      frame(opResult, appendRows(nil, nil)),
		row:       frame(opResult, rowsWithoutMetadata(cells, 1)),
		slice:     frame(opResult, rowsWithoutMetadata(cells, rawSlice)),
		prepared: map[string][]byte{
			selectCQL: frame(opResult, prepared(idSelect, insertColumns[:1], 0, valueColumns)),
			sliceCQL:  frame(opResult, prepared(idSlice, insertColumns[:1], 0, valueColumns)),
			insertCQL: frame(opResult, prepared(idWrite, insertColumns, 0, nil)),
			updateCQL: frame(opResult, prepared(idWrite, updateColumns, len(valueColumns), nil)),
		},
	}
	for _, body := range recorded {
		a.recorded = append(a.recorded, frame(opResult, body))
	}
	return a
}

// readAnswers reads the bodies of answers, each from a file that has its number as name.
func readAnswers(folder string) (all [][]byte, err error) {
	for n := 0; folder != ""; n++ {
		body, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(n)))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, body)
	}
	return all, nil
}

// frame is an envelope of v4.
func frame(opcode byte, body []byte) []byte {
	f := []byte{0x84, 0, 0, 0, opcode}
	return append(binary.BigEndian.AppendUint32(f, uint32(len(body))), body...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func appendInts(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func appendColumns(b []byte, cs []column) []byte {
	b = appendText(appendText(b, "bench"), "t")
	for _, c := range cs {
		b = binary.BigEndian.AppendUint16(appendText(b, c.name), c.typ)
	}
	return b
}

// appendRows is a result of at most one row, with its metadata.
func appendRows(cs []column, cells [][]byte) []byte {
	b := appendColumns(appendInts(nil, 2, 1, uint32(len(cs))), cs)
	if cells == nil {
		return appendInts(b, 0)
	}
	return appendCells(appendInts(b, 1), cells)
}

// rowsWithoutMetadata is the answer to EXECUTE with skip_metadata: n equal rows.
func rowsWithoutMetadata(cells [][]byte, n int) []byte {
	b := appendInts(nil, 2, 4, uint32(len(cells)), uint32(n))
	for range n {
		b = appendCells(b, cells)
	}
	return b
}

func appendCells(b []byte, cells [][]byte) []byte {
	for _, c := range cells {
		b = append(appendInts(b, uint32(len(c))), c...)
	}
	return b
}

// prepared is the answer to PREPARE: id, markers of which one is the key, and the columns of rows.
func prepared(id byte, markers []column, key int, result []column) []byte {
	b := appendInts(nil, 4)
	b = append(b, 0, 16, id)
	b = append(b, make([]byte, 15)...)
	b = append(appendInts(b, 1, uint32(len(markers)), 1), 0, byte(key))
	b = appendColumns(b, markers)
	if result == nil {
		return appendInts(b, 4, 0) // no metadata
	}
	return appendColumns(appendInts(b, 1, uint32(len(result))), result)
}
