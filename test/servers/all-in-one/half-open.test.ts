import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AllInOne, configFromRoots } from '../../../servers/all-in-one/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLogger, Listener, TcpHost } from '../../../servers/host/index.js';
import { startRefererd } from '../../../servers/refererd/index.js';
import { publishFixture } from '../../storage/references/fixture.js';

const log = createLogger({ program: 'test', level: 'silent' });

async function directory(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'half-open-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Returns a port that is in use. */
async function takenPort(t: Test): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Returns the resources that keep the process alive: sockets, timers, watchers; without requests that complete on their own. */
function resources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !/Req|Wrap$|Immediate/.test(name) || /^(TCP|Pipe|FSEvent).*Wrap$/.test(name))
    .sort();
}

/** Expects that `open` fails and closes everything that it opened. */
async function failsCleanly(t: Test, open: () => Promise<unknown>, sentence: RegExp): Promise<void> {
  const before = resources();
  await t.rejects(open(), sentence);
  const deadline = performance.now() + 5000;
  while (resources().join() !== before.join() && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 5));
  t.same(resources(), before, 'nothing is left open');
}

const IN_USE = /cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/;
const host = '127.0.0.1';

t.test('listening on several addresses of which one is in use closes the others', async (t) => {
  const port = await takenPort(t);
  const options = { name: 'x', log, port, onConnection: () => {}, onAcceptError: () => {} };
  await failsCleanly(t, () => Listener.open({ ...options, addresses: ['127.0.0.2', host] }), IN_USE);
  await failsCleanly(t, () => TcpHost.listen({ ...options, host }, async () => {}), IN_USE);
});

t.test('gatherd and refererd on a port in use, and over damaged links', async (t) => {
  const port = await takenPort(t);
  const data = await directory(t);
  await publishFixture(data);
  const silent = { writes: () => false, write: () => {} };
  await failsCleanly(t, () => startRefererd({ data, port, log: silent }), IN_USE);
  await failsCleanly(
    t,
    () => startRefererd({ data, port: 0, log: silent, allowFile: join(data, 'none') }),
    /none cannot be read/,
  );
  await writeFile(join(data, 'references', 'CURRENT'), 'damaged');
  await failsCleanly(t, () => startRefererd({ data, port: 0, log: silent }), /CURRENT|damaged|generation/);
  await failsCleanly(t, () => GatherdServer.listen({ generationsDirectory: data, host, port, log }), IN_USE);
});

t.test('all servers in one process: each port in use, and a damaged store', async (t) => {
  const port = await takenPort(t);
  const dataDirectory = await directory(t);
  const { config } = configFromRoots(['http://127.0.0.1/'], {}, dataDirectory);
  const ports = { gatherdPort: 0, brokerPort: 0, webPort: 0, referencesPort: 0 };
  const start = (changes: Partial<typeof ports>) => () =>
    AllInOne.start({ dataDirectory, host, ...ports, ...changes, config, log: () => log });
  for (const name of ['gatherdPort', 'referencesPort', 'brokerPort', 'webPort'] as const) {
    t.comment(name);
    await failsCleanly(t, start({ [name]: port }), /EADDRINUSE/);
  }
  // A store can be opened once at a time, so this succeeds only if everything is closed.
  await (await start({})()).close();
  await rm(join(dataDirectory, 'broker', 'store'), { recursive: true });
  await mkdir(join(dataDirectory, 'broker'), { recursive: true });
  await writeFile(join(dataDirectory, 'broker', 'store'), 'not a directory');
  await failsCleanly(t, start({}), /store/);
});
