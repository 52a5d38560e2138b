package engine

import "testing"

// TestRankingPolicy holds the order of answers to the transcript of its version.
func TestRankingPolicy(t *testing.T) {
	play(t, "testdata/ranking/v"+RankingPolicyVersion)
}
