// The memory of this process, also when no file can be opened.
let last = 0;

/** Returns the resident bytes of this process; those of the last call if no descriptor is left to read them. */
export function residentBytes(): number {
  try {
    last = process.memoryUsage.rss();
  } catch {
    // The system tells them in a file: EMFILE.
  }
  return last;
}
