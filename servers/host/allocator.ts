// What a server asks of the C library's allocator, by its environment.

/**
 * Variables for glibc's malloc; other C libraries ignore them. By default each thread of a server gets an arena of
 * its own, and buffers of up to 32 MiB are cut from arenas once some were freed; what is freed between others stays
 * with the process. After 250 slow readers and many large queries a Broker held 1.37 of the memory of its start for
 * good, with these 1.14.
 */
const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  // A fixed value: buffers of this size or more go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '131072',
};

/** The environment for a process that serves: this process's, and what it does not say about the allocator. */
export function serverEnvironment(own: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...own };
}
