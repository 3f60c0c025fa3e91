package badger

import "github.com/dgraph-io/badger/v4"

func iteratorOf(prefix string) badger.IteratorOptions {
	return badger.IteratorOptions{Prefix: []byte(prefix)}
}
