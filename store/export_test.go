package store

// Helpers of internal tests, for those that use only the public API.
var (
	ApplyForTest     = apply
	CloseForTest     = closeStore
	DefineForTest    = define
	NewTableForTest  = newTable
	OpenForTest      = open
	OpenEngineOfTest = openEngine
	TryOpenForTest   = tryOpen
	AllRows          = all
	ReadRows         = readRows
	MustFold         = mustFold
	WaitForIndexes   = waitForIndexes
	EngineName       = engineName
)
