module github.com/cqld/cqld/compat_tests/suites/migrate

go 1.26.0

require (
	github.com/gocql/gocql v0.0.0-20210515062232-b7ef815b4556
	github.com/golang-migrate/migrate/v4 v4.20.1
)

require (
	github.com/golang/snappy v0.0.4 // indirect
	github.com/hailocab/go-hostpool v0.0.0-20160125115350-e80d13ce29ed // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
