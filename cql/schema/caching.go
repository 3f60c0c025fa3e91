package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// parseCaching reads the caching map.
func parseCaching(m map[string]string) (map[string]string, error) {
	if unknown := unknownKeys(m, "keys", "rows_per_partition"); len(unknown) > 0 {
		return nil, cqlerr.Configf("Invalid caching sub-options %s: only 'keys' and 'rows_per_partition' are allowed",
			HashSet(unknown))
	}
	caching := map[string]string{"keys": "NONE", "rows_per_partition": "NONE"}
	if keys, ok := m["keys"]; ok {
		caching["keys"] = strings.ToUpper(keys)
		if caching["keys"] != "ALL" && caching["keys"] != "NONE" {
			return nil, cqlerr.Configf("Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
				keys)
		}
	}
	if rows, ok := m["rows_per_partition"]; ok {
		r, err := parseRowsPerPartition(rows)
		if err != nil {
			return nil, err
		}
		caching["rows_per_partition"] = r
	}
	return caching, nil
}

// parseRowsPerPartition prints zero rows as NONE and the most as ALL.
func parseRowsPerPartition(s string) (string, error) {
	switch upper := strings.ToUpper(s); upper {
	case "ALL", "NONE":
		return upper, nil
	}
	if !isNumeric(s) {
		return "", cqlerr.Configf("Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', "+
			"'NONE', and integer values are allowed", s)
	}
	n, ok := parseJavaInt(s)
	switch {
	case !ok:
		return "", outOfRange("rows_per_partition", s)
	case n == 0:
		return "NONE", nil
	case n == 1<<31-1:
		return "ALL", nil
	}
	return strconv.Itoa(n), nil
}

// outOfRange refuses a sub-option whose digits are too many for 32 bits, which Cassandra does not expect.
func outOfRange(key, digits string) error {
	return cqlerr.Configf("The value of '%s' is out of range: %s", key, digits)
}

// unknownKeys returns the keys of m that are not among known, by name.
func unknownKeys(m map[string]string, known ...string) []string {
	var unknown []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, k) {
			unknown = append(unknown, k)
		}
	}
	return unknown
}
