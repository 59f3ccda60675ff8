#!/usr/bin/env sh
//usr/bin/env true; case " ${0##*/} $1 " in (*" run "*|*" gatherd "*|*" broker "*|*" refererd "*) export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX-2}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_-16384}" ;; esac; exec node "$0" "$@"
// The line above is a comment to Node. A shell runs Node by it, servers with the variables of servers/host/allocator.ts:
// Node 20 cannot replace its own process, and env -S is missing in some systems.

// Starts the program, unless Node is too old for it. Nothing else is imported here: an old Node must come as
// far as the sentence, so this file also does without newer syntax.
import { nodeProblem } from './node-version.js';

// The thread pool is shared by DNS look-ups, deflate and the stores, so the default of four threads is too
// small. The variable must be set before the first use of the pool.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '8';

/** The programs that serve for a long time, by their names or as the first word after `harvest`. */
const SERVERS = ['run', 'gatherd', 'broker', 'refererd'];

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  void start();
} else {
  process.stderr.write(`harvest: ${problem}\n`);
  process.exitCode = 1;
}

/** Servers start again with the variables of the allocator, where that is possible: then this process goes on there. */
async function start() {
  const words = [(process.argv[1] || '').replace(/^.*[/]/, ''), process.argv[2]];
  if (words.some((word) => word !== undefined && SERVERS.includes(word))) {
    const { serveWithAllocator } = await import('../host/allocator.js');
    serveWithAllocator();
  }
  // Its errors are reported there.
  await import('./program.js');
}
