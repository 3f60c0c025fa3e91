package store_test

import "github.com/cqld/cqld/store"

// The helpers under their names in internal tests.
var (
	apply          = store.ApplyForTest
	closeStore     = store.CloseForTest
	define         = store.DefineForTest
	newTable       = store.NewTableForTest
	open           = store.OpenForTest
	openEngine     = store.OpenEngineOfTest
	tryOpen        = store.TryOpenForTest
	all            = store.AllRows
	readRows       = store.ReadRows
	mustFold       = store.MustFold
	waitForIndexes = store.WaitForIndexes
	engineName     = store.EngineName
)
