// Clients that leave without their answers, and what they cost the others.
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { ConnectionError } from '../../../protocols/errors.js';
import { ClientWatch } from '../../../servers/broker/query/client-watch.js';
import { QuerySlots } from '../../../servers/broker/query/query-slots.js';
import { FairShare } from '../../../servers/host/index.js';
import { RefusalBrake } from '../../../servers/host/refusal-brake.js';
import { gate } from '../../helpers/gate.js';
import { ManualClock, nextTurn, timerOf, until } from '../../helpers/manual-clock.js';
import { openBroker, serveBroker, withQueryResults } from './helpers.js';

const NEVER = new AbortController().signal;
const VERSION = Buffer.from('200 - a Broker\n');
const SUMMARY = { objects: 0, lines: 0, complete: true };
const QUERY = '#USER #END x\n';

/** A connection that ends when the test says so. */
class Peer {
  readonly written: Uint8Array[] = [];
  polls = 0;
  onEnd: () => void = () => undefined;
  readonly #gone = new AbortController();
  readonly share = new FairShare().join('192.0.2.1');

  constructor(
    readonly isGone: boolean,
    readonly isContended: () => boolean,
  ) {}

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  watchEnd(onEnd: () => void): void {
    this.onEnd = onEnd;
  }

  pollEnd(): boolean {
    this.polls += 1;
    // What it was sent after it had gone was answered with a reset.
    if (this.isGone && this.written.length > 0) this.#gone.abort(new ConnectionError('gone'));
    return true;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.written.push(bytes);
  }

  watch(clock: ManualClock, version: Uint8Array | undefined): ClientWatch {
    const { isContended } = this;
    return new ClientWatch({
      connection: this,
      clock,
      version,
      repeatVersionMs: 15_000,
      probeMs: 1_000,
      isContended,
    });
  }
}

t.test(
  'a client that is gone is noticed at the first bytes after its end, at once while others ask',
  async (t) => {
    const clock = new ManualClock();
    const gone = new Peer(true, () => true);
    const watch = gone.watch(clock, VERSION);
    gone.onEnd();
    t.equal(gone.written.length, 1, 'the version line');
    t.ok(gone.signal.aborted, 'before its query has begun');
    await t.rejects(watch.begin(), ConnectionError);

    const half = new Peer(false, () => true);
    const waits = half.watch(clock, VERSION);
    half.onEnd();
    half.onEnd();
    await waits.begin();
    t.same(half.written, [VERSION], 'one that has only ended its direction gets one line');
    t.notOk(half.signal.aborted);

    const alone = new Peer(false, () => false);
    const running = alone.watch(clock, VERSION);
    alone.onEnd();
    const work = gate();
    const done = running.during(work.opened);
    for (let ms = 2; ms <= 512; ms *= 2) {
      await timerOf(clock, ms);
      t.equal(alone.written.length, 0, `no line while it is the only one, before a look after ${ms} ms`);
      clock.advance(ms);
    }
    await until(() => alone.written.length === 1);
    t.ok(alone.polls >= 9, 'the first looks follow each other soon');
    work.open();
    await done;
    t.same(clock.waiting, [], 'no timer is left');

    const other = new Peer(true, () => true);
    other.watch(clock, undefined);
    other.onEnd();
    t.same(other.written, [], 'a reply that has no such line');
  },
);

