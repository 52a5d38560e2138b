package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the CPU time, user and system, of all threads of the process so
// far. Unlike wall time it says the same on a busy machine, within the effect of
// shared caches.
func processCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// threadCPU is that of the calling thread. The caller has locked it.
func threadCPU() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic("clock_gettime: " + err.Error()) // the kernel always has both
	}
	return time.Duration(t.Nano())
}

// resetPeak makes peakRSS count from now. A kernel that refuses leaves the peak of
// the whole process, which is higher.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakRSS is the highest resident size so far in bytes, mapped files included; 0 if
// the kernel does not say.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}

// load is the load average of the last minute, -1 if the kernel does not say.
func load() float64 {
	var l float64
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	if _, err := fmt.Sscan(string(b), &l); err != nil {
		return -1
	}
	return l
}

// written is how many bytes this process has sent to storage so far, less those
// that were removed before they got there; -1 if the kernel does not say.
func written() int64 {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	var sent, cancelled int64
	for line := range strings.Lines(string(b)) {
		_, _ = fmt.Sscanf(line, "write_bytes: %d", &sent) // of one line at most
		_, _ = fmt.Sscanf(line, "cancelled_write_bytes: %d", &cancelled)
	}
	return sent - cancelled
}

// processor names the CPU.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, " \t:\n")
		}
	}
	return "unknown"
}

// evict asks the kernel to forget the cached pages of a file.
func evict(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
