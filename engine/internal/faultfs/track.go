package faultfs

import (
	"maps"
	"slices"
)

// OpenFiles are the paths of the handles that are not closed, sorted.
func (f *FS) OpenFiles() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for h := range f.open {
		names = append(names, h.path)
	}
	slices.Sort(names)
	return names
}

// Unsynced are the paths of files that were written since they were last synced, sorted.
func (f *FS) Unsynced() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.dirty))
}

// Retried are the paths of files that were synced again after a sync of theirs had
// failed. A system may have thrown the lost pages away: such a success says nothing.
func (f *FS) Retried() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.again))
}

// Restart forgets which syncs have failed: who opens the files anew may sync them.
func (f *FS) Restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.syncs)
}

func (f *FS) wrote(name string, e extent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.n > 0 {
		f.dirty[name] = e
	}
}

func (f *FS) synced(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.dirty, name)
	for gone := range f.removed {
		if f.base.PathDir(gone) == name {
			delete(f.removed, gone) // name is its folder
		}
	}
}

func (f *FS) syncing(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncs[name] > 0 {
		f.again[name]++
	}
}

func (f *FS) unsynced(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs[name]++
}

// gone forgets a file that was removed or made anew.
func (f *FS) gone(name string, removed bool) {
	f.mu.Lock()
	delete(f.dirty, name)
	delete(f.removed, name)
	if removed {
		f.removed[name] = true
	}
	f.mu.Unlock()
	if b := f.budget.Load(); b != nil {
		b.free(name)
	}
}

func (f *FS) moved(from, to string) {
	f.mu.Lock()
	delete(f.removed, to)
	if e, ok := f.dirty[from]; ok {
		f.dirty[to] = e
		delete(f.dirty, from)
	}
	f.mu.Unlock()
	if b := f.budget.Load(); b != nil {
		b.move(from, to)
	}
}
