//go:build !linux && !darwin

package segments

// mapFile maps nothing on this platform.
func mapFile(uintptr, int64) (mapping, bool) { return mapping{}, false }
