package guardrail

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// foreignNames are the settings that Cassandra 5.0.8 shows in system_views.settings, a line each.
//
//go:embed foreign.txt
var foreignNames string

// flagsInstead are the settings for which cqld has a flag of another name.
var flagsInstead = map[string]string{
	"cluster_name":                  "--cluster-name",
	"commitlog_sync":                "--commitlog-sync",
	"data_file_directories":         "--data",
	"broadcast_rpc_address":         "--advertise",
	"rpc_address":                   "--listen",
	"native_transport_port":         "--listen",
	"read_request_timeout":          "--read-timeout",
	"range_request_timeout":         "--range-timeout",
	"write_request_timeout":         "--write-timeout",
	"counter_write_request_timeout": "--write-timeout",
}

// without says why some guardrails of Cassandra's are not there.
var without = map[string]string{
	"partition_size":                "Cassandra looks at partitions when it writes SSTables, and writes into its log; cqld has no SSTables",
	"partition_tombstones":          "Cassandra looks at partitions when it writes SSTables, and writes into its log; cqld has no SSTables",
	"sai_sstable_indexes_per_query": "cqld has no SSTables",
	"data_disk_usage_percentage":    "cqld keeps room on its disk by itself and refuses writes when there is none",
	"data_disk_usage_max_disk_size": "cqld keeps room on its disk by itself and refuses writes when there is none",
	"coordinator_read_size":         "cqld does not measure what reads take; pages end after 16 MiB",
	"local_read_size":               "cqld does not measure what reads take; pages end after 16 MiB",
	"row_index_read_size":           "cqld has no row indexes",
	"read_thresholds_enabled":       "cqld does not measure what reads take; pages end after 16 MiB",
}

// refuseForeign is the error of a name that is no setting of cqld.
func refuseForeign(name string) error {
	if f, ok := flagsInstead[name]; ok {
		return fmt.Errorf("%s is not a setting of cqld: the flag %s has its place", name, f)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(name, "_warn_threshold"), "_fail_threshold")
	if reason, ok := without[base]; ok {
		return fmt.Errorf("%s is a setting of Cassandra that would do nothing here: %s", name, reason)
	}
	if slices.Contains(strings.Fields(foreignNames), name) {
		return fmt.Errorf("%s is a setting of Cassandra that cqld does not have", name)
	}
	return fmt.Errorf("%s is not a setting", name)
}
