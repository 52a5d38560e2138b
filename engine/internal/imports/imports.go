// Package imports holds the import law of the module as a test: who may import
// whom, and which package is the one door to each dependency.
package imports
