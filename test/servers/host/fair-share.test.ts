// The order in which sessions share the event loop, over a clock and an event loop of the test.
import fc from 'fast-check';
import t from 'tap';
import { FairShare, type SessionShare } from '../../../servers/host/index.js';
import { assertProperty } from '../../helpers/property.js';

/** The slice of a turn, in milliseconds. */
const SLICE_MS = 0.5;
/** A session with little use may exceed the slice by this factor. */
const LIGHT_FACTOR = 4;
/** Every eighth selection goes to the session that has waited longest. */
const SELECTIONS_PER_OLDEST = 8;

/** A clock that only work moves, and the calls of the next turn. */
class Loop {
  time = 1000;
  turns = 0;
  /** When the last turn began. */
  turnBegan = 1000;
  readonly share: FairShare;
  #next: (() => void)[] = [];

  constructor() {
    this.share = new FairShare({
      sliceMs: SLICE_MS,
      now: () => this.time,
      nextTurn: (callback) => void this.#next.push(callback),
    });
  }

  /** Runs one turn of the event loop, then what waits for promises. */
  async turn(): Promise<void> {
    this.turns += 1;
    this.turnBegan = this.time;
    const calls = this.#next;
    this.#next = [];
    for (const call of calls) call();
    await this.settle();
  }

  /** Lets everything run that waits for promises only. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  get idle(): boolean {
    return this.#next.length === 0;
  }
}

/**
 * A session that executes commands of certain costs, like those of gatherd (promises) or of refererd
 * (callbacks).
 */
interface Plan {
  readonly costs: readonly number[];
  readonly synchronous: boolean;
  readonly address: number;
  /** After how many commands its peer closes. */
  readonly closesAfter: number;
}

/** What one wait looked like. */
interface Wait {
  readonly turns: number;
}

/** A session of a plan. */
class Session {
  done = 0;
  readonly waits: Wait[] = [];
  readonly share: SessionShare;
  finished = false;
  readonly #closed = new AbortController();
  #leave: (() => void) | undefined;
  #began: Wait | undefined;

  constructor(
    readonly loop: Loop,
    readonly plan: Plan,
  ) {
    this.share = loop.share.join(`192.0.2.${plan.address}`);
  }

  start(): void {
    if (this.plan.synchronous) this.#run();
    else void this.#runAsync();
  }

  close(): void {
    this.finished = true;
    this.#leave?.();
    this.#closed.abort();
  }

  #run(): void {
    this.#endWait();
    while (!this.#isDone()) {
      if (!this.share.mayContinue()) {
        this.#beginWait();
        this.#leave = this.share.whenTurn(() => {
          this.#execute();
          this.#run();
        });
        return;
      }
      this.#execute();
    }
  }

  async #runAsync(): Promise<void> {
    while (!this.#isDone()) {
      if (!this.share.mayContinue()) {
        this.#beginWait();
        await this.share.turn(this.#closed.signal);
        this.#endWait();
        if (this.#isDone()) return;
      }
      this.#execute();
      await Promise.resolve();
    }
  }

  #isDone(): boolean {
    const { costs, closesAfter } = this.plan;
    if (this.done >= Math.min(costs.length, closesAfter)) this.finished = true;
    return this.finished;
  }

  #execute(): void {
    const cost = this.plan.costs[this.done] ?? 0;
    this.loop.time += cost;
    this.share.charge(cost);
    this.done += 1;
  }

  #beginWait(): void {
    this.#began = { turns: this.loop.turns };
  }

  #endWait(): void {
    if (this.#began === undefined) return;
    this.waits.push({
      turns: this.loop.turns - this.#began.turns,
    });
    this.#began = undefined;
  }
}

const plans = fc.array(
  fc.record({
    costs: fc.array(fc.constantFrom(0.01, 0.05, 0.3, 1, 5, 30), { minLength: 1, maxLength: 40 }),
    synchronous: fc.boolean(),
    address: fc.integer({ min: 1, max: 4 }),
    closesAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(1000) }, fc.integer({ min: 0, max: 20 })),
  }),
  { minLength: 1, maxLength: 12 },
);

t.test('whatever sessions cost, each comes to its end and none waits for ever', async (t) => {
  let waited = 0;
  await assertProperty(
    fc.asyncProperty(plans, async (all) => {
      const loop = new Loop();
      const sessions = all.map((plan) => new Session(loop, plan));
      for (const session of sessions) session.start();
      await loop.settle();
      // In every turn at least one command is executed.
      const commands = all.reduce((sum, { costs }) => sum + costs.length, 0);
      for (let turn = 0; turn <= commands && !loop.idle; turn++) await loop.turn();
      await loop.turn();
      if (!sessions.every(({ finished }) => finished)) throw new Error('a session has not finished');
      if (loop.share.waiting !== 0 || !loop.idle) throw new Error('something waits for nothing');
      const bound = SELECTIONS_PER_OLDEST * (all.length + 1);
      const waits = sessions.flatMap((session) => session.waits);
      waited += waits.length;
      const longest = Math.max(0, ...waits.map(({ turns }) => turns));
      if (longest > bound) throw new Error(`a session waited ${longest} turns beside ${all.length}`);
    }),
    { numRuns: 100 },
  );
  t.ok(waited > 100, `${waited} waits`);
});

