// Clients of the Broker that disappear at any moment: every exit of a reply gives back its slot, its connection
// and its timers.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ConnectionError, StorageError } from '../../protocols/errors.js';
import { BrokerServer } from '../../servers/broker/index.js';
import { serveConnection } from '../../servers/broker/server.js';
import { FairShare, type HostConnection } from '../../servers/host/index.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import { waitUntil } from '../helpers/wait-until.js';
import { type BrokerFixture, exchange, openBroker, serveBroker } from '../servers/broker/helpers.js';
import { fillBroker } from './filled-broker.js';

const IDLE = { running: 0, waiting: 0, replies: 0 };

/** One message of every kind of reply; each reply has several pages or lines. */
const MESSAGES = [
  '#USER #END Doc',
  '#USER #interface 2 #END Doc',
  '#USER #desc #attribute Title #attribute Body #END Doc',
  '#USER #index case insensitive #index matchword #opaque #END common',
  '#USER #index nonsense #END #allb',
  '#USER #END title regexp "D.c"',
  '#USER #END nothingmatches',
  '#USER #END unclosed (',
  '#BULK #SINCE 0 #END #allb',
  '#BULK #SINCE 1 #END Doc',
  '#BULK #SINCE 0 #interface 2 #END #allb',
  '#BULK #SINCE 0 #interface 2 #compress #END #allb',
  '#BULK #SINCE 0 #interface 2 #compress #END Doc',
  '#BULK #interface 2 #digest - #END #allb',
  '#BULK #interface 2 #digest 0123456789 #END #allb',
  '#BULK #nonsense',
  '#ADMIN #password "open sesame" #do-stats',
  '#ADMIN #password wrong #do-stats',
  'nonsense',
  '',
] as const;

/** Opens a broker with 200 objects of 4 KB. */
async function openFilled(t: Test, conf = 'Max-Queries 4\n'): Promise<BrokerFixture> {
  const fixture = await openBroker(t, { conf });
  await fillBroker(fixture.broker, 200, (i) => ({
    Title: `Doc ${i}`,
    Description: 'common text',
    Body: `Doc number ${i} of many\n`.repeat(150),
  }));
  return fixture;
}

/** Timers that keep the process alive. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** Open file descriptors; undefined where the system does not list them. */
function countFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

/** Sends the first bytes of a message, waits, and resets the connection. */
async function sendAndReset(port: number, text: string, bytes: number, waitMs: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await Promise.race([once(socket, 'connect'), closed]);
  socket.pause();
  socket.write(`${text}\r\n`.slice(0, bytes));
  await (waitMs < 1 ? new Promise(setImmediate) : sleep(waitMs));
  socket.resetAndDestroy();
  await closed;
}

t.test('a message for the other interface and a reset, 600 times', async (t) => {
  const fixture = await openFilled(t, 'Max-Queries 20\n');
  const server = await serveBroker(t, fixture);
  const { port } = server.address;
  for (let round = 0; round < 12; round++) {
    await Promise.all(
      Array.from({ length: 50 }, () => sendAndReset(port, '#USER #interface 2 #END Doc', 100, 0)),
    );
  }
  await waitUntil(() => server.connections === 0);
  t.same(fixture.broker.queries.load, IDLE);
  t.match(await exchange(port, '#USER #END Doc\r\n'), /130 - object end/);
});

t.test(`resets at any moment leave nothing behind (seed ${SEED})`, async (t) => {
  const fixture = await openFilled(t);
  const server = await serveBroker(t, fixture, { queueWaitMs: 200, repeatVersionMs: 5 });
  const { port } = server.address;
  for (const message of MESSAGES) if (message !== '') await exchange(port, `${message}\r\n`);
  await waitUntil(() => server.connections === 0);
  const timers = countTimers();
  const files = countFiles();
  const random = new Random(SEED);
  for (let round = 0; round < 25; round++) {
    await Promise.all(
      Array.from({ length: 20 }, () => {
        const message = MESSAGES[random.below(MESSAGES.length)] ?? '';
        const whole = !random.once(4);
        return sendAndReset(
          port,
          message,
          whole ? message.length + 2 : random.below(message.length + 2),
          random.below(12),
        );
      }),
    );
  }
  await waitUntil(() => server.connections === 0);
  await waitUntil(() => fixture.broker.queries.load.running + fixture.broker.queries.load.waiting === 0);
  t.same(fixture.broker.queries.load, IDLE);
  await waitUntil(() => countTimers() <= timers);
  t.pass(`${timers} timers before, ${countTimers()} afterwards`);
  if (files !== undefined) await waitUntil(() => (countFiles() ?? 0) <= files);
});

