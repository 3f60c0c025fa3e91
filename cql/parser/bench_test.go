package parser

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/antlr4-go/antlr/v4"
)

// benchStatements are what clients send, and the large ones.
func benchStatements() map[string]string {
	var columns, inserts strings.Builder
	for i := range 20 {
		fmt.Fprintf(&columns, "column_%d text, ", i)
	}
	for i := range 100 {
		fmt.Fprintf(&inserts, "INSERT INTO shop.orders (id, line, item) VALUES (%d, 1, 'a thing');\n", i)
	}
	return map[string]string{
		"insert of 5 literals": "INSERT INTO shop.users (id, name, age, active, score) VALUES (1, 'Ada', 36, true, 1.5)",
		"select by key":        "SELECT id, name, age FROM shop.users WHERE id = ?",
		"update with a map": "UPDATE shop.users SET attributes = {'a': 'b', 'c': 'd', 'e': 'f'}, name = 'Ada' " +
			"WHERE id = 1",
		"batch of 100":        "BEGIN BATCH " + inserts.String() + "APPLY BATCH",
		"table of 20 columns": "CREATE TABLE shop.wide (" + columns.String() + "PRIMARY KEY (column_0, column_1))",
		"insert of 7 literals": "INSERT INTO shop.products (id, name, description, price, stock, available, added) VALUES " +
			"(550e8400-e29b-41d4-a716-446655440000, 'A thing', 'It is a thing that somebody wants to have', 19.99, 250, true, " +
			"'2024-03-01 12:00:00+0000') USING TTL 86400 AND TIMESTAMP 1709294400000000",
		"select of 4 clauses": "SELECT id, name, price FROM shop.products WHERE id = 5 AND added > '2024-03-01' " +
			"ORDER BY added DESC LIMIT 20",
		"update with if": "UPDATE shop.products SET name = 'x', price = 5.5, stock = stock - 1, tags = tags + {'a'} " +
			"WHERE id = 5 " +
			"IF available = true",
	}
}

// BenchmarkParse measures Parse, and beside it what of it is ANTLR's lexer and generated parser. cpu-ns is the time
// of the processor, which a busy machine changes less.
func BenchmarkParse(b *testing.B) {
	for name, text := range benchStatements() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			began := cpuTime(processUsage)
			for b.Loop() {
				if _, _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(processUsage)-began)/float64(b.N), "cpu-ns/op")
		})
		b.Run(name+", grammar alone", func(b *testing.B) {
			b.ReportAllocs()
			m := machines.Get().(*machine)
			began := cpuTime(processUsage)
			for b.Loop() {
				m.load(text)
				if _, err := m.attempt(antlr.PredictionModeSLL); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(processUsage)-began)/float64(b.N), "cpu-ns/op")
			m.release()
		})
	}
}

// BenchmarkLongText parses texts of 64 KiB that are refused at their end, the slowest there are.
func BenchmarkLongText(b *testing.B) {
	for name, text := range longTexts() {
		b.Run(name, func(b *testing.B) {
			began := cpuTime(processUsage)
			for b.Loop() {
				if _, _, err := Parse(text); err == nil {
					b.Fatal("is not refused")
				}
			}
			b.ReportMetric(float64(cpuTime(processUsage)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// longTexts repeat what can be repeated up to 64 KiB.
func longTexts() map[string]string {
	texts := map[string]string{}
	for name, parts := range map[string][2]string{
		"selectors":   {"SELECT a", ",a"},
		"arguments":   {"SELECT f(1", ",1"},
		"tuple":       {"SELECT (a", ",a"},
		"sum":         {"SELECT 1", "+1"},
		"values":      {"SELECT a FROM t WHERE k IN (1", ",1"},
		"markers":     {"SELECT a FROM t WHERE k IN (?", ",?"},
		"map":         {"SELECT a FROM t WHERE k = {1:1", ",1:1"},
		"relations":   {"SELECT a FROM t WHERE a=1 AND", " a=1 AND"},
		"assignments": {"UPDATE t SET a=1", ",a=1"},
		"columns":     {"CREATE TABLE t (a int", ",a int"},
		"types":       {"CREATE TABLE t (a tuple<int", ",int"},
		"batch":       {"BEGIN BATCH", " INSERT INTO t (a) VALUES (1)"},
		"permissions": {"GRANT SELECT", ",SELECT"},
		"strings":     {"SELECT ''", ",''"},
		"bad tokens":  {"SELECT a", ",a~"},
	} {
		texts[name] = parts[0] + strings.Repeat(parts[1], (64<<10-len(parts[0]))/len(parts[1]))
	}
	return texts
}

// Whose use of the processors cpuTime tells.
const (
	processUsage = syscall.RUSAGE_SELF
	threadUsage  = 1 // RUSAGE_THREAD, which package syscall does not name
)

// cpuTime is the time that the process, or the thread, has used the processors for.
func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
