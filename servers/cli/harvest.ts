#!/usr/bin/env node
// Starts the program, unless Node is too old for it. Nothing large is imported here: an old Node must come as
// far as the sentence, so this file also does without newer syntax.
import { serveWithAllocator } from '../host/allocator.js';
import { nodeProblem } from './node-version.js';

// The thread pool is shared by DNS look-ups, deflate and the stores, so the default of four threads is too
// small. The variable must be set before the first use of the pool.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '8';

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // Returns only if this process goes on.
  serveWithAllocator();
  // Its errors are reported there.
  void import('./program.js');
} else {
  process.stderr.write(`harvest: ${problem}\n`);
  process.exitCode = 1;
}
