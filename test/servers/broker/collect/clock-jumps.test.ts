// The clocks of a Gatherer and of Brokers jump before, between and during collections.
import t, { type Test } from 'tap';
import { decodeSoif, type SoifObject } from '../../../../protocols/soif/index.js';
import { GatherdServer, MemoryDatabase } from '../../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../../servers/host/index.js';
import { Clock, pointAt, startPeer } from '../bulk/brokers.js';
import { document, findUrls, NOW, openBroker, soif, startScripted } from '../helpers.js';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
/** Later than the year of the program, so that a clock a year behind is a possible one. */
const START = NOW + 2 * YEAR;
const JUMPS = [MINUTE, HOUR, YEAR, 10 * YEAR].flatMap((jump) => [jump, -jump]);

const log = createLoggerOn({ write() {} }, { program: 'gatherd' });

/** A gatherd with its own clock, whose objects a test changes. */
class TestGatherer {
  readonly clock = new Clock();
  readonly database: MemoryDatabase;

  private constructor(
    readonly port: () => number,
    database: MemoryDatabase,
    clock: Clock,
  ) {
    this.database = database;
    this.clock = clock;
  }

  static async start(t: Test): Promise<TestGatherer> {
    const clock = new Clock();
    clock.now = START;
    const database = new MemoryDatabase({ name: 'G', host: 'g.test', version: '1', now: clock.read });
    const server = await GatherdServer.listen({
      source: database,
      host: '127.0.0.1',
      port: 0,
      hostname: 'g.test',
      log,
      lingerMs: 200,
    });
    t.teardown(() => server.close({ graceMs: 0 }));
    return new TestGatherer(() => server.address.port, database, clock);
  }

  put(name: string, title: string): void {
    this.database.put(this.object(name, title));
  }

  object(name: string, title: string): SoifObject {
    const times = { 'Update-Time': String(this.clock.now), 'Time-to-Live': '2419200' };
    return decodeSoif(Buffer.from(soif(urlOf(name), { Title: title, ...times })));
  }

  get point() {
    return { host: '127.0.0.1', port: this.port(), type: 3, line: 1 } as const;
  }
}

const urlOf = (name: string): string => `http://h.test/${name}`;
const both = [urlOf('changed'), urlOf('same')];

for (const who of ['the Gatherer', 'the Broker', 'both'] as const) {
  t.test(`the clock of ${who} jumps for one round`, async (t) => {
    for (const jump of JUMPS) {
      const gatherer = await TestGatherer.start(t);
      const clock = new Clock();
      const { broker, log } = await openBroker(t, { now: clock.read, points: [gatherer.point] });
      const set = (seconds: number, wrong: number): void => {
        gatherer.clock.now = START + seconds + (who === 'the Broker' ? 0 : wrong);
        clock.now = START + seconds + (who === 'the Gatherer' ? 0 : wrong);
      };
      set(0, 0);
      for (const name of ['changed', 'same', 'third', 'fourth']) gatherer.put(name, 'first');
      await broker.collections.run();
      t.equal(broker.store.count, 4);

      set(HOUR, jump);
      for (const name of ['changed', 'same', 'third', 'fourth']) gatherer.put(name, 'second');
      await broker.collections.run();
      // A cleaning by the timetable.
      await broker.maintenance.clean();

      set(2 * HOUR, 0);
      // The document changed before this collection, and before the Broker repaired its times.
      gatherer.clock.now -= MINUTE;
      gatherer.put('changed', 'third');
      // A Gatherer of ours has repaired the other times.
      if (Math.abs(jump) > DAY) for (const name of ['same', 'third', 'fourth']) gatherer.put(name, 'second');
      await broker.collections.run();
      const name = `${who}, ${jump} s`;
      t.same(await findUrls(broker, 'third'), [both[0], urlOf('third')], `${name}: the new words are found`);
      t.equal(broker.store.count, 4, `${name}: nothing is lost`);
      for (const url of both)
        for (const entry of await broker.store.byUrl(url))
          t.ok(
            entry.updateTime >= START && entry.updateTime <= START + 2 * HOUR + Math.max(0, HOUR),
            `${name}: the Update-Time ${entry.updateTime - START} of ${url} is possible`,
          );
      gatherer.clock.now += DAY;
      clock.now += DAY;
      gatherer.put('changed', 'fifth');
      await broker.collections.run();
      t.same(await findUrls(broker, 'fifth'), [both[0]], `${name}: on the next day, too`);
      if (who === 'both' && jump >= YEAR)
        t.match(log.join(''), /more than a day in the future|would expire at once|have expired at once/);
    }
  });
}

t.test('stored times of the future are repaired at the start, with a line', async (t) => {
  const clock = new Clock();
  clock.now = START + YEAR;
  const gatherer = await TestGatherer.start(t);
  gatherer.clock.now = START + YEAR;
  for (const name of ['changed', 'same', 'gone']) gatherer.put(name, 'first');
  const { broker, open, log } = await openBroker(t, { now: clock.read, points: [gatherer.point] });
  await broker.collections.run();
  gatherer.database.delete(urlOf('gone'));
  await broker.collections.run();
  await broker.close();

  clock.now = START;
  const later = await open();
  t.match(log.join(''), /times more than a day in the future.*: 2 objects, 1 deletions; 1 collection points/);
  for (const url of both) {
    const [entry] = await later.store.byUrl(url);
    t.match(entry, { changed: START });
    const { updateTime = 0, timeToLive = 0 } = entry ?? {};
    t.ok(updateTime > 0 && updateTime < NOW, 'its time is before every one of a right clock');
    t.equal(updateTime + timeToLive, START + 2419200, 'it expires as if it were of the present');
    const [bytes] = await later.store.objects([entry?.oid ?? 0]);
    t.equal(decodeSoif(bytes ?? Buffer.alloc(0)).text('Update-Time'), String(updateTime));
  }
  t.equal(later.store.lastChange, START, 'the clock of the store is right again');
  gatherer.clock.now = START - HOUR;
  gatherer.put('changed', 'second');
  await later.collections.run();
  t.same(
    await findUrls(later, 'second'),
    [both[0]],
    'a version that was made before the repair is the newer one',
  );
});

