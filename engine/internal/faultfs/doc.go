// Package faultfs is a file system with faults to order, for tests. It wraps another
// one, numbers what is asked of it, and lets rules decide the fate of each operation:
// to fail, to be cut short, to be late, to wait. On a crashable file system in memory
// it also makes the disks that a power cut may leave, torn writes included.
//
// Laws:
//   - Every operation has a number, from 1 on, in the order in which they begin.
//   - A failing operation does nothing, unless it is [Short]; its error is a
//     *fs.PathError, as that of a real disk, so it names the file.
//   - Rules are asked on the goroutine of the operation, one after the other; the
//     first error counts. They may sleep or block.
//   - The observer is told of an operation that may have changed the disk after it
//     was done, before its caller goes on.
//
// Caveats: operations of concurrent goroutines are numbered as they come, so equal
// runs need not number equally. Mapped reads are not seen. Preallocation is not
// counted. What is written to a file under two names is counted under the last.
package faultfs
