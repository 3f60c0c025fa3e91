package guardrail_test

import (
	"slices"
	"testing"

	"github.com/cqld/cqld/planner/guardrail"
)

// Values that do not fit are refused, in Cassandra's words where it has some.
func TestRefusedValues(t *testing.T) {
	for _, c := range []struct {
		given map[string]string
		want  string
	}{
		{
			map[string]string{"tables_warn_threshold": "5", "tables_fail_threshold": "3"},
			"The warn threshold 5 for tables_warn_threshold should be lower than the fail threshold 3",
		},
		{
			map[string]string{"tables_warn_threshold": "0"},
			"Invalid value for tables_warn_threshold: 0 is not allowed; if attempting to disable use -1",
		},
		{
			map[string]string{"page_size_fail_threshold": "-2"},
			"Invalid value -2 for page_size_fail_threshold: negative values are not allowed, outside of -1 which disables the guardrail",
		},
		{
			map[string]string{"column_value_size_warn_threshold": "2KiB", "column_value_size_fail_threshold": "1KiB"},
			"The warn threshold 2KiB for column_value_size_warn_threshold should be lower than the fail threshold 1KiB",
		},
		{
			map[string]string{"collection_size_warn_threshold": "0B"},
			"Invalid value for collection_size_warn_threshold: 0 is not allowed; if attempting to disable use an empty value",
		},
		{
			map[string]string{"minimum_replication_factor_warn_threshold": "1", "minimum_replication_factor_fail_threshold": "2"},
			"The warn threshold 1 for minimum_replication_factor_warn_threshold should be greater than the fail threshold 2",
		},
		{
			map[string]string{"minimum_replication_factor_fail_threshold": "2"},
			"minimum_replication_factor_fail_threshold to be set (2) cannot be greater than default_keyspace_rf (1)",
		},
		{
			map[string]string{"table_properties_warned": "[comment, nothing]"},
			"table_properties_warned: '[nothing]' do not parse as valid table properties",
		},
		{
			map[string]string{"collection_size_warn_threshold": "5kB"},
			"collection_size_warn_threshold: Invalid data storage: 5kB Accepted units:[BYTES, KIBIBYTES, MEBIBYTES, GIBIBYTES] " +
				"where case matters and only non-negative values are accepted",
		},
		{
			map[string]string{"user_defined_functions_fail_timeout": "400ms"},
			"user_defined_functions_warn_timeout must less than user_defined_function_fail_timeout",
		},
		{
			map[string]string{"user_defined_functions_warn_timeout": "400us"},
			"user_defined_functions_warn_timeout: Invalid duration: 400us Accepted units:[MILLISECONDS, SECONDS, MINUTES, HOURS, " +
				"DAYS] where case matters and only non-negative values.",
		},
		{map[string]string{"read_consistency_levels_warned": "[MOST]"}, "read_consistency_levels_warned: MOST is not a consistency level"},
		{map[string]string{"group_by_enabled": "no"}, `group_by_enabled: "no" is neither true nor false`},
		{map[string]string{"tables_warn_threshold": "many"}, `tables_warn_threshold: "many" is not a number from -2147483648 to 2147483647`},
		{map[string]string{"nothing": "1"}, "nothing is not a setting"},
		{map[string]string{"concurrent_reads": "1"}, "concurrent_reads is a setting of Cassandra that cqld does not have"},
		{
			map[string]string{"read_request_timeout": "1s"},
			"read_request_timeout is not a setting of cqld: the flag --read-timeout has its place",
		},
		{
			map[string]string{"partition_tombstones_warn_threshold": "1"},
			"partition_tombstones_warn_threshold is a setting of Cassandra that would do nothing here: Cassandra looks at " +
				"partitions when it writes SSTables, and writes into its log; cqld has no SSTables",
		},
	} {
		_, err := guardrail.Read(c.given)
		if err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.given, err, c.want)
		}
	}
}

