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

// Timestamp is TimestampAt of a store that does not wait for a clock of a cluster.
func (s *core) Timestamp() int64 {
	ts, err := s.TimestampAt(s.now())
	if err != nil {
		panic(err)
	}
	return ts
}
