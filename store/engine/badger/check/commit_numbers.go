package check

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"
)

// CommitsName is the file with the numbers of the last commit and of the last one that was synced.
const CommitsName = "COMMITS"

// CommitsBytes is the length of COMMITS.
const CommitsBytes = 16

// SealNumber puts 16 bits of a checksum behind a number.
func SealNumber(n uint64) uint64 {
	return n<<16 | uint64(uint16(files.Checksum(binary.BigEndian.AppendUint64(nil, n))))
}

// readCommits reads COMMITS.
func readCommits(dir string) (last, synced uint64, err error) {
	path := filepath.Join(dir, CommitsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	if len(b) != CommitsBytes {
		return 0, 0, damaged(path, "it has %d bytes instead of %d", len(b), CommitsBytes)
	}
	var words [2]uint64
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
		if SealNumber(words[i]>>16) != words[i] {
			return 0, 0, damaged(path, "it does not have the checksum that it was written with")
		}
	}
	return words[0] >> 16, words[1] >> 16, nil
}

// EncodeCommits makes the content of COMMITS with one number for both.
func EncodeCommits(n uint64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, SealNumber(n))
	return binary.NativeEndian.AppendUint64(b, SealNumber(n))
}
