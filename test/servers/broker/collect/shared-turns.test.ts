// Brokers that share a store divide the points of a collection.
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { type PointTurn, SharedTurns } from '../../../../servers/broker/collect/point-turns.js';
import type { PointReport } from '../../../../servers/broker/collect/report.js';
import { sharedCollections } from '../../../../servers/broker/collect/shared-state.js';
import { SharedCollections, StaleLeaseError } from '../../../../storage/index.js';
import { rowsWithTime } from '../../../../storage/leases/rows-with-time.js';
import { Level } from '../../../../storage/level/level.js';
import { ManualClock, nextTurn } from '../../../helpers/manual-clock.js';
import { temporaryDirectory } from '../../../helpers/temporary-directory.js';

const log = pino({ enabled: false });
const directory = await temporaryDirectory(t);
const pointsOf = (...ports: number[]) =>
  ports.map((port) => ({ host: 'h', port, type: 1, line: 1 }) as const);
const report = (received: number, complete = true) => ({ received, complete }) as PointReport;
const portsOf = (turn: PointTurn | undefined) => turn?.points.map(({ port }) => port);
let places = 0;

async function scene(t: { teardown(handler: () => unknown): void }) {
  const level = await Level.open(join(directory, String(++places)), { kind: 'broker' });
  t.teardown(() => level.close());
  let now = Date.UTC(2026, 0, 1);
  const rows = rowsWithTime(level, () => now);
  const collections = new SharedCollections(rows);
  const clocks: ManualClock[] = [];
  const joinAs = (owner: string, since: number, points = pointsOf(1, 2, 3)) => {
    const clock = new ManualClock();
    clocks.push(clock);
    const turns = new SharedTurns({
      ...{ collections, owner, points, since, log, clock },
      signal: new AbortController().signal,
      onWait: () => Promise.resolve(),
    });
    return { turns, clock };
  };
  /** Lets time pass for the database and for the Brokers that do not stand still. */
  const pass = async (ms: number, moving = clocks): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      now += 500;
      for (const clock of moving) clock.advance(500);
      for (let i = 0; i < 10; i++) await nextTurn();
    }
  };
  /** Lets time pass until a promise is settled. */
  const passUntil = async (work: Promise<unknown>, moving = clocks): Promise<void> => {
    let isSettled = false;
    void work.finally(() => {
      isSettled = true;
    });
    while (!isSettled) await pass(500, moving);
  };
  return { rows, passUntil, collections, broker: joinAs, pass, now: () => now };
}

t.test('each point is collected from by one of them', async (t) => {
  const { collections, broker, pass, passUntil, now } = await scene(t);
  const since = await collections.request();
  t.equal(await collections.requestedAt(), since);
  const [a, b] = [broker('A', since), broker('B', since)];
  t.same(portsOf(await a.turns.next()), [1]);
  t.same(portsOf(await b.turns.next()), [2]);
  await a.turns.end([report(10)]);
  t.same(portsOf(await a.turns.next()), [3]);
  t.match(await sharedCollections({ collections }), [
    { point: 'gatherer h:1', state: 'last 2026-01-01T00:00:00Z by A, 10 objects received' },
    { point: 'gatherer h:2', state: 'B collects now; not yet collected' },
    { point: 'gatherer h:3', state: 'A collects now; not yet collected' },
  ]);
  await b.turns.end([report(5, false)]);
  const rest = b.turns.next();
  await pass(5000);
  await a.turns.end([report(1)]);
  t.equal(await a.turns.next(), undefined);
  await passUntil(rest);
  t.equal(await rest, undefined, 'it waited for the other one');
  t.match((await collections.last(['gatherer h:2'])).get('gatherer h:2'), { complete: false, owner: 'B' });
  const later = broker('C', since);
  t.equal(await later.turns.next(), undefined, 'what is done is not repeated');
  const next = broker('C', now());
  t.same(portsOf(await next.turns.next()), [1], 'a later request is another one');
});

t.test('the points of a Broker that stands still are taken over; it writes nothing more', async (t) => {
  const { rows, collections, broker, pass, passUntil } = await scene(t);
  const since = await collections.request();
  const [a, b] = [broker('A', since, pointsOf(1)), broker('B', since, pointsOf(1))];
  const former = await a.turns.next();
  const taken = b.turns.next();
  await pass(9500, [b.clock]);
  await rows.exclusive((change) => former!.allow!(change));
  await passUntil(taken, [b.clock]);
  t.same(portsOf(await taken), [1]);
  await t.rejects(
    rows.exclusive((change) => former!.allow!(change)),
    StaleLeaseError,
  );
  const error = await a.turns.end([report(7)]).catch((error: unknown) => error);
  t.ok(a.turns.isLost(error));
  a.clock.advance(20_000);
  t.ok(former?.signal.aborted);
  t.ok(a.turns.isLost(former?.signal.reason));
  await b.turns.end([report(8)]);
  t.match((await collections.last(['gatherer h:1'])).get('gatherer h:1'), { owner: 'B', received: 8 });
  t.equal(await a.turns.next(), undefined);
});

t.test('points of one Gatherer have one turn', async (t) => {
  const { collections, broker } = await scene(t);
  const since = await collections.request();
  const { turns } = broker('A', since, pointsOf(1, 2, 1));
  t.same(portsOf(await turns.next()), [1, 1]);
  await turns[Symbol.asyncDispose]();
  t.same(portsOf(await broker('B', since, pointsOf(1)).turns.next()), [1], 'a closed one leaves its point');
});
