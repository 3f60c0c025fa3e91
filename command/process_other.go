//go:build !linux

package command

// sampleProcess takes nothing: this system has no /proc.
func sampleProcess(sample) {}
