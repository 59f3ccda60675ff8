// A Broker that cannot open or listen closes everything that it opened. The tests read /proc/self/fd.
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { Broker, type BrokerOptions, WebServer } from '../../../servers/broker/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { brokerConfig, openBroker } from './helpers.js';

/** Returns the open files of this process below a directory. */
async function openFiles(directory: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd');
  const paths = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(`${directory}/`));
}

/** Waits until no file is open, and returns what is. */
async function filesLeftOpen(directory: string): Promise<string[]> {
  await waitUntil(async () => (await openFiles(directory)).length === 0);
  return openFiles(directory);
}

const optionsFor = (directory: string, conf = ''): BrokerOptions => ({
  config: brokerConfig(directory, conf),
  log: createLoggerOn({ write: () => undefined }, { json: false, program: 'broker' }),
  points: [],
});

t.test('a failed open closes every file', async (t) => {
  const directory = await temporaryDirectory(t);

  await t.rejects(Broker.open(optionsFor(directory, 'Indexer-Type none-such\n')), /none-such/);
  t.same(await filesLeftOpen(directory), [], 'after an unknown indexer');

  await writeFile(join(directory, 'index'), 'not a directory');
  await t.rejects(Broker.open(optionsFor(directory)), 'the index cannot be opened');
  t.same(await filesLeftOpen(directory), [], 'after an index that cannot be opened');
  await rm(join(directory, 'index'));

  await rm(join(directory, 'store'), { recursive: true });
  await writeFile(join(directory, 'store'), 'not a directory');
  await t.rejects(Broker.open(optionsFor(directory)), StorageError);
  t.same(await filesLeftOpen(directory), [], 'after a store that cannot be opened');
  await rm(join(directory, 'store'));

  const failure = new Error('the clock is broken');
  let calls = 0;
  const now = (): number => {
    if (++calls > 1) throw failure;
    return 1_000_000_000;
  };
  await t.rejects(Broker.open({ ...optionsFor(directory), now }));
  t.same(await filesLeftOpen(directory), [], 'after a failure of the first cleaning');

  const broker = await Broker.open(optionsFor(directory));
  t.not((await openFiles(directory)).length, 0, 'an open broker has open files');
  await Promise.all([broker.close(), broker.close()]);
  t.same(await filesLeftOpen(directory), [], 'after the close');
});

t.test('web pages that cannot listen leave no socket open', async (t) => {
  const { broker } = await openBroker(t);
  const address = {
    broker,
    brokerAddress: { host: '127.0.0.1', port: 1 },
    host: '127.0.0.1',
    log: broker.log,
  };
  await using first = await WebServer.listen({ ...address, port: 0 });
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP'));
  const before = sockets();
  await t.rejects(WebServer.listen({ ...address, port: first.address.port }), /cannot listen/);
  await waitUntil(() => sockets().length <= before.length);
  t.same(sockets(), before);
});

t.test('a broker can be started only once', async (t) => {
  const { broker } = await openBroker(t);
  await broker.start('nocol');
  await t.rejects(broker.start('nocol'), StateError);
});