// Settings are shown as Cassandra 5.0.8 shows them.
func TestShown(t *testing.T) {
	s, err := guardrail.Read(map[string]string{
		"tables_warn_threshold": "7", "collection_size_fail_threshold": "5MiB", "maximum_timestamp_warn_threshold": "1h",
		"table_properties_warned": "comment, cdc", "write_consistency_levels_disallowed": "[QUORUM, ONE]",
		"group_by_enabled": "FALSE", "batch_size_warn_threshold": "6KiB", "tombstone_failure_threshold": "12",
		"user_defined_functions_fail_timeout": "2s",
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Shown()
	for _, want := range []guardrail.Shown{
		{Name: "tables_warn_threshold", Value: "7"},
		{Name: "tables_fail_threshold", Value: "-1"},
		{Name: "collection_size_fail_threshold", Value: "5MiB"},
		{Name: "collection_size_warn_threshold", Null: true},
		{Name: "maximum_timestamp_warn_threshold", Value: "1h"},
		{Name: "maximum_timestamp_fail_threshold", Null: true},
		{Name: "table_properties_warned", Value: "[cdc, comment]"},
		{Name: "table_properties_ignored", Value: "[]"},
		{Name: "write_consistency_levels_disallowed", Value: "[ONE, QUORUM]"},
		{Name: "group_by_enabled", Value: "false"},
		{Name: "user_timestamps_enabled", Value: "true"},
		{Name: "batch_size_warn_threshold", Value: "6KiB"},
		{Name: "batch_size_fail_threshold", Value: "50KiB"},
		{Name: "tombstone_failure_threshold", Value: "12"},
		{Name: "sai_vector_term_size_warn_threshold", Value: "16KiB"},
		{Name: "guardrails_apply_to_all", Value: "false"},
		{Name: "user_defined_functions_enabled", Value: "false"},
		{Name: "user_defined_functions_warn_timeout", Value: "500ms"},
		{Name: "user_defined_functions_fail_timeout", Value: "2s"},
	} {
		if !slices.Contains(shown, want) {
			t.Errorf("there is no %+v in %+v", want, shown)
		}
	}
}

// system_views.settings shows Cassandra's settings by their old names too, whose values follow those that were given.
func TestShownWithCassandras(t *testing.T) {
	s, err := guardrail.Read(map[string]string{
		"batch_size_fail_threshold": "2MiB", "user_defined_functions_fail_timeout": "2s",
		"user_defined_functions_enabled": "false", "sai_string_term_size_warn_threshold": "",
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]guardrail.Shown{}
	for _, row := range s.ShownWithCassandras(map[string]string{"read_request_timeout": "7000ms", "authenticator": "X"}) {
		if shown[row.Name] != (guardrail.Shown{}) {
			t.Errorf("%s is there twice", row.Name)
		}
		shown[row.Name] = row
	}
	if len(shown) != 639 {
		t.Errorf("%d settings, want the 638 of Cassandra and guardrails_apply_to_all", len(shown))
	}
	for _, want := range []guardrail.Shown{
		{Name: "batch_size_fail_threshold", Value: "2MiB"},
		{Name: "batch_size_fail_threshold_in_kb", Value: "2048"},
		{Name: "batch_size_warn_threshold_in_kb", Value: "5"},
		{Name: "user_defined_function_fail_timeout", Value: "2000"},
		{Name: "user_defined_function_warn_timeout", Value: "500"},
		{Name: "enable_user_defined_functions", Value: "false"},
		{Name: "sai_string_term_size_warn_threshold", Null: true},
		{Name: "read_request_timeout", Value: "7000ms"},
		{Name: "read_request_timeout_in_ms", Value: "7000"},
		{Name: "authenticator.class_name", Value: "X"},
		{Name: "range_request_timeout_in_ms", Value: "10000"},
		{Name: "concurrent_reads", Value: "32"},
		{Name: "commitlog_directory", Null: true},
		{Name: "audit_logging_options.archive_command"},
		{Name: "guardrails_apply_to_all", Value: "false"},
	} {
		if shown[want.Name] != want {
			t.Errorf("shown is %+v, want %+v", shown[want.Name], want)
		}
	}
}
