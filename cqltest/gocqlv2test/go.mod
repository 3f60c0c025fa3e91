module github.com/cqld/cqld/cqltest/gocqlv2test

go 1.26.0

// In this repository only: who requires this module gets the version of cqld below.
replace github.com/cqld/cqld => ../..

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/cqld/cqld v0.1.0
)

require (
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/golang/snappy v1.0.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/rs/zerolog v1.35.1 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
