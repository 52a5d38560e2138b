//go:build race

package store

// raceEnabled: the race detector makes pools forget and counts its own allocations.
const raceEnabled = true
