package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/protocol/client/model"
)

// lifetimeWords are words in the names of partition keys whose rows are written in a limited time.
var lifetimeWords = []string{
	"trip", "ride", "journey", "session", "run", "job", "order", "match", "game", "build", "request", "trace", "batch",
	"invoice", "ticket", "booking", "reservation", "shipment", "flight", "workflow", "execution",
}

// hasLifetime reports whether a partition seems to end some time.
func (t *Table) hasLifetime() bool {
	return slices.ContainsFunc(t.OfKind("partition_key"), func(c model.Column) bool {
		return c.Type == "timeuuid" || hasWord(c, lifetimeWords)
	})
}

// expires reports whether most rows of a table have a TTL.
func (l *look) expires(t *Table) bool {
	if t.Settings.TTL > 0 {
		return true
	}
	u := l.activity[t]
	return u != nil && l.often(u.withTTL) && float64(u.withTTL) >= minTTLShare*float64(u.inserts+u.updates)
}

func checkUnbounded(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u := l.activity[t]
		if t.Of != "" || !t.isTimeSeries() || t.hasBucket() || t.hasLifetime() || l.expires(t) || u == nil {
			continue
		}
		rows := 0
		for _, n := range u.inserted {
			rows += n
		}
		key, n := most(u.inserted)
		ends := float64(u.deletes) > maxDeleteShare*float64(u.inserts)
		if n < minGrowth || rows < minAverageGrowth*len(u.inserted) || ends {
			continue
		}
		first := t.OfKind("clustering")[0].Name
		f := Finding{
			Table: t.FullName(),
			Message: fmt.Sprintf("partitions grow with %s, and nothing in the partition key (%s) ends them", first,
				columnNames(t.OfKind("partition_key"))),
			Better: l.cql(withBucket(t, "_by_day", "day", "date")),
		}
		for _, one := range l.forms {
			if _, ok := one.statement.(*cql.Insert); ok && one.table == t {
				f.Evidence = append(f.Evidence, one.evidence())
			}
		}
		f.Evidence = append(f.Evidence, Evidence{Detail: fmt.Sprintf(
			"%d rows were inserted into partition %s, and %d on average into each of %d partitions", n, key,
			rows/len(u.inserted), len(u.inserted))})
		all = append(all, f)
	}
	return all
}

// timeWords are names of columns with a period of time.
var timeWords = []string{"date", "day", "hour", "minute", "week", "month", "year", "yyyymm", "yyyymmdd", "yyyymmddhh"}

// plannedWords are words in the names of dates that differ from the date of the write.
var plannedWords = []string{
	"birth", "due", "delivery", "start", "end", "departure", "arrival", "check", "checkin", "checkout", "expiry",
	"expiration", "travel", "show", "release", "valid", "target", "scheduled", "planned", "booking", "stay",
}

func checkHotTime(l *look) (all []Finding) {
	for _, t := range l.Tables {
		key := t.OfKind("partition_key")
		if t.Of != "" || !t.isTimeSeries() || len(key) != 1 {
			continue
		}
		if key[0].Type != "date" && !hasWord(key[0], timeWords) || hasWord(key[0], plannedWords) {
			continue
		}
		all = append(all, Finding{
			Table: t.FullName(),
			Message: fmt.Sprintf("all writes of the same %s go to one partition, on the same nodes: the partition key needs "+
				"an entity, or a random bucket", key[0].Name),
			Better: l.cql(withBucket(t, "_by_bucket", "bucket", "int")),
		})
	}
	return all
}

func checkHuge(l *look) (all []Finding) {
	for _, t := range l.Tables {
		var f *Finding
		if t.Partition >= maxPartitionBytes {
			f = &Finding{
				Message:  fmt.Sprintf("the largest partition has %d MiB", t.Partition>>20),
				Evidence: []Evidence{{Detail: "system_views.max_partition_size"}},
			}
		} else if u := l.activity[t]; u != nil {
			if key, n := most(u.inserted); n >= maxPartitionRows {
				f = &Finding{Message: fmt.Sprintf("%d rows were inserted into partition %s", n, key)}
			}
		}
		if f != nil {
			f.Table = t.FullName()
			if len(t.OfKind("clustering")) > 0 {
				f.Better = l.cql(withBucket(t, "_by_bucket", "bucket", "int"))
			}
			all = append(all, *f)
		}
	}
	return all
}

