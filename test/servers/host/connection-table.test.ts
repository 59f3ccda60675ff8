// Which connections a server keeps, how sessions share the event loop, how many lines peers can cause, and how
// fast they must read.
import t from 'tap';
import { addressGroup, isLoopbackGroup } from '../../../servers/host/address-group.js';
import {
  type ConnectionSlot,
  ConnectionTable,
  createLoggerOn,
  FairShare,
  LogLimiter,
  SendWatch,
  type TableLimits,
} from '../../../servers/host/index.js';
import { peerLog } from '../../../servers/host/log-limit.js';
import { ManualClock, nextTurn } from '../../helpers/manual-clock.js';

/** A table and its connections by name. */
class Connections {
  readonly clock = new ManualClock();
  readonly table: ConnectionTable;
  readonly evicted: string[] = [];
  readonly slots = new Map<string, ConnectionSlot>();

  constructor(limits: TableLimits) {
    this.table = new ConnectionTable(() => limits, this.clock);
  }

  /** Admits a connection; returns whether it was. */
  open(name: string, address: string): boolean {
    const slot = this.table.admit(address, () => void this.evicted.push(name));
    if (slot !== undefined) this.slots.set(name, slot);
    return slot !== undefined;
  }

  slot(name: string): ConnectionSlot {
    const slot = this.slots.get(name);
    if (slot === undefined) throw new Error(name);
    return slot;
  }
}

t.test('addresses are counted by IPv4 address and by IPv6 /64', async (t) => {
  t.equal(addressGroup('192.0.2.1'), '192.0.2.1');
  t.equal(addressGroup('::ffff:192.0.2.1'), '192.0.2.1');
  t.equal(addressGroup('::ffff:c000:201'), '192.0.2.1');
  t.equal(addressGroup('2001:db8:1:2:3:4:5:6'), addressGroup('2001:db8:1:2::1'));
  t.not(addressGroup('2001:db8:1:2::1'), addressGroup('2001:db8:1:3::1'));
  t.equal(addressGroup('fe80::1%eth0'), addressGroup('fe80::2'));
  t.equal(addressGroup('::ffff:0:192.0.2.1'), '192.0.2.1', 'translated (RFC 6145)');
  t.equal(addressGroup('64:ff9b::192.0.2.1'), '192.0.2.1', 'translated (RFC 6052)');
  t.notOk(isLoopbackGroup(addressGroup('::2')), 'a neighbor of ::1');
  t.equal(addressGroup('-'), '-');
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    t.ok(isLoopbackGroup(addressGroup(address)), address);
  t.notOk(isLoopbackGroup(addressGroup('192.0.2.1')));
});

t.test('the address with the most connections gives up the one that has waited longest', async (t) => {
  const connections = new Connections({ maxConnections: 4, maxPerAddress: 4 });
  connections.open('a1', '192.0.2.1');
  for (const name of ['b1', 'b2', 'b3']) {
    connections.open(name, '192.0.2.2');
    connections.clock.advance(1);
  }
  t.notOk(connections.open('c1', '192.0.2.3'), 'not in their first seconds');
  connections.clock.advance(5000);
  t.ok(connections.open('c1', '192.0.2.3'));
  t.same(connections.evicted, ['b1']);
  connections.slot('b2').work();
  t.ok(connections.open('d1', '192.0.2.4'));
  t.same(connections.evicted, ['b1', 'b3'], 'a connection with a request stays');
  t.equal(connections.table.size, 4);
  for (const name of ['a1', 'c1', 'd1']) connections.slot(name).work();
  t.notOk(connections.open('e1', '192.0.2.5'), 'if all work, the newcomer is refused');
  connections.slot('a1').release();
  t.ok(connections.open('e2', '192.0.2.5'));
  for (const slot of connections.slots.values()) {
    slot.release();
    slot.waitForInput(true);
    slot.release();
  }
  t.same([connections.table.size, connections.table.addresses], [0, 0], 'nothing is left');
});

t.test('an address at its own limit gives up one of its own', async (t) => {
  const connections = new Connections({ maxConnections: 8 });
  for (const name of ['a1', 'a2', 'a3']) {
    connections.open(name, '2001:db8::1');
    connections.clock.advance(5000);
  }
  t.same(connections.evicted, ['a1'], 'a quarter of all is the default');
  connections.slot('a2').work();
  connections.slot('a3').work();
  t.notOk(connections.open('a4', '2001:db8::2'), 'the same /64');
  t.ok(connections.open('b', '2001:db8:0:1::1'), 'another one');
  for (let i = 0; i < 5; i++) t.ok(connections.open(`local ${i}`, '127.0.0.1'));
  t.same(connections.evicted, ['a1'], 'this machine may use all places');
});

t.test('a connection that was just served is not evicted', async (t) => {
  const connections = new Connections({ maxConnections: 2 });
  connections.open('a', '127.0.0.1');
  connections.open('b', '127.0.0.1');
  for (const name of ['a', 'b']) {
    connections.slot(name).work();
    connections.slot(name).waitForInput(true);
  }
  t.notOk(connections.open('c', '127.0.0.1'));
  connections.clock.advance(4999);
  t.notOk(connections.open('c', '127.0.0.1'));
  connections.clock.advance(1);
  t.ok(connections.open('c', '127.0.0.1'));
  t.same(connections.evicted, ['a']);
});

t.test('bytes of an incomplete request do not extend the first seconds', async (t) => {
  const connections = new Connections({ maxConnections: 2 });
  for (const name of ['slow', 'young']) {
    connections.open(name, '127.0.0.1');
    connections.clock.advance(2500);
  }
  connections.slot('slow').work();
  connections.clock.advance(2500);
  connections.slot('slow').waitForInput(false);
  t.ok(connections.open('newcomer', '127.0.0.1'));
  t.same(connections.evicted, ['slow']);
});

