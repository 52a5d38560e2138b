// Package owner lets many processes use one archive at once. The first that attaches
// owns it: it opens the engine and answers the others over a Unix socket in the
// archive's folder. When it ends, however it ends, the next caller takes over.
//
// [Attach] gives an [Archive], whose calls are the engine's and whose answers do not
// tell who gave them: errors keep every field, progress is passed on, and a call
// whose context ends is ended where it runs.
//
// Laws:
//   - Only who holds the folder's lock makes or removes the socket and owner.json,
//     the file that names the owner.
//   - No call fails because another process owns the archive, or because it ends or
//     is killed meanwhile: all calls can be repeated, so the caller takes over, or
//     turns to the next owner, and goes on. A session that is being read goes on
//     after the last message that was seen, an import after the last file that was
//     committed.
//   - No call waits for ever: an owner that is silent for Options.Patience is
//     reported as ARCHIVE_BUSY, retryable, with its process id.
//   - An owner that closes ends at once what may take long for others, who go on by
//     themselves; the rest gets Options.Grace to finish.
//   - An owner whose folder, or whose lock, was moved or replaced acknowledges nothing
//     more. Its own calls end with ARCHIVE_REPLACED until it is closed, and those whom
//     it served go to the owner of what is at the path now.
//   - Only processes of the same user are answered or asked.
//
// Caveats: engine.Open shares nothing; while a process uses it, everybody else gets
// ARCHIVE_BUSY after Options.Patience. Answers travel as JSON, in which bytes that
// are no UTF-8 become U+FFFD. Progress comes ten times a second at most. Processes
// must see the same file system. Nothing listens on a network.
package owner