t.test('an old gatherd whose times went back is asked for everything', async (t) => {
  const at = (time: number, title: string) => ({
    updateTime: time,
    text: document('http://h.test/a', { Title: title }, time),
  });
  const server = await startScripted(t, [at(NOW + HOUR, 'first')]);
  const { broker } = await openBroker(t, { points: [server.point(1)], now: () => NOW });
  await broker.collections.run();
  server.documents = [at(NOW - HOUR, 'second')];
  await broker.collections.run();
  t.same(
    server.commands.filter((line) => line.startsWith('SEND-UPDATE')),
    ['SEND-UPDATE 0', `SEND-UPDATE ${NOW}`, 'SEND-UPDATE 0'],
  );
  t.same(await findUrls(broker, 'second'), ['http://h.test/a'], 'a time of the future does not win');
});

t.test('an old gatherd whose clock jumps, alone or with that of the Broker', async (t) => {
  for (const who of ['the gatherd', 'both'] as const)
    for (const jump of JUMPS) {
      const name = `${who}, ${jump} s`;
      const server = await startScripted(t, []);
      const clock = new Clock();
      let monotonicMs = 0;
      const { broker } = await openBroker(t, {
        points: [server.point(1)],
        now: clock.read,
        monotonicMs: () => monotonicMs,
      });
      const documents = new Map<string, { updateTime: number; text: string }>();
      const put = (path: string, time: number, title: string): void => {
        documents.set(path, {
          updateTime: time,
          text: soif(urlOf(path), {
            Title: title,
            'Update-Time': String(time),
            'Time-to-Live': String(30 * YEAR),
            'Gatherer-Name': 'Old',
            'Gatherer-Host': 'old.test',
            'Gatherer-Version': '1.5',
          }),
        });
        server.documents = [...documents.values()];
      };
      const set = (seconds: number, wrong: number): number => {
        clock.now = START + seconds + (who === 'both' ? wrong : 0);
        monotonicMs = seconds * 1000;
        return START + seconds + wrong;
      };
      for (const path of ['changed', 'same', 'late']) put(path, set(0, 0), 'first');
      await broker.collections.run();
      put('changed', set(MINUTE, jump), 'second');
      await broker.collections.run();
      // Both clocks are right again, and it changes before and after the time that was wrong.
      put('changed', set(MINUTE + 30, 0), 'third');
      put('late', set(3 * HOUR, 0), 'fourth');
      await broker.collections.run();
      t.same(await findUrls(broker, 'third'), [urlOf('changed')], `${name}: changed before`);
      t.same(await findUrls(broker, 'fourth'), [urlOf('late')], `${name}: changed after`);
      t.equal(broker.store.count, 3, `${name}: nothing is lost`);
    }
});

t.test('the clock is set back while the Broker is stopped', async (t) => {
  for (const back of [MINUTE, HOUR, 20 * HOUR]) {
    const server = await startScripted(t, []);
    const clock = new Clock();
    const put = (time: number, title: string): void => {
      server.documents = [
        {
          updateTime: time,
          text: document('http://h.test/a', { Title: title, 'Time-to-Live': '2419200' }, time),
        },
      ];
    };
    const { broker, open, log } = await openBroker(t, { points: [server.point(1)], now: clock.read });
    clock.now = START + back;
    put(START + back - 5, 'first');
    await broker.collections.run();
    await broker.close();
    clock.now = START + 10;
    put(START + 5, 'second');
    const later = await open();
    t.match(log.join(''), /clock was set back.*the times of 1 objects decide nothing; 1 collection points/);
    await later.collections.run();
    t.same(await findUrls(later, 'second'), ['http://h.test/a'], `${back} s: the version after it is found`);
    await later.close();

    clock.now = START + back + HOUR;
    const lines = log.length;
    const last = await open();
    t.notMatch(log.slice(lines).join(''), 'set back', 'a clock that goes on is told of nothing');
    await last.close();
  }
});

t.test('two Brokers converge although the clock of one jumps', async (t) => {
  for (const jump of JUMPS) {
    const gatherer = await TestGatherer.start(t);
    const [a, b] = [await startPeer(t), await startPeer(t)];
    a.points.push(gatherer.point, pointAt(b, 5));
    b.points.push(pointAt(a, 5));
    const round = async (seconds: number, wrong: number, title: string): Promise<void> => {
      gatherer.clock.now = START + seconds;
      a.clock.now = START + seconds + wrong;
      b.clock.now = START + seconds;
      gatherer.put('changed', title);
      for (const peer of [a, b, a]) {
        await peer.broker.collections.run();
        a.clock.advance();
        b.clock.advance();
      }
    };
    await round(0, 0, 'first');
    await round(HOUR, jump, 'second');
    for (const title of ['third', 'fourth']) {
      await round(title === 'third' ? 2 * HOUR : 26 * HOUR, 0, title);
      for (const peer of [a, b]) t.same(await findUrls(peer.broker, title), [both[0]], `${jump} s: ${title}`);
    }
  }
});
