package schema

import (
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// compressionPackage is where Cassandra looks for a compressor that is named without a package.
const compressionPackage = "org.apache.cassandra.io.compress."

// compressors has the sub-options that each compressor of Cassandra 5.0 takes besides the common ones.
var compressors = map[string][]string{
	"LZ4Compressor":     {"lz4_compressor_type", "lz4_high_compressor_level"},
	"ZstdCompressor":    {"compression_level"},
	"SnappyCompressor":  nil,
	"DeflateCompressor": nil,
	"NoopCompressor":    nil,
}

// maxChunkKiB is the longest chunk whose length in bytes is a Java int.
const maxChunkKiB = math.MaxInt32 / 1024

// parseCompression reads the compression map in Cassandra's order. An empty map means no compression,
// like enabled: false.
func parseCompression(m map[string]string) (map[string]string, error) {
	enabled, given := m["enabled"]
	if len(m) == 0 || given && !strings.EqualFold(enabled, "true") {
		if len(m) > 1 {
			return nil, cqlerr.Configf("If the 'enabled' option is set to false no other options must be specified")
		}
		return map[string]string{"enabled": "false"}, nil
	}
	class, ok := m["class"]
	if !ok {
		return nil, cqlerr.Configf("Missing sub-option 'class' for the 'compression' option.")
	}
	if class == "" {
		return nil, cqlerr.Configf("The 'class' option must not be empty. To disable compression use 'enabled' : false")
	}
	chunk, err := parseChunkLength(m)
	if err != nil {
		return nil, err
	}
	ratio, err := parseCompressRatio(m)
	if err != nil {
		return nil, err
	}
	class, err = checkCompressor(class, m)
	if err != nil {
		return nil, err
	}
	if chunk&(chunk-1) != 0 {
		return nil, cqlerr.Configf("chunk_length_in_kb must be a power of 2")
	}
	if ratio > 0 && ratio < 1 {
		return nil, cqlerr.Configf("min_compress_ratio can either be 0 or greater than or equal to 1")
	}
	c := maps.Clone(m)
	delete(c, "enabled")
	delete(c, "min_compress_ratio")
	if ratio != 0 {
		c["min_compress_ratio"] = javafloat.Format(ratio, 64)
	}
	c["class"] = class
	c["chunk_length_in_kb"] = strconv.Itoa(chunk)
	return c, nil
}

func parseChunkLength(m map[string]string) (int, error) {
	s, ok := m["chunk_length_in_kb"]
	if !ok {
		return 16, nil
	}
	n, ok := parseJavaInt(s)
	switch {
	case !ok:
		return 0, cqlerr.Configf("Invalid value for chunk_length_in_kb")
	case n > maxChunkKiB:
		return 0, cqlerr.Configf("Value of chunk_length_in_kb is too large (%d)", n)
	case n <= 0:
		return 0, cqlerr.Configf("Invalid negative or null chunk_length_in_kb")
	}
	return n, nil
}

func parseCompressRatio(m map[string]string) (float64, error) {
	s, ok := m["min_compress_ratio"]
	if !ok {
		return 0, nil
	}
	f, ok := javafloat.ParseJava(s)
	if !ok {
		return 0, cqlerr.Configf("Invalid value '%s' for min_compress_ratio: it is not a number", s)
	}
	if math.Signbit(f) {
		return 0, cqlerr.Configf("Invalid negative min_compress_ratio")
	}
	return f, nil
}

// checkCompressor returns the full name of a compressor after it has looked at its own sub-options.
func checkCompressor(class string, m map[string]string) (string, error) {
	if !strings.Contains(class, ".") {
		class = compressionPackage + class
	}
	short, ours := strings.CutPrefix(class, compressionPackage)
	known, ok := compressors[short]
	if !ours || !ok {
		if strings.HasPrefix(class, "java.lang.") {
			return "", cqlerr.Configf("create method not found")
		}
		return "", cqlerr.Configf("Could not create Compression for type %s", class)
	}
	var err error
	switch short {
	case "LZ4Compressor":
		err = checkLZ4(m)
	case "ZstdCompressor":
		err = checkZstd(m)
	}
	if err != nil {
		return "", err
	}
	known = append([]string{"class", "enabled", "chunk_length_in_kb", "min_compress_ratio"}, known...)
	if unknown := unknownKeys(m, known...); len(unknown) > 0 {
		return "", cqlerr.Configf("Unknown compression options %s", hashOrder(unknown)[0])
	}
	return class, nil
}

func checkLZ4(m map[string]string) error {
	if s, ok := m["lz4_compressor_type"]; ok && s != "high" && s != "fast" {
		return cqlerr.Configf("Invalid compressor type '%s' specified for LZ4 parameter 'lz4_compressor_type'. "+
			"Valid options are [high, fast].", s)
	}
	if s, ok := m["lz4_high_compressor_level"]; ok {
		if n, ok := parseJavaInt(s); !ok || n < 1 || n > 17 {
			return cqlerr.Configf("Invalid value [%s] for parameter 'lz4_high_compressor_level'. Value must be "+
				"between 1 and 17.", s)
		}
	}
	return nil
}

func checkZstd(m map[string]string) error {
	s, ok := m["compression_level"]
	if !ok {
		return nil
	}
	n, ok := parseJavaInt(s)
	if !ok {
		return cqlerr.Configf(`ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input `+
			`string: "%s"`, s)
	}
	if n < -131072 || n > 22 {
		return cqlerr.Configf("ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException "+
			"compression_level=%d is invalid", n)
	}
	return nil
}
