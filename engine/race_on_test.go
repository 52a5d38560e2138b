//go:build race

package engine

// raceDetector is on: memory and time are not those of the program.
const raceDetector = true
