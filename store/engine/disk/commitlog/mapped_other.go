//go:build !linux

package commitlog

const mayMap = false

func makeWritable([]byte) {}
