// Measures a cheap request alone and beside a flood.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { FloodOptions } from './flood.js';

const FLOOD = fileURLToPath(new URL('./flood.js', import.meta.url));

/**
 * Starts a flood and waits until it has had its {@link FloodOptions.answers}; the returned function ends it.
 */
export async function startFlood(t: Test, port: number, options: FloodOptions): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [FLOOD, String(port), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
}

/** The largest quotient of the two 99th percentiles. */
const MAX_RATIO = 5;
/** Milliseconds that are always allowed: below them the scheduler of a busy machine decides. */
const FLOOR_MS = 25;
const REQUESTS = 60;
const ATTEMPTS = 6;

const timesAlone = new WeakMap<() => Promise<unknown>, number>();

/**
 * Asserts that the 99th percentile of a cheap request beside a flood is at most five times that of the request
 * alone. If it is more, the same flood goes to another server for comparison, because the flooding program
 * takes processor time from the server, and other programs may, too.
 */
export async function assertFair(
  t: Test,
  port: number,
  name: string,
  request: () => Promise<unknown>,
  flood: FloodOptions,
): Promise<void> {
  let line = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Many floods beside the same request: it is measured alone once, and again only if the comparison fails.
    const known = attempt === 0 ? timesAlone.get(request) : undefined;
    const alone = known ?? percentile(await measure(request));
    timesAlone.set(request, alone);
    const beside = await measureBeside(t, port, request, flood);
    line = `${name}: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${flood.connections} flooding clients`;
    let limit = Math.max(FLOOR_MS, MAX_RATIO * alone);
    if (beside > limit) {
      const elsewhere = await measureBeside(t, 0, request, flood);
      line += `, ${elsewhere.toFixed(1)} ms when they flood another server`;
      limit = Math.max(limit, MAX_RATIO * elsewhere);
    }
    if (beside <= limit) {
      t.ok(beside <= limit, line);
      return;
    }
    t.comment(line);
  }
  t.fail(line);
}

async function measureBeside(
  t: Test,
  port: number,
  request: () => Promise<unknown>,
  flood: FloodOptions,
): Promise<number> {
  const stop = await startFlood(t, port, flood);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const times = await measure(request);
  await stop();
  return percentile(times);
}

/** Milliseconds after which a measurement ends before all requests are made. */
const MEASURE_MS = 1000;

async function measure(request: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const begin = performance.now();
  while (times.length < REQUESTS && performance.now() - begin < MEASURE_MS) {
    const before = performance.now();
    await request();
    times.push(performance.now() - before);
    // Other requests of the same client do not follow immediately.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return times;
}

function percentile(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}
