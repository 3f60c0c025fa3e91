package system

// traceTables are the tables of keyspace system_traces, which are stored: what requests with the tracing
// flag did.
var traceTables = []declaration{
	{
		name: "events", comment: "tracing events",
		key: "session_id uuid", clustering: "event_id timeuuid",
		columns: "activity text, source inet, source_elapsed int, source_port int, thread text",
	},
	{
		name: "sessions", comment: "tracing sessions",
		key: "session_id uuid",
		columns: `
			client inet, command text, coordinator inet, coordinator_port int, duration int,
			parameters map<text, text>, request text, started_at timestamp`,
	},
}
