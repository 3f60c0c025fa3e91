package guardrail

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The settings that are false by default. applyToAll is the one setting that Cassandra does not have.
const (
	applyToAll    = "guardrails_apply_to_all"
	userFunctions = "user_defined_functions_enabled"
)

// threshold is a pair of settings: NAME_warn_threshold and NAME_fail_threshold.
type threshold struct {
	name    string
	unit    unit
	minimum bool // it is about values that are too small
	field   func(*Settings) *Threshold
}

// thresholds are all pairs of settings.
var thresholds = []threshold{
	{"keyspaces", count, false, func(s *Settings) *Threshold { return &s.Keyspaces }},
	{"tables", count, false, func(s *Settings) *Threshold { return &s.Tables }},
	{"columns_per_table", count, false, func(s *Settings) *Threshold { return &s.ColumnsPerTable }},
	{"secondary_indexes_per_table", count, false, func(s *Settings) *Threshold { return &s.SecondaryIndexesPerTable }},
	{"materialized_views_per_table", count, false, func(s *Settings) *Threshold { return &s.MaterializedViewsPerTable }},
	{"fields_per_udt", count, false, func(s *Settings) *Threshold { return &s.FieldsPerUDT }},
	{"vector_dimensions", count, false, func(s *Settings) *Threshold { return &s.VectorDimensions }},
	{"page_size", count, false, func(s *Settings) *Threshold { return &s.PageSize }},
	{"partition_keys_in_select", count, false, func(s *Settings) *Threshold { return &s.PartitionKeysInSelect }},
	{"in_select_cartesian_product", count, false, func(s *Settings) *Threshold { return &s.InSelectCartesianProduct }},
	{"items_per_collection", count, false, func(s *Settings) *Threshold { return &s.ItemsPerCollection }},
	{"column_value_size", bytes, false, func(s *Settings) *Threshold { return &s.ColumnValueSize }},
	{"collection_size", bytes, false, func(s *Settings) *Threshold { return &s.CollectionSize }},
	{"sai_string_term_size", bytes, false, func(s *Settings) *Threshold { return &s.SAIStringTermSize }},
	{"sai_frozen_term_size", bytes, false, func(s *Settings) *Threshold { return &s.SAIFrozenTermSize }},
	{"sai_vector_term_size", bytes, false, func(s *Settings) *Threshold { return &s.SAIVectorTermSize }},
	{"minimum_replication_factor", count, true, func(s *Settings) *Threshold { return &s.MinimumReplicationFactor }},
	{"maximum_replication_factor", count, false, func(s *Settings) *Threshold { return &s.MaximumReplicationFactor }},
	{"maximum_timestamp", micros, false, func(s *Settings) *Threshold { return &s.MaximumTimestamp }},
	{"minimum_timestamp", micros, false, func(s *Settings) *Threshold { return &s.MinimumTimestamp }},
}

// flag is a setting that is true or false. All but applyToAll and userFunctions are true by default.
type flag struct {
	name  string
	field func(*Settings) *bool
}

