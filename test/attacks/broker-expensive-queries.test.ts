// Expensive queries from many clients: they take turns with a cheap one, and each has a price.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Scheduler, type ThreadShare } from '../../storage/indexers/scheduling/scheduler.js';
import { EmbeddedFixture, expressionOf, PLAIN_SEARCH } from '../storage/indexers/embedded-fixture.js';
import { ask, startBrokerProcess, wordOf } from './broker-process.js';

const CLIENTS = 19;
const SAMPLES = 15;
const TRIES = 4;
/**
 * The share of the times that must be below the limits: what is left is that of a busy machine, on which this
 * program runs late.
 */
const TAIL = 0.9;

const conjunction = (from: number) =>
  Array.from({ length: 250 }, (_, i) => wordOf((from + i) % 400)).join(' and ');
const many = (count: number, part: (i: number) => string, operator: string) =>
  Array.from({ length: count }, (_, i) => part(i)).join(` ${operator} `);
const FLOODS = {
  'conjunctions of 250 words': (i: number) => `#USER #opaque #index matchword #END ${conjunction(i * 7)}`,
  'conjunctions of 250 parts of words': (i: number) => `#USER #opaque #END ${conjunction(i * 7)}`,
  negations: (i: number) =>
    `#USER #opaque #END ${many(200, (n) => `(not ${wordOf((i * 3 + n) % 400)})`, 'or')}`,
  'regular expressions': (i: number) =>
    `#USER #opaque #END body regexp "([a-z]+ )*([aeiou]*[xq]+[^ ]*)+${i}#"`,
  'short queries with nested quantifiers': (i: number) =>
    `#USER #opaque #END body regexp "((([a-z]*)*)*)*${i}#"`,
  'patterns that begin with wildcards': (i: number) =>
    `#USER #opaque #END ${many(50, (n) => `"#${wordOf(n + i).slice(1)}#${i}"`, 'or')}`,
  'spelling errors': (i: number) =>
    `#USER #opaque #index error 8 #END ${many(40, (n) => wordOf(3000 + i * 11 + n) + wordOf(n) + wordOf(i), 'and')}`,
  'descriptions and lines of everything': (i: number) => `#USER #desc #END not ${wordOf(5000 + i)}x`,
  'all lines of frequent words': (i: number) => `#USER #desc #END ${wordOf(i % 5)} or ${wordOf(5 + (i % 5))}`,
  'lines of phrases': (i: number) => `#USER #END "${wordOf(i % 5)} ${wordOf((i + 1) % 5)}"`,
  'attributes of every object': () => '#USER #desc #attribute body #attribute title #END #allb',
} as const;
/** A query that takes a millisecond, and one of the same client that takes several slices and reads objects. */
const CHEAP = `#USER #opaque #index maxfiles 10 #END ${wordOf(2500)}`;
const HEAVIER = `#USER #index case sensitive #END ${wordOf(800)}`;

/** The value that a share of the times is below. */
function quantile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? 0;
}

t.test('cheap queries beside 19 clients with expensive ones', async (t) => {
  const { port, cpu } = await startBrokerProcess(t, { objects: 4_000, words: 40 });
  // Milliseconds that the Broker's processor works until the reply: other programs of the machine do not count.
  const sample = async (query: string) => {
    const times: number[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const started = await cpu();
      await ask(port, query, '127.0.0.100');
      times.push((await cpu()) - started);
      await sleep(2);
    }
    return times;
  };
  for (const query of [CHEAP, HEAVIER]) await sample(query);
  const alone = quantile(await sample(HEAVIER), 0.5);
  const cheapAlone = quantile(await sample(CHEAP), 0.5);
  // The thread works on 20 clients; the other thread of the Broker works at the same time.
  const limits = { cheap: 480, heavier: 2 * (CLIENTS + 1) * Math.max(12, alone) };
  for (const [name, query] of Object.entries(FLOODS)) {
    let isFair = false;
    for (let attempt = 0; attempt < TRIES && !isFair; attempt++) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const flood = Array.from({ length: CLIENTS }, async (_, i) => {
        for (let n = i * 100; !stop.signal.aborted; n++)
          await ask(port, query(n), `127.0.0.${2 + i}`, stop.signal);
      });
      await sleep(200);
      const cheapTimes = await sample(CHEAP);
      const cheap = quantile(cheapTimes, TAIL);
      const median = quantile(cheapTimes, 0.5);
      const heavier = quantile(await sample(HEAVIER), TAIL);
      stop.abort();
      await Promise.all(flood);
      isFair = cheap <= limits.cheap && heavier <= limits.heavier;
      // Two threads work at a time: by the clock the ratio is about half.
      const ratio = `${(median / Math.max(1, cheapAlone)).toFixed(1)} times ${cheapAlone.toFixed(1)} ms in the median`;
      t.comment(
        `${name}: ${ratio}, ${cheap.toFixed(0)} ms; the heavier one ${heavier.toFixed(0)} ms (${alone.toFixed(1)} ms alone)`,
      );
    }
    t.ok(isFair, name);
  }
});

