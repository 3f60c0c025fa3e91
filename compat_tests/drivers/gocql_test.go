package drivers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// TestGocql is an application on gocql v1.7.0, whose newest protocol is v4.
func TestGocql(t *testing.T) {
	for _, version := range []int{3, 4} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) { smokeGocql(t, version, nil) })
	}
	t.Run("v4_snappy", func(t *testing.T) { smokeGocql(t, 4, gocql.SnappyCompressor{}) })
}

func smokeGocql(t *testing.T, version int, compressor gocql.Compressor) {
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

	gocqlSchemaEvent(t, admin, s, keyspace)
	gocqlErrors(t, s, keyspace)
	if err := admin.Query("DROP KEYSPACE " + keyspace).Exec(); err != nil {
		t.Fatal(err)
	}
}

// gocqlSchemaEvent has one session define a table whose keyspace another session has already read:
// without the event the other session would keep its cached metadata.
func gocqlSchemaEvent(t *testing.T, admin, s *gocql.Session, keyspace string) {
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

func gocqlErrors(t *testing.T, s *gocql.Session, keyspace string) {
	t.Helper()
	var exists *gocql.RequestErrAlreadyExists
	err := s.Query("CREATE TABLE rows (k int PRIMARY KEY)").Exec()
	if !errors.As(err, &exists) || exists.Keyspace != keyspace || exists.Table != "rows" {
		t.Errorf("an existing table: %T %v", err, err)
	}
	if err := s.Query("USE " + keyspace).Exec(); !errors.Is(err, gocql.ErrUseStmt) {
		t.Errorf("the driver's own refusal of USE: %v", err)
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