func checkTiny(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u, key := l.activity[t], t.OfKind("partition_key")
		if u == nil || len(key) < 2 || len(t.OfKind("clustering")) == 0 {
			continue
		}
		buckets, rows := map[string]int{}, map[string]int{}
		for k, n := range u.inserted {
			values := splitKey(k)
			if len(values) != len(key) {
				continue
			}
			entity := ""
			for i, c := range key {
				if !isBucket(c) {
					entity += values[i] + ", "
				}
			}
			buckets[entity]++
			rows[entity] += n
		}
		entity, n := most(buckets)
		if entity == "" || n < minTinyBuckets || rows[entity] > n {
			continue
		}
		all = append(all, Finding{
			Table: t.FullName(),
			Message: fmt.Sprintf("%d partitions of %s have one row each: with longer periods, queries read fewer partitions", n,
				strings.TrimSuffix(entity, ", ")),
		})
	}
	return all
}

// splitKey splits the literals of a partition key.
func splitKey(key string) (values []string) {
	quoted, from := false, 0
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] == '\'':
			quoted = !quoted
		case key[i] == ',' && !quoted:
			values = append(values, strings.TrimSpace(key[from:i]))
			from = i + 1
		}
	}
	return append(values, strings.TrimSpace(key[from:]))
}

func checkBooleanKey(l *look) (all []Finding) {
	for _, t := range l.Tables {
		if key := t.OfKind("partition_key"); len(key) == 1 && key[0].Type == "boolean" {
			all = append(all, Finding{
				Table:   t.FullName(),
				Message: "the partition key " + key[0].Name + " has two values, so the table has at most two partitions",
				Better:  l.cql(withBucket(t, "_by_bucket", "bucket", "int")),
			})
		}
	}
	return all
}

func checkTTL(l *look) (all []Finding) {
	for _, t := range l.Tables {
		class := t.Settings.Compaction["class"]
		class = class[strings.LastIndexByte(class, '.')+1:]
		u := l.activity[t]
		changes := u != nil && minChangeShare*float64(u.inserts) < float64(u.updates+u.deletes)
		if t.Of != "" || !t.isTimeSeries() || !l.expires(t) || changes ||
			class != "SizeTieredCompactionStrategy" && class != "LeveledCompactionStrategy" {
			continue
		}
		all = append(all, Finding{
			Table:   t.FullName(),
			Message: "rows in the order of time expire, but " + class + " merges them with rows that do not expire yet",
			Better:  "ALTER TABLE " + t.CQLName() + " WITH compaction = " + timeWindows(window(t.Settings.TTL)) + ";",
		})
	}
	return all
}

// timeWindows are the options of a strategy with windows of one unit.
func timeWindows(unit string) string {
	return "{'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': '" + unit +
		"', 'compaction_window_size': 1}"
}

// window is a unit of time windows, of which a TTL has 10 to 50; 0 is a TTL that statements set.
func window(ttl int64) string {
	if ttl > 0 && ttl < 3*24*3600 {
		return "HOURS"
	}
	return "DAYS"
}

func checkNoTTL(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u := l.activity[t]
		if t.Of != "" || !t.usesTWCS() || l.expires(t) || u == nil || u.withTTL > 0 || u.inserts+u.updates < minWrites {
			continue
		}
		all = append(all, Finding{
			Table:   t.FullName(),
			Message: fmt.Sprintf("none of %d writes has a TTL, so time windows never expire as a whole", u.inserts+u.updates),
			Better:  "ALTER TABLE " + t.CQLName() + " WITH default_time_to_live = 2592000;",
		})
	}
	return all
}
