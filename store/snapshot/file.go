package snapshot

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"

	"github.com/pierrec/lz4/v4"
)

// The file of a snapshot:
//
//	"cqld snapshot 1\n"
//	for each block: length of the block : 4 | stored length : 4 | CRC-32C : 4 | what is stored
//	at the end: 0 : 4 | number of blocks : 8 | SHA-256 of all before : 32
//
// A block is stored as LZ4 makes it, or as it is where that is not shorter: then both lengths are the same. The
// checksum is of what is stored.
const snapshotMagic = "cqld snapshot 1\n"

// maxSnapshotBlock is the longest block: the longest key and value, and what came before them.
const maxSnapshotBlock = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes blocks of a snapshot as a file.
type Writer struct {
	out        io.Writer
	sum        hash.Hash
	blocks     uint64
	compressor lz4.Compressor
	buf        []byte
}

// NewWriter begins a file.
func NewWriter(out io.Writer) (*Writer, error) {
	w := &Writer{out: out, sum: sha256.New()}
	return w, w.write([]byte(snapshotMagic))
}

func (w *Writer) write(b []byte) error {
	w.sum.Write(b)
	_, err := w.out.Write(b)
	return err
}

// Block writes a block.
func (w *Writer) Block(block []byte) error {
	if len(block) == 0 || len(block) > maxSnapshotBlock {
		return errBlock
	}
	const head = 12
	if need := head + lz4.CompressBlockBound(len(block)); len(w.buf) < need {
		w.buf = make([]byte, need)
	}
	n, err := w.compressor.CompressBlock(block, w.buf[head:])
	if err != nil {
		return err
	}
	if n == 0 || n >= len(block) {
		n = copy(w.buf[head:], block)
	}
	stored := w.buf[head : head+n]
	binary.BigEndian.PutUint32(w.buf, uint32(len(block)))
	binary.BigEndian.PutUint32(w.buf[4:], uint32(n))
	binary.BigEndian.PutUint32(w.buf[8:], crc32.Checksum(stored, castagnoli))
	w.blocks++
	return w.write(w.buf[:head+n])
}

// Close writes the end. The file is no snapshot before that.
func (w *Writer) Close() error {
	end := binary.BigEndian.AppendUint64(make([]byte, 4), w.blocks)
	if err := w.write(end); err != nil {
		return err
	}
	_, err := w.out.Write(w.sum.Sum(nil))
	return err
}

// Why the file of a snapshot is refused.
var (
	errNoSnapshot = errors.New("the file is no snapshot of cqld")
	errTorn       = errors.New("the snapshot was not written to its end")
	errSum        = errors.New("the snapshot does not have the checksum that it was written with")
)

// reader reads the file of a snapshot.
type reader struct {
	in     *bufio.Reader
	sum    hash.Hash
	blocks uint64
	stored []byte
	block  []byte
}

func newReader(in io.Reader) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, 1<<20), sum: sha256.New()}
	magic := make([]byte, len(snapshotMagic))
	if err := r.read(magic); err != nil || string(magic) != snapshotMagic {
		return nil, errNoSnapshot
	}
	return r, nil
}

func (r *reader) read(b []byte) error {
	if _, err := io.ReadFull(r.in, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errTorn
		}
		return err
	}
	r.sum.Write(b)
	return nil
}

// next returns the next block, which is valid until the next call. Behind the last one it returns io.EOF.
func (r *reader) next() ([]byte, error) {
	var head [12]byte
	if err := r.read(head[:4]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == 0 {
		return nil, r.end()
	}
	if err := r.read(head[4:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[4:])
	if length > maxSnapshotBlock || n > length {
		return nil, errSum
	}
	r.stored = grow(r.stored, int(n))
	if err := r.read(r.stored); err != nil {
		return nil, err
	}
	if crc32.Checksum(r.stored, castagnoli) != binary.BigEndian.Uint32(head[8:]) {
		return nil, errSum
	}
	r.blocks++
	if n == length {
		return r.stored, nil
	}
	r.block = grow(r.block, int(length))
	if m, err := lz4.UncompressBlock(r.stored, r.block); err != nil || m != int(length) {
		return nil, errSum
	}
	return r.block, nil
}

// end reads the end of the file.
func (r *reader) end() error {
	var blocks [8]byte
	if err := r.read(blocks[:]); err != nil {
		return err
	}
	want := r.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r.in, got); err != nil {
		return errTorn
	}
	if string(got) != string(want) || binary.BigEndian.Uint64(blocks[:]) != r.blocks {
		return errSum
	}
	return io.EOF
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