t.test('a client with many connections does not get the place of one with few', async (t) => {
  const connections = new Connections({ maxConnections: 4, maxPerAddress: 4 });
  connections.open('a1', '192.0.2.1');
  for (const name of ['b1', 'b2', 'b3']) {
    connections.open(name, '192.0.2.2');
    connections.slot(name).work();
  }
  connections.clock.advance(5000);
  t.notOk(connections.open('b4', '192.0.2.2'));
  t.ok(connections.open('c1', '192.0.2.3'), 'a client with none gets it');
  t.same(connections.evicted, ['a1']);
});

t.test('a table with many addresses stays exact over many changes', async (t) => {
  const connections = new Connections({ maxConnections: 200, maxPerAddress: 20 });
  let random = 1;
  const next = (below: number): number => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const open = new Map<string, string>();
  for (let i = 0; i < 20_000; i++) {
    connections.clock.advance(200);
    const address = `198.51.100.${next(40)}`;
    if (next(3) > 0) {
      if (connections.open(String(i), address)) open.set(String(i), address);
      for (const name of connections.evicted.splice(0))
        if (!open.delete(name)) throw new Error(`${name} was closed already`);
    } else {
      const name = [...open.keys()][next(Math.max(1, open.size))];
      if (name === undefined) continue;
      const slot = connections.slot(name);
      const action = next(4);
      if (action === 0) {
        slot.release();
        open.delete(name);
      } else if (action === 1) slot.work();
      else if (action === 2) slot.waitForOutput();
      else slot.waitForInput(false);
    }
    if (connections.table.size !== open.size || open.size > 200) throw new Error(`${i}: ${open.size}`);
  }
  t.equal(connections.table.size, open.size);
  for (const name of open.keys()) connections.slot(name).release();
  t.same([connections.table.size, connections.table.addresses], [0, 0]);
});

t.test('a session with much work waits for others in each turn', async (t) => {
  const clock = new ManualClock();
  const fairShare = new FairShare({ sliceMs: 1, now: () => clock.now() });
  const heavy = [fairShare.join(), fairShare.join()];
  const order: string[] = [];
  let running = true;
  const work = heavy.map(async (share, i) => {
    for (let step = 0; step < 1000 && running; step++) {
      if (!share.mayContinue()) await share.turn();
      share.charge(5);
      clock.advance(0.5);
      order.push(`heavy ${i}`);
    }
  });
  // A session of another client becomes ready again and again.
  const light = fairShare.join();
  for (let i = 0; i < 20; i++) {
    await nextTurn();
    if (!light.mayContinue()) await light.turn();
    order.push('light');
  }
  running = false;
  await Promise.all(work);
  const between = order.join('').split('light').slice(1, -1);
  t.ok(
    between.every((text) => text.split('heavy').length - 1 <= 20),
    'at most a few steps of the others come between two of the light session',
  );
  t.ok(order.includes('heavy 0') && order.includes('heavy 1'), 'the heavy sessions continue');
});

t.test('lines beyond the limits are counted instead of written', async (t) => {
  const lines: string[] = [];
  const log = createLoggerOn(
    { write: (line) => void lines.push(JSON.parse(line).msg) },
    { program: 'test', level: 'info' },
  );
  const clock = new ManualClock();
  const limits = {
    connection: { burst: 10, perSecond: 2 },
    address: { burst: 15, perSecond: 10 },
    total: { burst: 18, perSecond: 100 },
  };
  const limiter = new LogLimiter((text) => log.info(text), limits, clock);
  const [first, second] = [peerLog(log, limiter, '192.0.2.1'), peerLog(log, limiter, '192.0.2.1')];
  const other = peerLog(log, limiter, '192.0.2.2');
  for (let i = 0; i < 100; i++) first.info(`first ${i}`);
  for (let i = 0; i < 100; i++) second.warn(`second ${i}`);
  for (let i = 0; i < 100; i++) other.error(`other ${i}`, new Error('why'));
  clock.advance(9_999);
  t.equal(lines.length, 18, 'they are reported every ten seconds');
  clock.advance(1);
  const count = (word: string) => lines.filter((line) => line.includes(word)).length;
  t.same([count('first'), count('second'), count('other')], [10, 5, 3]);
  t.same(lines.slice(-2).sort(), [
    '192.0.2.1: 185 further lines suppressed',
    '192.0.2.2: 97 further lines suppressed',
  ]);
  limiter[Symbol.dispose]();
  t.equal(lines.length, 20, 'they are reported once');
  for (let i = 0; i < 100; i++) first.info('refilled');
  t.equal(count('refilled'), 10, 'the bucket holds no more than its burst');
  clock.advance(1_000);
  for (let i = 0; i < 100; i++) first.info('refilled');
  t.equal(count('refilled'), 12, 'two lines in a second');
  limiter[Symbol.dispose]();
  t.equal(lines.at(-1), '192.0.2.1: 188 further lines suppressed');
});

t.test('the rate of a peer is measured while the server waits for it', async (t) => {
  const clock = new ManualClock();
  let accepted = 0;
  const reasons: string[] = [];
  const watch = new SendWatch(
    { drainTimeoutMs: 100, minBytesPerSecond: 1000 },
    () => accepted,
    (reason) => reasons.push(reason),
    clock,
  );
  watch.start();
  accepted += 150;
  clock.advance(100);
  t.same(reasons, [], '150 bytes in 0.1 s are enough');
  watch.stop();
  clock.advance(250);
  t.same(reasons, [], 'a pause of the server does not count');
  watch.start();
  accepted += 20;
  clock.advance(100);
  t.same(reasons, ['peer accepted only 20 bytes of data for 100 ms']);
  watch.close();
});
