// Package real has tests of the engine on a real TiKV cluster. They are apart from those on the cluster in the process,
// which has client-go take all stores to be alive.
package real
