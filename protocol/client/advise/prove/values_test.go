package prove

import (
	"slices"
	"testing"
)

// TestBind puts values into texts instead of their markers, and nowhere else.
func TestBind(t *testing.T) {
	for _, one := range []struct {
		text   string
		values []string
		want   string // "": refused
	}{
		{"SELECT a FROM t WHERE k = 1", nil, "SELECT a FROM t WHERE k = 1"},
		{"UPDATE t SET a = ? WHERE k = '?' -- ?", []string{"'it''s ?'"}, "UPDATE t SET a = 'it''s ?' WHERE k = '?' -- ?"},
		{`SELECT "a?" FROM t WHERE k = :key AND c = $$?$$`, []string{"1"}, `SELECT "a?" FROM t WHERE k = 1 AND c = $$?$$`},
		{"INSERT INTO t (k, m) VALUES (?, {'a':true})", []string{"1"}, "INSERT INTO t (k, m) VALUES (1, {'a':true})"},
		{"INSERT INTO t (k, v) VALUES (?, ?)", []string{"1", unset}, "INSERT INTO t (k, v) VALUES (1, ?)"},
		{"INSERT INTO t (k, v) VALUES (?, ?)", []string{"1"}, ""},
		{"INSERT INTO t (k) VALUES (?)", []string{"1", "2"}, ""},
	} {
		if got, ok := bind(one.text, one.values); got != one.want || ok != (one.want != "") {
			t.Errorf("%s with %q: %s, %t", one.text, one.values, got, ok)
		}
	}
}

// TestComparedColumns finds the columns whose values markers can have.
func TestComparedColumns(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT * FROM t WHERE a = ? AND b > ? AND c = 1": {"a", "b"},
		"SELECT * FROM t WHERE a IN ? AND b IN (?, 2, ?)": {"a list", "b", "b"},
		"SELECT * FROM t WHERE a = ? LIMIT ?":             nil,
		"SELECT * FROM t WHERE tags CONTAINS ?":           nil,
		"SELECT * FROM t WHERE token(a) > ?":              nil,
		"UPDATE t SET a = ? WHERE b = ?":                  nil,
	} {
		columns, ok := comparedColumns(text)
		var got []string
		for _, c := range columns {
			name := c.Name
			if c.isList {
				name += " list"
			}
			got = append(got, name)
		}
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %t", text, got, ok)
		}
	}
}

// TestChanges finds functions whose results differ between executions.
func TestChanges(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t (k) VALUES (NOW ( ))":                "now ( )",
		"INSERT INTO t (k) VALUES (uuid())":                 "uuid()",
		"SELECT * FROM t WHERE a < currentTimestamp()":      "currenttimestamp()",
		"INSERT INTO current_orders (now) VALUES ('now()')": "",
		"SELECT mintimeuuid(1) FROM t":                      "",
	} {
		if got := changes(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
