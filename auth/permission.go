package auth

import (
	"math/bits"
	"strings"
)

// Permissions is a set of permissions.
type Permissions uint16

// The permissions, in the order in which Cassandra lists them.
const (
	Create Permissions = 1 << iota
	Alter
	Drop
	Select
	Modify
	Authorize
	Describe
	Execute
	Unmask
	SelectMasked
)

// words are the names of permissions, in their order.
var words = [...]string{
	"CREATE", "ALTER", "DROP", "SELECT", "MODIFY", "AUTHORIZE", "DESCRIBE", "EXECUTE", "UNMASK", "SELECT_MASKED",
}

// Every is the set of all permissions.
const Every Permissions = 1<<len(words) - 1

// ParsePermission is the permission of a name in capitals, 0 if there is none.
func ParsePermission(word string) Permissions {
	for i, w := range words {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// Each are the permissions of the set, one by one.
func (p Permissions) Each() []Permissions {
	all := make([]Permissions, 0, bits.OnesCount16(uint16(p)))
	for i := range words {
		if one := Permissions(1) << i; p&one != 0 {
			all = append(all, one)
		}
	}
	return all
}

// Words are the names of the permissions in the set.
func (p Permissions) Words() []string {
	var all []string
	for i, w := range words {
		if p&(1<<i) != 0 {
			all = append(all, w)
		}
	}
	return all
}

// String is the names with commas between them.
func (p Permissions) String() string { return strings.Join(p.Words(), ", ") }
