package process

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// metricTime is how long the server may take to tell its metrics.
const metricTime = 2 * time.Second

// Metric asks a server that was started with --http for one of its metrics, named with its labels as it is written
// there; those with other labels behind the name are added up. The connection is closed, so that it is not counted
// among the descriptors.
func (p *Process) Metric(ctx context.Context, name string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, metricTime)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/metrics", p.HTTP), nil)
	if err != nil {
		return 0, err
	}
	ask.Close = true
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	sum, found := 0.0, false
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		sum, found = sum+n, true
	}
	if err := lines.Err(); err != nil || !found {
		return 0, fmt.Errorf("no %s among the metrics: %w", name, err)
	}
	return sum, nil
}
