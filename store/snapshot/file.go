package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// The file of a snapshot is a line that names it, and an LZ4 frame with checksums of its blocks and of its content:
//
//	"cqld snapshot 2\n"
//	LZ4 of: for each block its length, as a uvarint, and the block; at the end a length of 0
const magic = "cqld snapshot 2\n"

// maxBlock is the longest block: the longest key and value, after the shorter ones in the same block.
const maxBlock = 64 << 20

// Writer writes blocks of a snapshot as a file.
type Writer struct {
	frame *lz4.Writer
	head  []byte
}

// NewWriter begins a file.
func NewWriter(out io.Writer) (*Writer, error) {
	if _, err := io.WriteString(out, magic); err != nil {
		return nil, err
	}
	w := &Writer{frame: lz4.NewWriter(out)}
	return w, w.frame.Apply(lz4.BlockChecksumOption(true), lz4.ChecksumOption(true))
}

// Block writes a block.
func (w *Writer) Block(block []byte) error {
	if len(block) == 0 || len(block) > maxBlock {
		return errBlock
	}
	w.head = binary.AppendUvarint(w.head[:0], uint64(len(block)))
	if _, err := w.frame.Write(w.head); err != nil {
		return err
	}
	_, err := w.frame.Write(block)
	return err
}

// Close writes the end. The file is no snapshot before that.
func (w *Writer) Close() error {
	if _, err := w.frame.Write([]byte{0}); err != nil {
		return err
	}
	return w.frame.Close()
}

// Why the file of a snapshot is refused.
var (
	errNoSnapshot = errors.New("the file is no snapshot of cqld")
	errTorn       = errors.New("the snapshot was not written to its end")
	errSum        = errors.New("the snapshot does not have the checksum that it was written with")
)

// reader reads the file of a snapshot.
type reader struct {
	frame *bufio.Reader
	block []byte
}

func newReader(in io.Reader) (*reader, error) {
	name := make([]byte, len(magic))
	if _, err := io.ReadFull(in, name); err != nil || string(name) != magic {
		return nil, errNoSnapshot
	}
	return &reader{frame: bufio.NewReaderSize(lz4.NewReader(in), 1<<20)}, nil
}

// next returns the next block, which is valid until the next call. After the last one it returns io.EOF.
func (r *reader) next() ([]byte, error) {
	length, err := binary.ReadUvarint(r.frame)
	if err == nil && length == 0 {
		if _, err = r.frame.ReadByte(); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, io.EOF // the checksums were compared
		}
	}
	if err == nil && (length == 0 || length > maxBlock) {
		return nil, errSum
	}
	if err == nil {
		if uint64(cap(r.block)) < length {
			r.block = make([]byte, length)
		}
		r.block = r.block[:length]
		_, err = io.ReadFull(r.frame, r.block)
	}
	switch {
	case err == nil:
		return r.block, nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errTorn
	}
	return nil, fmt.Errorf("%w: %w", errSum, err)
}
