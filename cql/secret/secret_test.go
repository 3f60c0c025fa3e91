package secret

import "testing"

func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE ROLE r WITH Password = 'p' AND LOGIN = true": "CREATE ROLE r WITH Password *******",
		"ALTER USER u WITH HASHED PASSWORD 'p'":              "ALTER USER u WITH HASHED PASSWORD *******",
		"CREATE ROLE r WITH LOGIN = true":                    "CREATE ROLE r WITH LOGIN = true",
		`ALTER ROLE IF EXISTS "r" WITH SUPERUSER = true AND LOGIN = false`: `ALTER ROLE IF EXISTS "r" WITH SUPERUSER = ` +
			"true AND LOGIN = false",

		// the word is misspelled, missing, or out of place
		"CREATE ROLE r WITH PASWORD = 'p'":               "CREATE ROLE r WITH *******",
		"CREATE ROLE r WITH PASS WORD = p":               "CREATE ROLE r WITH *******",
		"CREATE ROLE r WITH = 'p'":                       "CREATE ROLE r WITH = *******",
		"CREATE ROLE r WITH 'p' = PASSWORD":              "CREATE ROLE r WITH *******",
		"CREATE ROLE r WITH $$p$$ = PASSWORD":            "CREATE ROLE r WITH *******",
		"CREATE ROLE r WITH LOGIN = p":                   "CREATE ROLE r WITH LOGIN = *******",
		"ALTER\n-- of r\nROLE r\nWITH 123":               "ALTER *******",
		"CREATE ROLE r WITH /* p */ PASSWORD = 'p'":      "CREATE ROLE r WITH *******",
		"CREATE 'p' r WITH PASSWORD = ROLE":              "CREATE *******",
		"'p' ROLE r WITH PASSWORD = CREATE":              " *******",
		"BEGIN BATCH CREATE ROLE r WITH PWD = 'p'":       "BEGIN BATCH CREATE ROLE r WITH *******",
		"CREATE ROLE a; CREATE ROLE b WITH PASWORD='p'":  "CREATE ROLE a; *******",
		"CREATE ROLE r WITH 'unended":                    "CREATE ROLE r WITH *******",
		"CREATE USER 'it''s' WITH PASSWORD 'p'":          "CREATE USER *******",
		"ALTER KEYSPACE r WITH PASSWORD 'p'":             "ALTER KEYSPACE r WITH PASSWORD *******",
		"UPDATE system_auth.roles SET salted_hash = 'h'": "UPDATE system_auth.roles SET salted_hash *******",

		// rows with a column of that name
		"INSERT INTO users (id, password) VALUES (1, 'p')":         "INSERT INTO users (id, password *******",
		"INSERT INTO users (id, password) VALUES (?, ?)":           "INSERT INTO users (id, password) VALUES (?, ?)",
		"SELECT password FROM users WHERE id = ?":                  "SELECT password FROM users WHERE id = ?",
		"SELECT id FROM users WHERE name = 'n' AND password = 'p'": "SELECT id FROM users WHERE name = *******",
		"UPDATE users SET name = 'n' WHERE password = ?":           "UPDATE users SET name = 'n' WHERE password = ?",
		"SELECT password FROM users WHERE id = $$p$$":              "SELECT password *******",

		"CREATE TABLE user (k int PRIMARY KEY) WITH id = 'x'": "CREATE TABLE user (k int PRIMARY KEY) WITH id = 'x'",
		"SELECT role FROM t WHERE user = 'x'":                 "SELECT role FROM t WHERE user = 'x'",
		"GRANT SELECT ON t TO ROLE 'r'":                       "GRANT SELECT ON t TO ROLE 'r'",
		"":                                                    "",
	} {
		if got := Hide(text); got != want {
			t.Errorf("%q\nis shown as %q\nnot as      %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"password": true, "HashedPassword": true, "salted_hash": true, "name": false} {
		if Names(name) != want {
			t.Errorf("Names(%q) is %v", name, !want)
		}
	}
}
