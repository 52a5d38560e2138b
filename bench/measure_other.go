//go:build !linux

package main

import "time"

var start = time.Now()

// Elsewhere than on Linux wall time stands for CPU time, and nothing is known of
// memory and load.
func processCPU() time.Duration { return time.Since(start) }
func threadCPU() time.Duration  { return time.Since(start) }
func resetPeak()                {}
func peakRSS() int64            { return 0 }
func load() float64             { return -1 }
func written() int64            { return -1 }
func processor() string         { return "unknown" }
func evict(string) error        { return nil }
