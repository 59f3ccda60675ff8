// All servers in one process, as `harvest run` starts them, gathering again and again; the parent asks for
// measurements.
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AllInOne, configFromRoots, type LogName } from '../../servers/all-in-one/index.js';
import { createLogger, type Logger } from '../../servers/host/index.js';
import type { Measurement, ServerAddresses, ToChild } from './messages.js';

const [dataDirectory = '', root = ''] = process.argv.slice(2);
const { config } = configFromRoots([root], { delay: 0, urls: 1000 });
const stop = new AbortController();
let cycles = 0;
/** Resolves when the cycle that runs has ended; the next one waits for `resume`. */
let held: Promise<void> | undefined;
let resume = (): void => {};

function log(name: LogName): Logger {
  return createLogger({ program: name, file: `${dataDirectory}/${name}.log` });
}

async function serve(): Promise<void> {
  await using kit = await AllInOne.start({
    dataDirectory,
    host: '127.0.0.1',
    gatherdPort: 0,
    brokerPort: 0,
    webPort: 0,
    referencesPort: 0,
    config,
    gatherer: { force: true },
    log,
  });
  await kit.cycle(stop.signal, () => {});
  const ready: ServerAddresses = {
    gatherd: kit.gatherd.address.port,
    broker: kit.brokerServer.address.port,
    web: kit.web.address.port,
    references: kit.refererd.address.port,
    site: root,
    objects: kit.broker.store.count,
  };
  process.send?.({ ready });
  while (!stop.signal.aborted) {
    await held;
    await pause(3000, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted || held !== undefined) continue;
    await kit.cycle(stop.signal, () => {});
    cycles += 1;
  }
}

/** Measures when everything that the clients left behind had time to end. */
async function measure(): Promise<Measurement> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await pause(100);
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const files = await readdir('/proc/self/fd').catch(() => []);
  return { rss, heapUsed, external, arrayBuffers, files: files.length, resources, cycles };
}

process.on('message', (message: ToChild) => {
  if (message === 'hold') {
    held ??= new Promise((resolve) => {
      resume = resolve;
    });
  } else if (message === 'measure') {
    void measure().then((measurement) => process.send?.({ measurement }));
  } else if (message === 'resume') {
    held = undefined;
    resume();
  } else {
    stop.abort(new Error('the soak is over'));
    held = undefined;
    resume();
  }
});

try {
  await serve();
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
process.disconnect?.();
