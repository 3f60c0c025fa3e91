package schema

import (
	"regexp"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The longest names of keyspaces and tables: Cassandra makes file names of them.
const (
	maxKeyspaceName = 48
	maxTableName    = 222
)

// wordName is what a keyspace's or table's name may be.
var wordName = regexp.MustCompile(`^\w+$`)

// CheckKeyspaceName refuses a name that no keyspace may have, or that only the server's own have.
func CheckKeyspaceName(name string) error {
	if !wordName.MatchString(name) {
		return cqlerr.Invalidf("Keyspace name must not be empty and must contain alphanumeric or underscore "+
			`characters only (got "%s")`, name)
	}
	if len(name) > maxKeyspaceName {
		return cqlerr.Invalidf("Keyspace name must not be more than %d characters long (got %d characters for "+
			`"%s")`, maxKeyspaceName, len(name), name)
	}
	if IsLocal(strings.ToLower(name)) {
		return cqlerr.Invalidf("System keyspace '%s' is not user-modifiable", name)
	}
	return nil
}

// CheckTableName refuses a name that no table may have.
func CheckTableName(keyspace, name string) error {
	if !wordName.MatchString(name) {
		return cqlerr.Configf("%s.%s: Table name must not be empty or not contain non-alphanumeric-underscore "+
			`characters (got "%s")`, keyspace, name, name)
	}
	if len(name) > maxTableName {
		return cqlerr.Configf("%s.%s: Table name must not be more than %d characters long (got %d characters for "+
			`"%s")`, keyspace, name, maxTableName, len(name), name)
	}
	return nil
}
