package model

import "testing"

func TestForm(t *testing.T) {
	for _, of := range []struct{ statement, want string }{
		{"SELECT  a FROM t WHERE k = 'it''s' AND c IN (1, -2.5e3);", "SELECT a FROM t WHERE k = ? AND c IN (?, -?)"},
		{`SELECT "1'" FROM t2 -- all` + "\nLIMIT 10", `SELECT "1'" FROM t2 LIMIT ?`},
		{"UPDATE t SET b = 0xff /* now */ WHERE k = ?", "UPDATE t SET b = ? WHERE k = ?"},
		{"SELECT * FROM t WHERE k = ab7b810e-9dad-11d1-80b4-00c04fd430c8", "SELECT * FROM t WHERE k = ?"},
		{"SELECT * FROM t WHERE k = ? AND a = :a", "SELECT * FROM t WHERE k = ? AND a = :a"},
		{"UPDATE t SET n = n-1, f = $$;$$", "UPDATE t SET n = n-?, f = ?"},
	} {
		if got := Form(of.statement); got != of.want {
			t.Errorf("%s\n got %s\nwant %s", of.statement, got, of.want)
		}
	}
}
