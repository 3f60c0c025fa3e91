package real

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/cluster/tikv"
	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestCollection waits until the safe point of the cluster moves.
func TestCollection(t *testing.T) {
	cluster, err := tikv.Connect(t.Context(), realCluster(t), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	pd := cluster.GetPDClient()
	e, err := tikv.Open(cluster, tikv.Options{Prefix: "cqld-test-collection", Log: zerolog.Nop()}, enginetest.Union)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before, err := pd.UpdateGCSafePoint(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for after := before; after <= before; time.Sleep(time.Second) {
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("the safe point is %d for %v", after, time.Since(began))
		}
		if after, err = pd.UpdateGCSafePoint(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	found("collection of old versions", "the safe point has moved after", time.Since(began).Round(time.Second))
}

// faultLasts is how long a fault lasts.
const faultLasts = 20 * time.Second

// TestOutages has the program that CQLD_TIKV_FAULT names take parts of the cluster away and bring them back, while a
// server writes and reads. It is run as "PROGRAM down PART" and "PROGRAM up PART". PART is store, which is one of them,
// best the leader of most regions; quorum, which is so many that no majority is left; or pd, which is all of PD.
func TestOutages(t *testing.T) {
	address := realCluster(t)
	program := given["FAULT"]
	if program == "" {
		t.Skip("CQLD_TIKV_FAULT names no program that takes parts of the cluster away: outages are not tried")
	}
	binary := build(t)
	p := serve(t, binary, address, fmt.Sprint("cqld-test-", time.Now().Unix()))
	ask(t, p, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask(t, p, "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	writes := local.Measure(p.Addr, "INSERT INTO k.t (a, b) VALUES (1, 1)")
	defer writes.Stop()
	reads := local.Measure(p.Addr, "SELECT b FROM k.t WHERE a = 1")
	defer reads.Stop()
	for _, part := range []string{"store", "quorum", "pd"} {
		t.Run(part, func(t *testing.T) { outage(t, p, program, part, writes, reads) })
	}
	ask(t, p, "DROP KEYSPACE k")
}

// outage takes a part of the cluster away for a while.
func outage(t *testing.T, p *process.Process, program, part string, writes, reads *local.Meter) {
	run := func(what string) {
		if out, err := exec.Command(program, what, part).CombinedOutput(); err != nil {
			t.Fatalf("%s %s %s: %v\n%s", program, what, part, err, out)
		}
	}
	errorsBefore := callErrors(t, p)
	began := time.Now()
	run("down")
	down := time.Now()
	var unready time.Duration // after it was down
	for time.Since(down) < faultLasts {
		if code, _ := get(t, p, "/ready"); code != http.StatusOK && unready == 0 {
			unready = max(time.Since(down), time.Millisecond)
		}
		if code, text := get(t, p, "/health"); code != http.StatusOK {
			t.Errorf("/health answers %d, %s", code, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
	ask(t, p, "SELECT key FROM system.local")
	run("up")
	up := time.Now()
	for what, m := range map[string]*local.Meter{"write": writes, "read": reads} {
		var longest, after time.Duration
		err := local.Eventually(2*time.Minute, func(context.Context) (err error) {
			longest, after, err = m.Pause(began, up)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		found(part+" away for "+faultLasts.String(), "without a "+what+", and after the return", fmt.Sprintf("%.1f s, %.1f s",
			longest.Seconds(), after.Seconds()))
	}
	err := local.Eventually(time.Minute, func(context.Context) error {
		if code, text := get(t, p, "/ready"); code != http.StatusOK {
			return fmt.Errorf("/ready answers %d, %s", code, text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	ready := "never"
	if unready > 0 {
		ready = unready.Round(100 * time.Millisecond).String()
	}
	found(part+" away for "+faultLasts.String(), "/ready is 503 after", ready)
	counted := callErrors(t, p) - errorsBefore
	found(part+" away for "+faultLasts.String(), "calls counted as failed", counted)
	if part != "store" && (unready == 0 || unready > 5*time.Second || counted == 0) {
		t.Errorf("/ready is 503 after %s, and %d calls have failed", ready, counted)
	}
}

var callError = regexp.MustCompile(`(?m)^cqld_engine_call_errors_total\{.*\} (\d+)$`)

// callErrors is how many calls of the engine have failed.
func callErrors(t *testing.T, p *process.Process) (n int) {
	t.Helper()
	_, text := get(t, p, "/metrics")
	for _, m := range callError.FindAllStringSubmatch(text, -1) {
		var of int
		if _, err := fmt.Sscan(m[1], &of); err != nil {
			t.Fatal(err)
		}
		n += of
	}
	return n
}
