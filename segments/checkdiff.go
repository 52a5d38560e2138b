package segments

import "fmt"

// Compare says where a segment is not, byte for byte, what another is that was made
// anew of the same sessions under the same id. Both must be sound by themselves. It
// finds what Check cannot see: values that are wrong and yet fit each other.
func Compare(s, want *Segment) []Fault {
	var faults []Fault
	for i := range want.sections {
		w := &want.sections[i]
		if w.tag == tagPage {
			continue
		}
		g := s.find(w.tag, w.name)
		if g == nil {
			faults = append(faults, Fault{FaultDiffers, w.String(), "missing"})
			continue
		}
		a, b := s.b[g.off:g.off+g.size], want.b[w.off:w.off+w.size]
		if at := difference(a, b); at >= 0 {
			faults = append(faults, Fault{FaultDiffers, w.String(), fmt.Sprintf("%d bytes instead of %d, the first other one at %d", len(a), len(b), at)})
		}
	}
	for i := range s.sections {
		if g := &s.sections[i]; want.find(g.tag, g.name) == nil {
			faults = append(faults, Fault{FaultDiffers, g.String(), "there, though the sessions give nothing for it"})
		}
	}
	return faults
}

// difference is the place of the first byte in which a and b differ, or -1.
func difference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return n
	}
	return -1
}
