package advise

// Rules are all rules. The order is that of `cqld advise --rules`.
var Rules = []Rule{
	{"queue", Error, "A table is used as a queue",
		"Deleted rows leave tombstones, which reads from the front of a queue pass until they are purged. Reported if statements delete " +
			"rows, and queries read at least 100 tombstones, 5 or more for each row that they return.", checkQueue},
	{"huge-partition", Error, "A partition is larger than 100 MiB or 100,000 rows",
		"A partition is on one set of replicas, and repair, compaction and reads take it as a whole. Split it by a bucket in the " +
			"partition key. Reported from 100 MiB that a server has measured, or 100,000 rows written.", checkHuge},
	{"unbounded-partition", Warning, "Partitions grow without an end",
		"Rows in the order of time need a bucket, such as the day, in the partition key, or a TTL. Reported if 50 rows or more were written " +
			"to one partition and 20 to each on average, the first clustering column is a time, no column of the partition key is a bucket " +
			"or something that ends, and rows neither expire nor are deleted.", checkUnbounded},
	{"hot-time-partition", Warning, "All writes of a period go to one partition",
		"A partition key that is only a date or another period sends all current writes to the same replicas.", checkHotTime},
	{"boolean-partition-key", Warning, "A partition key has two values",
		"Partitions spread the table over the nodes: two of them do not.", checkBooleanKey},
	{"tiny-partitions", Note, "Buckets have one row each",
		"A query of a longer time has to read many partitions. Reported if 20 or more buckets of one entity have one row each.", checkTiny},
	{"allow-filtering", Warning, "A query needs ALLOW FILTERING",
		"Cassandra reads rows that do not match. A table whose partition key is what the query compares needs no filtering. Within a " +
			"partition or an index it is reported from 100 rows read on average, 10 for each row returned.", checkFiltering},
	{"full-scan", Warning, "A query reads a whole table",
		"Every node reads all of its rows. Reported from 10 executions that read 100 rows on average, without WHERE and LIMIT.", checkScan},
	{"missing-table", Warning, "A query by an index deserves a table",
		"Without the partition key, a secondary index is asked on every node. Reported from 10 executions; storage-attached indexes are " +
			"not reported.", checkMissingTable},
	{"in-many-partitions", Warning, "IN reads many partitions",
		"One coordinator collects all of them, and the slowest decides. Reported from 11 partitions on average, and 10 executions.", checkIn},
	{"select-star", Note, "SELECT * of a wide table",
		"Unneeded columns cost reads, memory and network. Reported from 20 columns and 10 executions.", checkStar},
	{"unprepared", Warning, "Statements are not prepared",
		"Each text is parsed and planned, and drivers do not know the replicas of its partition. Reported from 20 executions with 10 " +
			"different texts of one form; not for scripts.", checkUnprepared},
	{"tombstones-read", Warning, "Reads pass many tombstones",
		"Tombstones are read and sent between replicas like rows. Reported from 100 tombstones in a read on average, 5 for each row " +
			"returned, or 1,000 in one read of a hundred by a server's own statistics.", checkTombstones},
	{"batch-many-partitions", Warning, "A batch writes many partitions",
		"Reported from 11 partitions on average, where Cassandra warns too, and 3 batches.", checkBatch},
	{"logged-batch-bulk-load", Warning, "A logged batch loads rows",
		"A logged batch is for rows that have to change together, as copies of one fact in several tables. Reported if it only inserts " +
			"rows of one table into 5 or more partitions, from 3 batches on.", checkBulk},
	{"read-before-write", Note, "A row is read before it is written",
		"The answer may be outdated when the write arrives. Reported if 10 writes, and 80% of those of the same form, follow a query by the " +
			"whole primary key from the same client.", checkReadBeforeWrite},
	{"hot-conditions", Warning, "Conditional writes meet in one partition",
		"Lightweight transactions of a partition run one after the other. Reported if one partition gets 20 of them and half of the " +
			"table's.", checkHotConditions},
	{"counter-as-sequence", Warning, "A counter is used to make numbers",
		"Counters have no operation that increments and returns. Reported if 10 increments, and 80% of those of the same form, are followed " +
			"by a query of the same counter.", checkSequence},
	{"deleted-counter", Error, "A counter is changed after it was deleted",
		"Cassandra does not define its value.", checkDeletedCounter},
	{"insert-nulls", Warning, "INSERT writes null",
		"Null is a tombstone, even where nothing was. Reported from 10 nulls of one form.", checkNulls},
	{"list-column", Note, "A list is changed by its elements",
		"Appending is not idempotent, and Cassandra reads a list to change or remove elements. Reported from 10 such updates.", checkLists},
	{"growing-collection", Warning, "A collection grows",
		"Cassandra reads a collection as a whole. Reported from 20 updates that add elements for each row on average, without any " +
			"that removes some.", checkGrowing},
	{"index-high-cardinality", Warning, "An index on almost unique values",
		"Each node has its own part of the index: a query asks all of them for one row. Reported if 90% of at least 100 sampled values of a " +
			"secondary index differ.", checkHighCardinality},
	{"index-low-cardinality", Warning, "An index on very few values",
		"The rows of a value are one partition of the index on each node. Reported for booleans, and if at least 100 sampled values " +
			"of a secondary index are 5 or fewer different ones.", checkLowCardinality},
	{"sasi-index", Warning, "A SASI index", "SASI is experimental; Cassandra 5.0 has storage-attached indexes (SAI).", checkSASI},
	{"materialized-view", Note, "A materialized view", "Materialized views are experimental.", checkViews},
	{"ttl-without-twcs", Warning, "A time series with TTL has no time windows",
		"With TimeWindowCompactionStrategy, expired rows are dropped with their files. Reported if the first clustering column is a time, " +
			"rows have a TTL, and the strategy is SizeTieredCompactionStrategy or LeveledCompactionStrategy.", checkTTL},
	{"twcs-without-ttl", Note, "Time windows without TTL",
		"Windows are dropped as a whole when all their rows have expired. Reported from 20 writes without a TTL.", checkNoTTL},
	{"replicas", Warning, "Too few or misplaced replicas",
		"Reported on clusters of three nodes or more: one replica, or SimpleStrategy in several datacenters.", checkReplicas},
	{"unused-table", Note, "A table is not used",
		"Reported from 200 observed statements, if they use half of the tables.", checkUnusedTable},
	{"unread-column", Note, "A column is not read",
		"Reported from 50 observed queries of its table, none of which is SELECT *.", checkUnreadColumn},
}