// flags are all settings that are true or false.
var flags = []flag{
	{applyToAll, func(s *Settings) *bool { return &s.ApplyToAll }},
	{"user_timestamps_enabled", func(s *Settings) *bool { return &s.UserTimestampsEnabled }},
	{"alter_table_enabled", func(s *Settings) *bool { return &s.AlterTableEnabled }},
	{"group_by_enabled", func(s *Settings) *bool { return &s.GroupByEnabled }},
	{"drop_truncate_table_enabled", func(s *Settings) *bool { return &s.DropTruncateTableEnabled }},
	{"drop_keyspace_enabled", func(s *Settings) *bool { return &s.DropKeyspaceEnabled }},
	{"secondary_indexes_enabled", func(s *Settings) *bool { return &s.SecondaryIndexesEnabled }},
	{"uncompressed_tables_enabled", func(s *Settings) *bool { return &s.UncompressedTablesEnabled }},
	{"compact_tables_enabled", func(s *Settings) *bool { return &s.CompactTablesEnabled }},
	{"read_before_write_list_operations_enabled", func(s *Settings) *bool { return &s.ReadBeforeWriteListOperations }},
	{"allow_filtering_enabled", func(s *Settings) *bool { return &s.AllowFilteringEnabled }},
	{"simplestrategy_enabled", func(s *Settings) *bool { return &s.SimpleStrategyEnabled }},
	{"vector_type_enabled", func(s *Settings) *bool { return &s.VectorTypeEnabled }},
	{"zero_ttl_on_twcs_warned", func(s *Settings) *bool { return &s.ZeroTTLOnTWCSWarned }},
	{"zero_ttl_on_twcs_enabled", func(s *Settings) *bool { return &s.ZeroTTLOnTWCSEnabled }},
	{"non_partition_restricted_index_query_enabled", func(s *Settings) *bool { return &s.IndexWithoutPartition }},
	{"intersect_filtering_query_warned", func(s *Settings) *bool { return &s.IntersectFilteringQueryWarned }},
	{"intersect_filtering_query_enabled", func(s *Settings) *bool { return &s.IntersectFilteringQueryEnabled }},
	{userFunctions, func(s *Settings) *bool { return &s.UserFunctionsEnabled }},
}

// number is a setting with one number, which everybody is subject to.
type number struct {
	name  string
	unit  unit
	field func(*Settings) *int64
}

// numbers are all settings with one number.
var numbers = []number{
	{"batch_size_warn_threshold", kibibytes, func(s *Settings) *int64 { return &s.BatchSizeWarn }},
	{"batch_size_fail_threshold", kibibytes, func(s *Settings) *int64 { return &s.BatchSizeFail }},
	{"unlogged_batch_across_partitions_warn_threshold", plain, func(s *Settings) *int64 { return &s.UnloggedPartitionsWarn }},
	{"tombstone_warn_threshold", plain, func(s *Settings) *int64 { return &s.TombstoneWarn }},
	{"tombstone_failure_threshold", plain, func(s *Settings) *int64 { return &s.TombstoneFail }},
	{"default_keyspace_rf", plain, func(s *Settings) *int64 { return &s.DefaultKeyspaceRF }},
	{"user_defined_functions_warn_timeout", millis, func(s *Settings) *int64 { return &s.UserFunctionsWarn }},
	{"user_defined_functions_fail_timeout", millis, func(s *Settings) *int64 { return &s.UserFunctionsFail }},
}

// levelList is a setting with consistency levels.
type levelList struct {
	name  string
	field func(*Settings) *[]cqlerr.Consistency
}

// levelLists are all settings with consistency levels.
var levelLists = []levelList{
	{"read_consistency_levels_warned", func(s *Settings) *[]cqlerr.Consistency { return &s.ReadLevels.Warned }},
	{"read_consistency_levels_disallowed", func(s *Settings) *[]cqlerr.Consistency { return &s.ReadLevels.Disallowed }},
	{"write_consistency_levels_warned", func(s *Settings) *[]cqlerr.Consistency { return &s.WriteLevels.Warned }},
	{"write_consistency_levels_disallowed", func(s *Settings) *[]cqlerr.Consistency { return &s.WriteLevels.Disallowed }},
}

// propertyList is a setting with names of table properties.
type propertyList struct {
	name  string
	field func(*Settings) *[]string
}

// propertyLists are all settings with names of table properties.
var propertyLists = []propertyList{
	{"table_properties_warned", func(s *Settings) *[]string { return &s.TableProperties.Warned }},
	{"table_properties_ignored", func(s *Settings) *[]string { return &s.TableProperties.Ignored }},
	{"table_properties_disallowed", func(s *Settings) *[]string { return &s.TableProperties.Disallowed }},
}

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
	if isCassandras(name) {
		return fmt.Errorf("%s is a setting of Cassandra that cqld does not have", name)
	}
	return fmt.Errorf("%s is not a setting", name)
}
