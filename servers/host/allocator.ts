// What a server asks of the C library's allocator, by its environment.

/**
 * Variables for glibc's malloc; other C libraries ignore them. By default each thread of a server gets an arena of
 * its own, and buffers of up to 32 MiB are cut from arenas once some were freed; what is freed between others stays
 * with the process. After three rounds of 250 slow readers and large queries a Broker kept 2.8 times the memory of
 * its start, with these less than at the start.
 */
const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  // A fixed value, below the size of most objects and pages: such buffers go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '16384',
};

/** The environment for a process that serves: this process's, and what it does not say about the allocator. */
export function serverEnvironment(own: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...own };
}