t.test(
  'an address whose last requests were left begins its next sessions later, while others are served',
  async (t) => {
    const clock = new ManualClock();
    const brake = new RefusalBrake({ clock });
    const hold = async (address: string): Promise<number> => {
      brake.noteMessage('192.0.2.9');
      brake.noteMessage(address);
      const begun = brake.beforeSession(address, NEVER);
      const [ms = 0] = clock.waiting;
      clock.advance(ms);
      await begun;
      return ms;
    };
    const holds: number[] = [];
    for (let i = 0; i < 12; i++) {
      holds.push(await hold('192.0.2.1'));
      brake.noteAbandoned('192.0.2.1');
    }
    t.same(holds.slice(0, 4), [0, 0, 0, 0], 'a person leaves some pages');
    t.ok((holds[5] ?? 0) >= 50 && Math.max(...holds) <= 1000, `${holds}`);
    t.equal(await hold('192.0.2.2'), 0, 'not another address');
    for (let i = 0; i < 20; i++) brake.noteAbandoned('127.0.0.1');
    t.equal(await hold('127.0.0.1'), 0, 'a proxy has clients of its own');
    brake.noteMessage('192.0.2.9');
    brake.noteMessage('192.0.2.1');
    const stop = new AbortController();
    const sessions = Array.from({ length: 10 }, () =>
      brake.beforeSession('192.0.2.1', stop.signal).catch(() => 'stopped'),
    );
    t.equal(brake.held, 4, 'some of its sessions wait');
    stop.abort();
    t.same(new Set(await Promise.all(sessions)), new Set(['stopped', false]), 'the others may not begin');
    clock.advance(60_000);
    t.equal(await hold('192.0.2.1'), 0, 'it is forgotten');
  },
);

t.test('the next slot is that of the client which has had least lately, whatever it has left', async (t) => {
  const slots = new QuerySlots(() => 1);
  const take = (client: string) => slots.acquire({ client, waitMs: 60_000 });
  // What it asked before is over.
  const busy = await take('busy');
  const end = performance.now() + 5;
  while (performance.now() < end);
  busy?.[Symbol.dispose]();
  const holder = await take('holder');
  const order: string[] = [];
  const later = Array.from({ length: 6 }, async (_, i) => {
    const client = i < 5 ? 'busy' : 'newcomer';
    const slot = await take(client);
    order.push(client);
    slot?.[Symbol.dispose]();
  });
  holder?.[Symbol.dispose]();
  await Promise.all(later);
  t.equal(order[0], 'newcomer');
  t.equal(order.length, 6);
});

t.test('the work of a session counts for the client that it is for', async (t) => {
  const share = new FairShare();
  const session = share.join('127.0.0.1');
  session.charge(50);
  t.equal(share.join('192.0.2.1').rank, 0);
  session.workFor('192.0.2.1');
  session.charge(50);
  t.ok(share.join('192.0.2.1').rank > 0);
  t.equal(share.join('192.0.2.2').rank, 0);
});

/** Sends a query, and leaves in some way when the greeting has arrived, or before. */
const LEAVING: Readonly<Record<string, (port: number, from: string, message: string) => Promise<unknown>>> = {
  'closes after the greeting': async (port, localAddress, message) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).write(message);
    await once(socket, 'data');
    socket.destroy();
  },
  'closes before it': async (port, localAddress, message) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(message, resolve));
    socket.destroy();
  },
  resets: async (port, localAddress, message) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).write(message);
    await once(socket, 'data');
    socket.resetAndDestroy();
  },
  'sends more and closes': async (port, localAddress, message) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).write(`${message}${'more\n'.repeat(5000)}`);
    await once(socket, 'data');
    socket.destroy();
  },
};

async function serveCounted(t: Test) {
  const { broker } = await openBroker(t);
  const counts = { running: 0, most: 0 };
  const counted = withQueryResults(
    broker,
    async function* (signal) {
      counts.running += 1;
      counts.most = Math.max(counts.most, counts.running);
      await new Promise<void>((resolve) => {
        if (signal?.aborted === true) resolve();
        signal?.addEventListener('abort', () => resolve());
      });
      counts.running -= 1;
      yield* [];
      return SUMMARY;
    },
    { running: 2, waiting: 1, replies: 2 },
  );
  const { port } = (await serveBroker(t, { broker: counted })).address;
  return { port, counts };
}

t.test('queries whose clients leave in any way do not run on', async (t) => {
  const { port, counts } = await serveCounted(t);
  for (const [name, leave] of Object.entries(LEAVING)) {
    for (let i = 0; i < 20; i++) await leave(port, `127.0.0.${2 + i}`, QUERY);
    await until(() => counts.running === 0);
    t.ok(counts.most <= 20, `${name}: at most ${counts.most} at a time`);
    await nextTurn();
    counts.most = 0;
  }
});
