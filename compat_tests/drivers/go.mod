module github.com/cqld/cqld/compat_tests/drivers

go 1.26.0

replace (
	github.com/cqld/cqld => ../..
	github.com/cqld/cqld/cqltest/gocqltest => ../../cqltest/gocqltest
	github.com/cqld/cqld/cqltest/gocqlv2test => ../../cqltest/gocqlv2test
)

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/cqld/cqld v0.1.0
	github.com/cqld/cqld/cqltest/gocqltest v0.1.0
	github.com/cqld/cqld/cqltest/gocqlv2test v0.1.0
	github.com/datastax/go-cassandra-native-protocol v0.0.0-20240903140133-605a850e203b
	github.com/gocql/gocql v1.7.0
	golang.org/x/sys v0.49.0
	gopkg.in/inf.v0 v0.9.1
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.2.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/flatbuffers v25.2.10+incompatible // indirect
	github.com/klauspost/compress v1.20.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.41.0 // indirect
	go.opentelemetry.io/otel/metric v1.41.0 // indirect
	go.opentelemetry.io/otel/trace v1.41.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

require (
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/dgraph-io/badger/v4 v4.9.6
	github.com/golang/snappy v1.0.0 // indirect
	github.com/hailocab/go-hostpool v0.0.0-20160125115350-e80d13ce29ed // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/rs/zerolog v1.35.1 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/text v0.43.0 // indirect
)
