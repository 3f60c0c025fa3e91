//go:build !unix

package command

import "time"

// processorTime is 0: it is not known how much time of processors the process has used.
func processorTime() time.Duration { return 0 }
