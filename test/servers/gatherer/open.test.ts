// A failed open closes everything that it opened: threads, locks, timers.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { Mirror } from '../../../servers/gatherer/mirror/mirror.js';
import { checkpointInterval } from '../../../servers/gatherer/run/checkpoints.js';
import { createLogger } from '../../../servers/host/index.js';
import { tcpServer } from '../../helpers/tcp-server.js';

function parseConfig(variables: string): GathererOptions['config'] {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\n${variables}`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

/** Checks that opening a Gatherer fails with this message; returns the number of its threads that still run. */
async function countThreadsLeft(t: Test, options: GathererOptions, message: RegExp): Promise<number> {
  const started: Worker[] = [];
  const onWorker = (event: unknown): void => {
    started.push((event as { worker: Worker }).worker);
  };
  subscribe('worker_threads', onWorker);
  try {
    await t.rejects(Gatherer.open(options), { message });
  } finally {
    unsubscribe('worker_threads', onWorker);
  }
  t.equal(started.length, options.essenceWorkers, 'the threads were started');
  // A thread that has ended has the ID -1.
  return started.filter(({ threadId }) => threadId !== -1).length;
}

t.test('G-141: an unreadable annotation file leaves no thread and no lock', async (t) => {
  const directory = t.testdir();
  const missing = join(directory, 'missing.annotations');
  const options = { directory: join(directory, 'data'), essenceWorkers: 2 };
  const threadsLeft = await countThreadsLeft(
    t,
    { ...options, config: parseConfig(`Annotations: ${missing}\n`) },
    /missing/,
  );
  t.equal(threadsLeft, 0);
  await using again = await Gatherer.open({ ...options, essenceWorkers: 0, config: parseConfig('') });
  t.equal(again.store.summaries.count, 0);
});

t.test('G-95: a cache directory that cannot be created leaves no thread and no lock', async (t) => {
  const directory = t.testdir();
  const working = join(directory, 'tmp');
  writeFileSync(working, 'a file');
  const options = { directory, essenceWorkers: 2 };
  const threadsLeft = await countThreadsLeft(
    t,
    { ...options, config: parseConfig(`Keep-Cache: on\nWorking-Directory: ${working}\n`) },
    /cache/,
  );
  t.equal(threadsLeft, 0);
  await using again = await Gatherer.open({ ...options, essenceWorkers: 0, config: parseConfig('') });
  t.equal(again.store.summaries.count, 0);
});

t.test('G-8: a mirror whose Gatherer cannot be opened releases the lock on its index', async (t) => {
  const directory = t.testdir();
  const missing = join(directory, 'missing.annotations');
  const broken = {
    directory,
    config: parseConfig(`Annotations: ${missing}\n`),
    gatherer: { essenceWorkers: 0 },
  };
  await t.rejects(Mirror.open(broken), { message: /missing/ });
  await using again = await Mirror.open({ ...broken, config: parseConfig('') });
  t.equal(again.index.isComplete, true);
});

t.test(
  'CRAWL-17.3.1 checkpoints at short intervals become rarer, as the parts of logs that they make stay',
  async (t) => {
    t.equal(checkpointInterval(0.001, 0), 60);
    t.equal(checkpointInterval(0.001, 99), 60);
    t.equal(checkpointInterval(0.001, 100), 60_000);
    t.equal(checkpointInterval(5, 1000), 300_000);
    t.equal(checkpointInterval(1e9, 0), 2 ** 31 - 1, 'the longest timer');
  },
);

t.test('a run whose console cannot listen closes its journal, logs, seen filter and timers', async (t) => {
  const port = await tcpServer(t);
  const order = crawlOrderSchema.parse({
    logs: true,
    recoveryJournal: true,
    seen: 'bloom',
    checkpointMinutes: 1,
    console: { port },
  });
  const directory = t.testdir();
  const log = createLogger({ program: 'test', file: join(directory, 'log') });
  const options = { directory, config: parseConfig(''), essenceWorkers: 0, log };
  const countTimers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = countTimers();
  {
    await using gatherer = await Gatherer.open({ ...options, order });
    await t.rejects(gatherer.run(new AbortController().signal), { message: /cannot listen/ });
    t.equal(countTimers(), before);
  }
  await using gatherer = await Gatherer.open({ ...options, order: { ...order, console: undefined } });
  t.equal((await gatherer.run(new AbortController().signal)).end, 'finished');
});
