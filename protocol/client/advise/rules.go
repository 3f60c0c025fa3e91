package advise

// Rules are all rules, in the order in which cqld advise --rules lists them.
var Rules = []Rule{
	{
		"queue", Error, "A table is used as a queue",
		"Deleted rows leave tombstones, which reads from the front of a queue pass until they are purged. Reported " +
			"if a client has deleted 10 rows in partitions that it had read before, and queries read at least 100 " +
			"tombstones, 5 or more for each row that they return.",
		"Cassandra's documentation, Data modeling: Logical (patterns and anti-patterns)",
		checkQueue,
	},
	{
		"huge-partition", Error, "A partition is larger than 100 MiB or 100,000 rows",
		"A partition is on one set of replicas, and repair, compaction and reads take it as a whole. Split it by a " +
			"bucket in the partition key. Reported from 100 MiB that a server has measured, or 100,000 rows inserted.",
		"Cassandra's documentation, Data modeling: Refining (100,000 rows, 100 MB)",
		checkHuge,
	},
	{
		"unbounded-partition", Warning, "Partitions grow without an end",
		"Rows in the order of time need a bucket, such as the day, in the partition key, or a TTL. Reported if 50 " +
			"rows or more were inserted into one partition and 20 into each on average, the first clustering column is a " +
			"time, no column of the partition key is a bucket or something that ends, and rows neither expire nor are " +
			"deleted.",
		"Cassandra's documentation, Data modeling: Logical (time series) and Refining (bucketing)",
		checkUnbounded,
	},
	{
		"hot-time-partition", Warning, "All writes of a period go to one partition",
		"A partition key that is only a date or another period sends all current writes to the same replicas.",
		"Cassandra's documentation, Data modeling: Refining (bucketing)",
		checkHotTime,
	},
	{
		"boolean-partition-key", Warning, "A partition key has two values",
		"Partitions spread the table over the nodes: two of them do not.",
		"Cassandra's documentation, Data modeling: Logical (partition keys)",
		checkBooleanKey,
	},
	{
		"tiny-partitions", Note, "Buckets have one row each",
		"A query of a longer time has to read many partitions. Reported if 20 or more buckets of one entity have " +
			"one row each.",
		"Cassandra's documentation, Data modeling: Introduction (as few partitions for a query as possible)",
		checkTiny,
	},
	{
		"allow-filtering", Warning, "A query needs ALLOW FILTERING",
		"Cassandra reads rows that do not match. A table with the compared columns in its partition key needs no " +
			"filtering. Within a partition or an index it is reported from 100 rows read on average, 10 for each row " +
			"returned. Queries that Cassandra refuses without ALLOW FILTERING are reported too.",
		"Cassandra's documentation, CQL: ALLOW FILTERING; one table for each query",
		checkFiltering,
	},
	{
		"full-scan", Warning, "A query reads a whole table",
		"Every node reads all of its rows. Reported from 10 executions that read 100 rows on average, without WHERE " +
			"and LIMIT.",
		"Cassandra's documentation, Data modeling: RDBMS design (query-first)",
		checkScan,
	},
	{
		"missing-table", Warning, "A query by an index deserves a table",
		"Without the partition key, a secondary index is asked on every node. Reported from 10 executions; " +
			"storage-attached indexes are not reported.",
		"Cassandra's documentation, CQL: Secondary indexes; one table for each query",
		checkMissingTable,
	},
	{
		"in-many-partitions", Warning, "IN reads many partitions",
		"One coordinator collects all of them, and the slowest decides. Reported from 10 executions that read 11 " +
			"partitions or more.",
		"cassandra.yaml, partition_keys_in_select_warn_threshold",
		checkIn,
	},
	{
		"select-star", Note, "SELECT * of a wide table",
		"Unneeded columns cost reads, memory and network. Reported from 20 columns and 10 executions.",
		"Cassandra's documentation, Data modeling: Logical (only the attributes that a query needs)",
		checkStar,
	},
	{
		"unprepared", Warning, "Statements are not prepared",
		"Each text is parsed and planned, and drivers do not know the replicas of its partition. Reported from 20 " +
			"executions with 10 different texts of one form; not for scripts.",
		"Cassandra's documentation, CQL: Definitions (prepared statements)",
		checkUnprepared,
	},
	{
		"tombstones-read", Warning, "Reads pass many tombstones",
		"Tombstones are read and sent between replicas like rows. Reported from 100 tombstones in a read on " +
			"average, 5 for each row returned, or 1,000 in one read of a hundred by a server's own statistics.",
		"cassandra.yaml, tombstone_warn_threshold",
		checkTombstones,
	},
	{
		"batch-many-partitions", Warning, "A batch writes many partitions",
		"Reported from 3 batches of 11 partitions or more, where Cassandra warns too.",
		"cassandra.yaml, unlogged_batch_across_partitions_warn_threshold",
		checkBatch,
	},
	{
		"logged-batch-bulk-load", Warning, "A logged batch loads rows",
		"A logged batch is for rows that have to change together, as copies of one fact in several tables. Reported " +
			"if it only inserts rows of one table into 5 or more partitions, from 3 batches on.",
		"Cassandra's documentation, CQL: BATCH",
		checkBulk,
	},
	{
		"read-before-write", Note, "A row is read before it is written",
		"The answer may be outdated when the write arrives. Reported if 10 writes, and 80% of all writes of the " +
			"same form, follow a query by the whole primary key from the same client.",
		"Cassandra's documentation, Data modeling: Logical (transactions as rows instead of a balance)",
		checkReadBeforeWrite,
	},
	{
		"hot-conditions", Warning, "Conditional writes meet in one partition",
		"Lightweight transactions of a partition run one after the other. Reported if one partition gets 20 of them " +
			"and half of the table's.",
		"Cassandra's documentation, Guarantees: Lightweight transactions",
		checkHotConditions,
	},
	{
		"counter-as-sequence", Warning, "A counter is used to make numbers",
		"Counters have no operation that increments and returns. Reported if 10 increments, and 80% of all of the " +
			"same form, are followed by a query of the same counter and an INSERT of the same client.",
		"Cassandra's documentation, CQL: Counters",
		checkSequence,
	},
	{
		"deleted-counter", Error, "A counter is changed after it was deleted",
		"Cassandra does not define its value.",
		"Cassandra's documentation, CQL: Counters (deletion)",
		checkDeletedCounter,
	},
	{
		"insert-nulls", Warning, "INSERT writes null",
		"Null is a tombstone, even where nothing was. Reported from 10 nulls of one form.",
		"Cassandra's documentation, Tombstones",
		checkNulls,
	},
	{
		"list-column", Note, "A list is changed by its elements",
		"Appending is not idempotent, and Cassandra reads a list to change or remove elements. Reported from 10 " +
			"such updates.",
		"Cassandra's documentation, CQL: Lists",
		checkLists,
	},
	{
		"growing-collection", Warning, "A collection grows",
		"Cassandra reads a collection as a whole. Reported from 20 updates that add elements for each row on " +
			"average, without any that removes some.",
		"Cassandra's documentation, CQL: Collections (relatively small amounts of data)",
		checkGrowing,
	},
	{
		"index-high-cardinality", Warning, "An index on almost unique values",
		"Each node has its own part of the index: a query asks all of them for one row. Reported if 90% of at least " +
			"100 sampled values of a secondary index differ, unless all queries give the partition key too.",
		"Cassandra's documentation, CQL: Secondary indexes (when not to use an index)",
		checkHighCardinality,
	},
	{
		"index-low-cardinality", Warning, "An index on very few values",
		"The rows of a value are one partition of the index on each node. Reported for booleans, and if at least " +
			"100 sampled values of a secondary index are 5 or fewer different ones, unless all queries give the " +
			"partition key too.",
		"Cassandra's documentation, CQL: Secondary indexes (when not to use an index)",
		checkLowCardinality,
	},
	{
		"sasi-index", Warning, "A SASI index",
		"SASI is experimental; Cassandra 5.0 has storage-attached indexes (SAI).",
		"Cassandra's NEWS.txt, 4.0: SASI is experimental and disabled by default",
		checkSASI,
	},
	{
		"materialized-view", Note, "A materialized view",
		"Materialized views are experimental.",
		"Cassandra's NEWS.txt, 4.0: views are experimental and disabled by default",
		checkViews,
	},
	{
		"ttl-without-twcs", Warning, "A time series with TTL has no time windows",
		"With TimeWindowCompactionStrategy, expired rows are dropped with their files. Reported if the first " +
			"clustering column is a time, rows have a TTL and are hardly changed, and the strategy is " +
			"SizeTieredCompactionStrategy or LeveledCompactionStrategy.",
		"Cassandra's documentation, Compaction: TimeWindowCompactionStrategy",
		checkTTL,
	},
	{
		"twcs-without-ttl", Note, "Time windows without TTL",
		"Windows are dropped as a whole when all their rows have expired. Reported from 20 writes without a TTL.",
		"Cassandra's documentation, Compaction: TimeWindowCompactionStrategy",
		checkNoTTL,
	},
	{
		"replicas", Warning, "Too few or misplaced replicas",
		"Reported on clusters of three nodes or more: one replica, or SimpleStrategy in several datacenters.",
		"Cassandra's documentation, CQL: CREATE KEYSPACE (NetworkTopologyStrategy)",
		checkReplicas,
	},
	{
		"unused-table", Note, "A table is not used",
		"Reported from 200 observed statements, if they use half of the tables.",
		"Cassandra's documentation, Data modeling: Introduction (tables are made for queries)",
		checkUnusedTable,
	},
	{
		"unread-column", Note, "A column is not read",
		"Reported from 50 observed queries of its table, none of which is SELECT *.",
		"Cassandra's documentation, Data modeling: Logical (only the attributes that a query needs)",
		checkUnreadColumn,
	},
}
