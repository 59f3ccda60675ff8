// The turns in which replies are made, and the slots of queries.
import t from 'tap';
import { DEFAULT_FLAGS, parseQuery, type QueryFlags } from '../../../../protocols/broker/index.js';
import type { PageItem } from '../../../../servers/broker/query/page-items.js';
import { QuerySlots } from '../../../../servers/broker/query/query-slots.js';
import type { Caller } from '../../../../servers/broker/query/request-context.js';
import { type EntrySource, walkEntries } from '../../../../servers/broker/walk-entries.js';
import { FairShare } from '../../../../servers/host/index.js';
import type { RegistryEntry } from '../../../../storage/index.js';
import { document, NOW, openBroker, startScripted } from '../helpers.js';

/** Items and bytes of them that are made in one turn; the last item may exceed the bytes. */
const MOST_ITEMS = 256;
const MOST_BYTES = 32 * 1024;
const OBJECTS = 8;
const LINES = 600;
const LINE = 'lorem ipsum dolor sit amet';
const ATTRIBUTE_BYTES = 20_000;

/** A client for which it is never its turn, and who notes what it is charged. */
class Client {
  readonly turns: number[] = [];
  charged = 0;
  readonly share: Caller['share'] = {
    mayContinue: () => false,
    turn: async () => {
      this.turns.push(this.charged);
    },
    charge: (milliseconds) => {
      this.charged += milliseconds;
    },
  };
}

function lengthOf(item: PageItem): number {
  if (item.kind === 'description' || item.kind === 'attribute') return item.value.length;
  return item.kind === 'opaque' ? item.text.length - 'Matched line: body# '.length : 0;
}

t.test('a reply of any kind is made in small pieces, each in a turn that is paid for', async (t) => {
  const body = Array.from({ length: LINES }, (_, i) => `${LINE} ${i}\n`).join('');
  const documents = Array.from({ length: OBJECTS }, (_, i) => {
    const attributes = { Title: `é ${i}`, Body: body, Description: body, Notes: 'x'.repeat(ATTRIBUTE_BYTES) };
    return { updateTime: NOW - 1000, text: document(`http://example.org/${i}`, attributes) };
  });
  const gatherd = await startScripted(t, documents);
  const { broker } = await openBroker(t, { points: [gatherd.point(0)] });
  await broker.collections.run();
  const kinds: Readonly<Record<string, readonly [query: string, flags: Partial<QueryFlags>]>> = {
    'descriptions and all lines': ['lorem', { desc: true }],
    'lines of a phrase': ['"dolor sit"', {}],
    'lines with spelling errors': ['lorrem', { errors: 1 }],
    'lines of a regular expression': ['body regexp "l.*t"', {}],
    'a negation': ['not zzz', { desc: true, attributes: ['Body', 'Notes'] }],
    'every object': ['#allb', { desc: true, attributes: ['Body', 'Notes', 'Title', 'URL'] }],
    'attributes without lines': ['lorem', { opaque: true, attributes: ['Notes'] }],
  };
  for (const [name, [text, flags]] of Object.entries(kinds)) {
    const client = new Client();
    using request = broker.queries.begin(client);
    const query = parseQuery(text);
    const pages = broker.queries.search(query, { ...DEFAULT_FLAGS, ...flags }, request);
    let items = 0;
    let objects = 0;
    let turns = 0;
    for await (const page of pages) {
      items += page.length;
      objects += page.filter(({ kind }) => kind === 'object-end').length;
      const bytes = page.map((item) => lengthOf(item));
      const before = bytes.slice(0, -1).reduce((sum, length) => sum + length, 0);
      if (page.length > MOST_ITEMS || before > MOST_BYTES)
        t.fail(`${name}: ${page.length} items, ${before} bytes`);
      turns += 1;
    }
    t.equal(objects, OBJECTS, name);
    t.ok(client.turns.length >= turns, `${name}: a turn for each of ${turns} pieces`);
    t.ok(client.charged > items * 0.001, `${name}: ${client.charged} ms for ${items} items`);
    t.ok(
      client.turns.every((charged, i) => i === 0 || charged > client.turns[i - 1]!),
      `${name}: what is made in a turn is charged before the next one`,
    );
  }
});

t.test('a query that has used little gets the slot of one that has used four milliseconds', async (t) => {
  const slots = new QuerySlots(() => 1);
  const recalled: string[] = [];
  let held: Disposable | undefined;
  const hold = async (client: string): Promise<void> => {
    held = await slots.acquire({
      client,
      waitMs: 60_000,
      usedMs: 1_000,
      onRecall: () => {
        recalled.push(client);
        held?.[Symbol.dispose]();
        return true;
      },
    });
  };
  for (const newcomer of ['other', 'same']) {
    await hold('same');
    const until = performance.now() + 5;
    while (performance.now() < until);
    const slot = await slots.acquire({ client: newcomer, waitMs: 60_000 });
    t.ok(slot, `${newcomer} client`);
    slot?.[Symbol.dispose]();
  }
  t.same(recalled, ['same', 'same']);
  t.equal(slots.inUse, 0);
});

t.test('a query whose objects are all found needs no other slot for its reply', async (t) => {
  const documents = ['a', 'b', 'c'].map((name) => ({
    updateTime: NOW - 1000,
    text: document(`http://example.org/${name}`, { Title: `word ${name}` }),
  }));
  const gatherd = await startScripted(t, documents);
  const { broker } = await openBroker(t, { points: [gatherd.point(0)], conf: 'Max-Queries 1\n' });
  await broker.collections.run();
  const pages = broker.queries.search(parseQuery('word'), { ...DEFAULT_FLAGS, opaque: true });
  const first = await pages.next();
  // Another query has the only slot until the end of the test.
  using slot = await broker.queries.slots.acquire({ client: 'other', waitMs: 0 });
  t.ok(slot, 'the slot is free while the reply is read');
  let objects = 0;
  let step = first;
  for (; step.done !== true; step = await pages.next())
    objects += step.value.filter(({ kind }) => kind === 'object-end').length;
  t.ok(step.value.complete, 'it does not end by its lifetime');
  t.equal(objects, documents.length);
});

t.test('a walk over all entries waits for a turn for each small page, and pays for it', async (t) => {
  const entries = Array.from({ length: 1000 }, (_, oid) => ({ oid }) as RegistryEntry);
  let turns = 0;
  const fair = new FairShare({
    sliceMs: 0,
    now: () => 0,
    nextTurn: (callback) => {
      turns += 1;
      setImmediate(callback);
    },
  });
  const store: EntrySource = {
    async *all({ pageRows = 1000 } = {}) {
      for (let from = 0; from < entries.length; from += pageRows) yield entries.slice(from, from + pageRows);
    },
  };
  const share = fair.join();
  let count = 0;
  for await (const page of walkEntries(store, {}, share)) {
    count += page.length;
    if (page.length > 64) t.fail(`a page of ${page.length} entries`);
  }
  t.equal(count, entries.length);
  t.ok(turns >= 15, `${turns} turns`);
  t.ok(share.rank > 0, 'it comes after sessions that need little');
});
