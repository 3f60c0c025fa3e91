package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	gohash "hash"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// digests are the algorithms of mask_hash, in lower case and without the hyphen behind sha.
var digests = map[string]func() gohash.Hash{
	"md5":        md5.New,
	"sha":        sha1.New,
	"sha1":       sha1.New,
	"sha224":     sha256.New224,
	"sha256":     sha256.New,
	"sha384":     sha512.New384,
	"sha512":     sha512.New,
	"sha512/224": sha512.New512_224,
	"sha512/256": sha512.New512_256,
	"sha3-224":   func() gohash.Hash { return sha3.New224() },
	"sha3-256":   func() gohash.Hash { return sha3.New256() },
	"sha3-384":   func() gohash.Hash { return sha3.New384() },
	"sha3-512":   func() gohash.Hash { return sha3.New512() },
}

// digestNamed finds an algorithm, of null the usual one.
func digestNamed(name types.Value) (func() gohash.Hash, error) {
	algorithm := "SHA-256"
	if name.Bytes != nil {
		algorithm = string(name.Bytes)
	}
	digest := digests[strings.Replace(strings.ToLower(algorithm), "sha-", "sha", 1)]
	if digest == nil {
		return nil, cqlerr.Invalidf("Hash algorithm not found: %s", algorithm)
	}
	return digest, nil
}

// hash is mask_hash. The algorithm is looked for even if there is nothing to hash.
func hash(c *Call) (types.Value, error) {
	var name types.Value
	if len(c.Args) > 1 {
		name = c.Args[1]
	}
	digest, err := digestNamed(name)
	if err != nil || c.Args[0].Bytes == nil {
		return types.Value{}, err
	}
	h, p := digest(), c.pacer()
	for part := range slices.Chunk(c.Args[0].Bytes, readAtOnce) {
		h.Write(part)
		if p.read(len(part)) {
			return types.Value{}, p.err
		}
	}
	return types.Value{Bytes: h.Sum(nil)}, nil
}