t.test('sessions that are closed while they wait leave nothing', async (t) => {
  let left = 0;
  await assertProperty(
    fc.asyncProperty(plans, fc.integer({ min: 0, max: 10 }), async (all, turns) => {
      const loop = new Loop();
      const sessions = all.map((plan) => new Session(loop, plan));
      for (const session of sessions) session.start();
      for (let turn = 0; turn < turns; turn++) await loop.turn();
      const done = sessions.map((session) => session.done);
      left += loop.share.waiting;
      for (const session of sessions) session.close();
      await loop.settle();
      if (loop.share.waiting !== 0) throw new Error(`${loop.share.waiting} still wait`);
      for (let turn = 0; turn < 3; turn++) await loop.turn();
      if (!loop.idle) throw new Error('turns without sessions');
      if (sessions.some((session, i) => session.done !== done[i])) throw new Error('a closed session worked');
    }),
    { numRuns: 80 },
  );
  t.ok(left > 20, `${left} waited when they were closed`);
});

/** Sessions that never end, of the given cost for each command. */
function startHeavy(loop: Loop, count: number, cost: number, address: (i: number) => number): Session[] {
  const costs = Array.from({ length: 5000 }, () => cost);
  return Array.from({ length: count }, (_, i) => {
    const session = new Session(loop, {
      costs,
      synchronous: i % 2 === 0,
      address: address(i),
      closesAfter: 1e9,
    });
    session.start();
    return session;
  });
}

/** Sends one cheap command after the other, and returns the milliseconds that each has waited. */
async function cheapCommands(loop: Loop, address: number, count: number): Promise<number[]> {
  const costs = Array.from({ length: count }, () => 0.02);
  const times: number[] = [];
  const cheap = loop.share.join(`192.0.2.${address}`);
  for (const cost of costs) {
    // A request that arrives when a turn has just begun is seen when it ends.
    const before = loop.turnBegan;
    let served = cheap.mayContinue();
    if (!served) void cheap.turn().then(() => (served = true));
    for (let turn = 0; turn < 1000 && !served; turn++) await loop.turn();
    times.push(loop.time - before);
    loop.time += cost;
    cheap.charge(cost);
    await loop.turn();
  }
  return times;
}

t.test('a cheap session beside expensive ones waits for about one slice and one command', async (t) => {
  for (const cost of [0.1, 1, 5]) {
    for (const count of [1, 20, 200]) {
      const loop = new Loop();
      const heavy = startHeavy(loop, count, cost, () => 1);
      for (let turn = 0; turn < 300; turn++) await loop.turn();
      const times = await cheapCommands(loop, 2, 100);
      const late = times.filter((time) => time > LIGHT_FACTOR * SLICE_MS + cost).length;
      // Every eighth selection goes to the session that has waited longest.
      t.ok(
        late <= times.length / SELECTIONS_PER_OLDEST + 1,
        `${late} of ${times.length} waited longer, ${count} x ${cost} ms`,
      );
      const most = Math.max(...times);
      t.ok(most <= LIGHT_FACTOR * SLICE_MS + 2 * (cost + SLICE_MS), `at most ${most.toFixed(2)} ms`);
      for (const session of heavy) session.close();
    }
  }
});

t.test('sessions of the middle class get their turn beside light and heavy ones', async (t) => {
  const loop = new Loop();
  const heavy = startHeavy(loop, 10, 5, (i) => 1 + (i % 3));
  for (let turn = 0; turn < 100; turn++) await loop.turn();
  const middle = loop.share.join('198.51.100.1');
  middle.charge(10);
  let served = false;
  const wait = middle.turn().then(() => {
    served = true;
  });
  let turns = 0;
  for (; !served && turns < 1000; turns++) {
    // A new session of a new address in every turn, which has used nothing and comes first.
    for (let i = 0; i < 3; i++)
      loop.share.join(`203.0.113.${(turns * 3 + i) % 250}`).whenTurn(() => (loop.time += 1));
    await loop.turn();
  }
  await wait;
  t.ok(turns <= SELECTIONS_PER_OLDEST * 40, `after ${turns} turns`);
  for (const session of heavy) session.close();
});

t.test('the sessions of one address count together', async (t) => {
  const loop = new Loop();
  const busy = loop.share.join('2001:db8:1:2::1');
  busy.charge(50);
  t.ok(loop.share.join('2001:db8:1:2:3:4:5:6').rank > 0, 'another address of the /64');
  t.ok(
    loop.share.join('2001:db8:1:2::1').rank < busy.rank,
    'a session that has used nothing comes before it',
  );
  t.equal(loop.share.join('2001:db8:1:3::1').rank, 0, 'another /64');
  loop.share.join('::ffff:192.0.2.7').charge(50);
  t.ok(loop.share.join('192.0.2.7').rank > 0, 'IPv4 and the same mapped into IPv6');
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', undefined]) {
    loop.share.join(address).charge(50);
    t.equal(loop.share.join(address).rank, 0, `a proxy on this machine: ${address}`);
  }
  loop.share.join('127.0.0.2').charge(50);
  t.ok(loop.share.join('127.0.0.2').rank > 0, 'another address of loopback is one of a client');
  t.equal(loop.share.join('127.0.0.3').rank, 0);
  loop.time += 60_000;
  t.equal(busy.rank, 0, 'old work does not count');
});
