package drivers

import (
	"errors"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

// TestApacheGocql is an application on Apache's gocql v2.1.2, in each version and compression it has.
func TestApacheGocql(t *testing.T) {
	for _, c := range []struct {
		name       string
		version    int
		compressor gocql.Compressor
	}{
		{"v3", 3, nil},
		{"v4", 4, nil},
		{"v4_lz4", 4, lz4.LZ4Compressor{}},
		{"v4_snappy", 4, snappy.SnappyCompressor{}},
		{"v5", 5, nil},
		{"v5_lz4", 5, lz4.LZ4Compressor{}},
	} {
		t.Run(c.name, func(t *testing.T) { smokeApache(t, c.version, c.compressor) })
	}
}

func smokeApache(t *testing.T, version int, compressor gocql.Compressor) {
	host, port := address(t)
	keyspace := keyspaceFor(t)
	open := func(keyspace string) *gocql.Session {
		c := gocql.NewCluster(host)
		c.Port, c.ProtoVersion, c.Keyspace, c.Compressor = port, version, keyspace, compressor
		c.Timeout, c.ConnectTimeout = 20*time.Second, 20*time.Second
		if config := tlsFromEnvironment(t); config != nil {
			c.SslOpts = &gocql.SslOptions{Config: config}
		}
		s, err := c.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	admin := open("")
	for _, cql := range []string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		createKeyspace(keyspace),
		"CREATE TABLE " + keyspace + ".rows (p int, c int, v text, PRIMARY KEY (p, c))",
	} {
		if err := admin.Query(cql).Exec(); err != nil {
			t.Fatalf("%s: %v", cql, err)
		}
	}

	s := open(keyspace) // says USE on each of its connections
	writeAll(t, func(i int) error {
		p, c, v := row(i)
		return s.Query("INSERT INTO rows (p, c, v) VALUES (?, ?, ?)", p, c, v).Exec()
	})
	iter := s.Query("SELECT p, c, v FROM rows").PageSize(pageSize).Iter()
	checkRows(t, func(p, c *int, v *string) bool { return iter.Scan(p, c, v) })
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}

	apacheSchemaEvent(t, admin, s, keyspace)
	apacheErrors(t, s, keyspace)
	if err := admin.Query("DROP KEYSPACE " + keyspace).Exec(); err != nil {
		t.Fatal(err)
	}
}

// apacheSchemaEvent has one session define a table whose keyspace another session has already read.
func apacheSchemaEvent(t *testing.T, admin, s *gocql.Session, keyspace string) {
	t.Helper()
	if _, err := s.KeyspaceMetadata(keyspace); err != nil {
		t.Fatal(err)
	}
	if err := admin.Query("CREATE TABLE " + keyspace + ".seen (k int PRIMARY KEY)").Exec(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a schema event", func() bool {
		m, err := s.KeyspaceMetadata(keyspace)
		return err == nil && m.Tables["seen"] != nil
	})
}

func apacheErrors(t *testing.T, s *gocql.Session, keyspace string) {
	t.Helper()
	var exists *gocql.RequestErrAlreadyExists
	err := s.Query("CREATE TABLE rows (k int PRIMARY KEY)").Exec()
	if !errors.As(err, &exists) || exists.Keyspace != keyspace || exists.Table != "rows" {
		t.Errorf("an existing table: %T %v", err, err)
	}
	for cql, code := range map[string]int{
		"SELEC * FROM rows":     gocql.ErrCodeSyntax,
		"SELECT nope FROM rows": gocql.ErrCodeInvalid,
		"CREATE KEYSPACE k WITH replication = {'class': 'Nope'}": gocql.ErrCodeConfig,
	} {
		var refused gocql.RequestError
		if err := s.Query(cql).Exec(); !errors.As(err, &refused) || refused.Code() != code {
			t.Errorf("%s: %T %v, want code %#x", cql, err, err, code)
		}
	}
}