/** How a connection breaks. */
type Breakage = 'rejects' | 'closes' | 'stalls';

/** A connection that breaks at one of its awaits, counted from 0. */
class BreakingConnection implements HostConnection {
  readonly share = new FairShare().join();
  readonly peer = { address: '192.0.2.1', port: 1, name: async () => undefined };
  readonly log = { info: () => {}, warn: () => {}, error: () => {} };
  awaits = 0;
  broken = false;
  ended = false;
  readonly #gone = new AbortController();

  constructor(
    readonly message: string,
    readonly breakAt: number,
    readonly breakage: Breakage,
  ) {}

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    await this.#await();
    yield Buffer.from(this.message.slice(0, 5));
    await this.#await();
    yield Buffer.from(`${this.message.slice(5)}\n`);
  }

  write(): Promise<void> {
    return this.#await();
  }

  deliver(): Promise<void> {
    return this.#await();
  }

  pollEnd(): boolean {
    return false;
  }

  watchEnd(): void {}

  async end(): Promise<void> {
    await this.#await();
    this.ended = true;
  }

  destroy(): void {
    this.#gone.abort();
  }

  async #await(): Promise<void> {
    if (this.broken) throw new ConnectionError('the connection is closed');
    if (this.awaits++ < this.breakAt) {
      await new Promise(setImmediate);
      return;
    }
    this.broken = true;
    const error = new ConnectionError('the peer is gone');
    if (this.breakage === 'stalls') await sleep(5);
    if (this.breakage !== 'rejects') this.#gone.abort(error);
    throw error;
  }
}

t.test('a reply that breaks at any of its awaits gives everything back', async (t) => {
  const { broker } = await openFilled(t);
  const options = {
    broker,
    host: '',
    port: 0,
    log: broker.log,
    messageTimeoutMs: 1000,
    queueWaitMs: 100,
    repeatVersionMs: 1,
  };
  const timers = countTimers();
  for (const message of MESSAGES) {
    for (const breakage of ['rejects', 'closes', 'stalls'] as const) {
      let ended = false;
      let broken = 0;
      for (let at = 0; !ended && at < 200; at += at < 14 ? (breakage === 'stalls' ? 3 : 1) : 23) {
        const connection = new BreakingConnection(message, at, breakage);
        await serveConnection(connection, options).catch((error: unknown) => {
          if (!(error instanceof ConnectionError)) throw error;
        });
        ended = connection.ended;
        if (connection.broken) broken++;
        const { running, waiting, replies } = broker.queries.load;
        if (running + waiting + replies > 0)
          t.fail(`${message}: await ${at} ${breakage}: ${JSON.stringify(broker.queries.load)}`);
      }
      t.ok(broken > 1, `${message.slice(0, 40)}: ${broken} awaits, ${breakage}`);
    }
  }
  await waitUntil(() => countTimers() <= timers);
  t.pass(`${timers} timers before, ${countTimers()} afterwards`);
});

t.test('a reply whose store fails at any read gives everything back', async (t) => {
  const { broker } = await openFilled(t);
  const server = await BrokerServer.listen({ broker, host: '127.0.0.1', port: 0, log: broker.log });
  t.teardown(() => server.close({ graceMs: 0 }));
  const { store } = broker;
  for (const message of MESSAGES.slice(0, 15)) {
    for (let failAt = 0; failAt < 4; failAt++) {
      let reads = 0;
      const failing =
        <A extends unknown[], R>(read: (...values: A) => Promise<R>) =>
        async (...values: A): Promise<R> => {
          if (reads++ === failAt) throw new StorageError('the disk fails');
          return read(...values);
        };
      const { entries, objects, moment } = store;
      const { getMany } = entries;
      Object.assign(entries, { getMany: failing(getMany.bind(entries)) });
      Object.assign(store, {
        objects: failing(objects.bind(store)),
        moment: failing(moment.bind(store)),
      });
      await exchange(server.address.port, `${message}\r\n`).catch(() => '');
      Object.assign(entries, { getMany });
      Object.assign(store, { objects, moment });
      await waitUntil(() => server.connections === 0);
      t.same(broker.queries.load, IDLE, `${message}, read ${failAt}`);
    }
  }
});
