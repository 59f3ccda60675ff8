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

/** What {@link serveWithAllocator} looks at; `process` has it all. `execve` is in Node from 22.15 and 23.11 on. */
export interface StartedProcess {
  readonly argv: readonly string[];
  readonly channel?: unknown;
  readonly env: NodeJS.ProcessEnv;
  readonly execArgv: readonly string[];
  readonly execPath: string;
  readonly execve?: ((file: string, args: readonly string[], env: NodeJS.ProcessEnv) => unknown) | undefined;
  readonly platform: string;
}

/**
 * Starts a server that a person has started by hand again, as the same process, with the variables above. Does
 * nothing where they mean nothing, where they are set, for a child with a channel to its parent, which it would lose,
 * and where Node cannot replace a process.
 */
export function serveWithAllocator(started: StartedProcess = process): void {
  const { argv, channel, env, execArgv, execPath, platform } = started;
  if (platform !== 'linux' || channel !== undefined || Object.keys(ALLOCATOR).some((name) => name in env))
    return;
  started.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], serverEnvironment(env));
}