t.test('Max-Work of broker.conf: a client reads that its query was too expensive', async (t) => {
  const { port } = await startBrokerProcess(t, { objects: 8_000, words: 100, conf: 'Max-Work 1\n' });
  // No literal text narrows the expressions, no object matches: all of them read all objects, which takes many
  // seconds.
  const query = many(100, (i) => `body regexp "([a-z]+ )*([aeiou]*[xq]+[^ ]*)+[!-%]{1,${1 + i}}"`, 'or');
  const { tail } = await ask(port, `#USER #opaque #END ${query}`);
  t.match(tail, /^103 - .*too expensive/m);
  const cheap = await ask(port, CHEAP);
  t.match(cheap.head, /^120 - /m, 'a cheap one is answered');
  t.notMatch(cheap.tail, /^103 - /m);
});

t.test('the price of a query is bounded, and the results found until then stay', async (t) => {
  const fixture = await EmbeddedFixture.open({ maxWorkMs: 100, sliceMs: 1 });
  t.teardown(() => fixture[Symbol.asyncDispose]());
  const body = 'lorem ipsum dolor sit amet\n'.repeat(400);
  await fixture.put(...Array.from({ length: 300 }, (_, i) => ({ Body: `${body}end${i}\n` })));
  const results = fixture.indexer.query(expressionOf('body regexp "[a-z ]*d[0-9]+"'), {
    ...PLAIN_SEARCH,
    wantLines: true,
  });
  let hits = 0;
  for await (const _ of results) hits++;
  const { complete, reason } = await results.outcome;
  t.same({ complete, reason }, { complete: false, reason: 'cost' });
  t.ok(hits < 300, `${hits} hits`);
  const cheap = fixture.indexer.query(expressionOf('end7'), {
    ...PLAIN_SEARCH,
    matchWord: true,
    ignoreCase: true,
  });
  let found = 0;
  for await (const _ of cheap) found++;
  t.equal(found, 1, 'other queries are not affected');
});

t.test('turns: least work first, then the client that used least; long queries do not starve', async (t) => {
  const scheduler = new Scheduler();
  const spin = (milliseconds: number) => {
    const until = performance.now() + milliseconds;
    while (performance.now() < until);
  };
  for (const [client, milliseconds] of [
    ['a', 300],
    ['b', 150],
  ] as const) {
    const share = scheduler.enter(client);
    await scheduler.take(share);
    spin(milliseconds);
    scheduler.release(share);
  }
  const busy = scheduler.enter('busy');
  t.equal(scheduler.take(busy), undefined, 'a free thread is taken immediately');
  const order: string[] = [];
  const queue = (name: string, client: string, work: number): Promise<void> => {
    const share: ThreadShare = { ...scheduler.enter(client), work };
    return Promise.resolve(scheduler.take(share)).then(() => {
      order.push(name);
      scheduler.release(share);
    });
  };
  const ends = [
    queue('long', 'a', 1000),
    queue('middle', 'b', 50),
    queue('short', 'c', 0),
    queue('short 2', 'busy', 0),
  ];
  spin(5);
  scheduler.release(busy);
  await Promise.all(ends);
  t.same(order, ['short', 'short 2', 'middle', 'long']);

  const holder = scheduler.enter('holder');
  await scheduler.take(holder);
  order.length = 0;
  const many = [
    queue('long', 'a', 1000),
    ...Array.from({ length: 20 }, (_, i) => queue(`short ${i}`, `c${i}`, 0)),
  ];
  scheduler.release(holder);
  await Promise.all(many);
  t.ok(order.indexOf('long') < 9, `the long query had turn ${order.indexOf('long')}`);
});
