// Servers that fail to start close everything that they opened: sockets, timers, watchers, stores.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AllInOne, configFromRoots } from '../../../servers/all-in-one/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLogger, Listener, TcpHost } from '../../../servers/host/index.js';
import { startRefererd } from '../../../servers/refererd/index.js';
import { tcpServer } from '../../helpers/tcp-server.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { publishFixture } from '../../storage/references/fixture.js';

const log = createLogger({ program: 'test', level: 'silent' });

/**
 * Returns the sockets, timers and watchers that keep the process alive, without requests that complete on their
 * own.
 */
function activeResources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !/Req|Wrap$|Immediate/.test(name) || /^(TCP|Pipe|FSEvent).*Wrap$/.test(name))
    .sort();
}

/** Checks that `open` fails with this message and closes everything that it opened. */
async function checkCleanFailure(t: Test, open: () => Promise<unknown>, message: RegExp): Promise<void> {
  const before = activeResources();
  await t.rejects(open(), message);
  await waitUntil(() => activeResources().join() === before.join());
  t.pass('nothing is left open');
}

const IN_USE = /cannot listen on 127\.0\.0\.1:\d+: the port is in use by this process/;
const host = '127.0.0.1';

t.test('if one of several addresses is in use, the others are closed', async (t) => {
  const port = await tcpServer(t);
  const options = { name: 'x', log, port, onConnection: () => {}, onAcceptError: () => {} };
  await checkCleanFailure(t, () => Listener.open({ ...options, addresses: ['127.0.0.2', host] }), IN_USE);
  await checkCleanFailure(t, () => TcpHost.listen({ ...options, host }, async () => {}), IN_USE);
});

t.test('gatherd and refererd fail cleanly on a port in use and over damaged data', async (t) => {
  const port = await tcpServer(t);
  const data = await temporaryDirectory(t);
  await publishFixture(data);
  const silent = { writes: () => false, write: () => {} };
  await checkCleanFailure(t, () => startRefererd({ data, port, log: silent }), IN_USE);
  await checkCleanFailure(
    t,
    () => startRefererd({ data, port: 0, log: silent, allowFile: join(data, 'none') }),
    /none cannot be read/,
  );
  // A damaged CURRENT is not enough: the newest whole generation is then served.
  await writeFile(join(data, 'references', '1', 'SUMS'), 'damaged');
  await checkCleanFailure(
    t,
    () => startRefererd({ data, port: 0, log: silent }),
    /CURRENT|damaged|generation/,
  );
  await checkCleanFailure(
    t,
    () => GatherdServer.listen({ generationsDirectory: data, host, port, log }),
    IN_USE,
  );
});

t.test('the servers of one process fail cleanly on a port in use and over a damaged store', async (t) => {
  const port = await tcpServer(t);
  const dataDirectory = await temporaryDirectory(t);
  const { config } = configFromRoots(['http://127.0.0.1/'], {});
  const ports = { gatherdPort: 0, brokerPort: 0, webPort: 0, referencesPort: 0 };
  const start = (changes: Partial<typeof ports>) => () =>
    AllInOne.start({ dataDirectory, host, ...ports, ...changes, config, log: () => log });
  for (const name of ['gatherdPort', 'referencesPort', 'brokerPort', 'webPort'] as const) {
    t.comment(name);
    await checkCleanFailure(t, start({ [name]: port }), IN_USE);
  }
  // A store has one user at a time, so this succeeds only if every failed start has closed it.
  await (await start({})()).close();
  await rm(join(dataDirectory, 'broker', 'store'), { recursive: true });
  await mkdir(join(dataDirectory, 'broker'), { recursive: true });
  await writeFile(join(dataDirectory, 'broker', 'store'), 'not a directory');
  await checkCleanFailure(t, start({}), /store/);
});
