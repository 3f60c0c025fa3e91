package advise

// The limits from which on rules report. They suit the traffic of a test and the traffic of a day: a rule compares
// statements with each other where it can, and needs so many of them that a coincidence is unlikely.
const (
	minExecutions = 10 // of a statement's form, unless the statements are a script

	maxPartitionBytes = 100 << 20 // of one partition
	maxPartitionRows  = 100_000

	minGrowth        = 50 // rows written to one partition in the order of time
	minAverageGrowth = 20 // and to each partition on average
	maxDeleteShare   = 0.2

	minFilteredRows = 100 // read by a query within one partition, on average
	minScannedRows  = 100 // read by a query without a WHERE clause, on average
	minRowsPerRow   = 10  // read for each row that is returned

	minInPartitions    = 11 // read by one statement
	minBatchPartitions = 11 // written by one batch: Cassandra warns from there on
	minBulkPartitions  = 5  // of a logged batch of one table
	minBatches         = 3  // of the same forms, unless the statements are a script

	minTombstones       = 100  // read in all
	minTombstonesPerRow = 5    // for each row that is returned
	minTombstonesRead   = 1000 // in one read: Cassandra warns from there on

	minSample       = 100 // rows with a value in an indexed column
	maxFewValues    = 5   // distinct values of a sample
	minUniqueValues = 0.9 // distinct values for each row of a sample

	minHotConditions = 20 // conditional writes of one partition
	minHotShare      = 0.5

	minPairs     = 10 // of statements that follow each other
	minPairShare = 0.8

	minAppends = 20 // to the collections of one partition, on average

	minTinyBuckets = 20 // of one entity, with one row each

	wideColumns = 20 // of a table that SELECT * reads

	minUnprepared      = 20 // executions of one form as texts with values
	minUnpreparedTexts = 10

	enoughStatements = 200 // to call a table unused
	enoughSelects    = 50  // of a table, to call a column unread

	minTTLShare    = 0.5 // of the writes of a time series
	minChangeShare = 0.1 // updates and deletions for each insert, which time windows are not made for
	minWrites      = 20  // of a table with time windows
)
