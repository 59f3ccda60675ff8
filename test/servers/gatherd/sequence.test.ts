// GATHERD-6.13: the numbers of changes, from a store over its generations to a client.
import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { collectChanges, GatherdClient } from '../../../clients/gatherd/index.js';
import type { SequenceMark } from '../../../protocols/gatherd/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { backUp } from '../../../storage/backup/index.js';
import { GathererStore } from '../../../storage/index.js';
import { soif } from '../broker/helpers.js';

const log = createLoggerOn({ write() {} }, { program: 'gatherd' });
const urlOf = (name: string): string => `http://h.test/${name}`;
const long = 'x'.repeat(2000);

/** A store with a gatherd on its generations. */
class Database {
  readonly generations: string;
  store!: GathererStore;
  port = 0;

  private constructor(readonly directory: string) {
    this.generations = join(directory, 'generations');
  }

  get working(): string {
    return join(this.directory, 'working');
  }

  async open(): Promise<void> {
    this.store = await GathererStore.open(this.working);
  }

  static async start(t: Test): Promise<Database> {
    const database = new Database(t.testdir());
    await database.open();
    await database.store.publish(database.generations);
    const server = await GatherdServer.listen({
      generationsDirectory: database.generations,
      host: '127.0.0.1',
      port: 0,
      hostname: 'h.test',
      log,
      lingerMs: 200,
    });
    t.teardown(async () => {
      await server.close({ graceMs: 0 });
      await database.store.close();
    });
    database.port = server.address.port;
    return database;
  }

  /** Stores an object under a time that any clock may have said, and publishes. */
  async put(name: string, updateTime: number, text = name): Promise<void> {
    const object = soif(urlOf(name), { 'Update-Time': String(updateTime), Text: text });
    const summary = { url: urlOf(name), updateTime, timeToLive: 0, soif: Buffer.from(object) };
    await this.store.batch().putSummary(summary).commit();
    await this.store.publish(this.generations);
  }

  async refresh(name: string, updateTime: number): Promise<void> {
    await this.store.batch().refreshSummary(urlOf(name), { updateTime, lastModificationTime: 5 }).commit();
    await this.store.publish(this.generations);
  }

  async delete(name: string, deletedAt: number): Promise<void> {
    await this.store.batch().deleteSummary(urlOf(name), undefined, { deletedAt }).commit();
    await this.store.publish(this.generations);
  }

  /** What a collector receives, and its next mark. */
  async collect(after?: SequenceMark, since = 1, compression = true) {
    const host = '127.0.0.1';
    const collection = collectChanges({ host, port: this.port, since, after, numbers: true, compression });
    const changes: string[] = [];
    for await (const { kind, object } of collection)
      changes.push(`${kind} ${object.url.slice(urlOf('').length)}`);
    return { changes, mark: collection.totals.mark, numbered: collection.numbered };
  }
}

t.test('the changes after a number come in their order, whatever their times', async (t) => {
  const database = await Database.start(t);
  await database.put('a', 5000);
  await database.put('b', 9000, long);
  await database.put('gone', 100);
  const { changes, mark } = await database.collect(undefined, 0);
  t.same(changes, ['update gone', 'update a', 'update b']);
  t.equal(mark?.sequence, 3);
  t.same((await database.collect(mark)).changes, [], 'nothing has changed');

  await database.put('a', 7);
  await database.refresh('b', 8);
  await database.delete('gone', 6);
  for (const compression of [true, false]) {
    const next = await database.collect(mark, 1_000_000, compression);
    t.same(next.changes, ['delete gone', 'refresh b', 'update a']);
    t.ok(next.numbered);
    t.equal(next.mark?.origin, mark?.origin);
    t.ok((next.mark?.sequence ?? 0) > (mark?.sequence ?? 0));
    t.same((await database.collect(next.mark)).changes, []);
  }
  await database.put('gone', 3);
  const later = await database.collect(mark, 1_000_000);
  t.same(
    later.changes,
    ['refresh b', 'update a', 'update gone'],
    'a deletion is not sent beside a new object',
  );
});

t.test('without SET changes the refreshed objects are whole', async (t) => {
  const database = await Database.start(t);
  await database.put('a', 50, long);
  const { mark } = await database.collect(undefined, 0);
  await database.refresh('a', 7);
  await using client = new GatherdClient({ host: '127.0.0.1', port: database.port });
  const kinds: string[] = [];
  for await (const { kind, object } of client.changes({
    since: 1,
    sections: false,
    numbers: true,
    after: mark,
  }))
    kinds.push(`${kind} ${object.text('Text')?.length}`);
  t.same(kinds, ['update 2000']);
});

t.test('a collector that does not know the numbers of the database gets everything', async (t) => {
  const database = await Database.start(t);
  await database.put('a', 5000);
  await database.put('b', 9000);
  const byTime = await database.collect(undefined, 6000);
  t.same(byTime.changes, ['update b'], 'a time selects');
  t.equal(byTime.mark?.sequence, 0, 'which is not everything up to a number');
  const { mark } = await database.collect(byTime.mark, 6000);
  t.equal(mark?.sequence, 2);
  for (const unknown of [
    { origin: 'another', sequence: 2 },
    { origin: mark?.origin ?? '', sequence: 3 },
  ]) {
    const { changes, mark: next } = await database.collect(unknown, 6000);
    t.same(changes, ['update a', 'update b']);
    t.same(next, mark);
  }
});

/** The ways in which a store comes to be a copy of what it was. */
const COPIES: Readonly<Record<string, (database: Database, copy: string) => Promise<void>>> = {
  'a checkpoint': (database, copy) => database.store.clone(copy),
  'a backup while it runs': async (database, copy) => void (await backUp(database.working, copy)),
  'cp while it is stopped': async (database, copy) => {
    await database.store.close();
    await cp(database.working, copy, { recursive: true, preserveTimestamps: true });
    await database.open();
  },
};

for (const [name, save] of Object.entries(COPIES)) {
  t.test(`a store that was brought back from ${name} has other numbers for what comes then`, async (t) => {
    const database = await Database.start(t);
    await database.put('a', 5000);
    const first = await database.collect(undefined, 0);
    const copy = join(database.directory, 'copy');
    await save(database, copy);
    await database.put('b', 6000);
    const lost = await database.collect(first.mark);
    t.same(lost.changes, ['update b']);

    await database.store.close();
    await rename(database.working, join(database.directory, 'lost'));
    await rename(copy, database.working);
    await database.open();
    await database.store.publish(database.generations);
    t.same((await database.collect(lost.mark)).changes, ['update a'], 'everything: the change b is unknown');
    t.same((await database.collect(first.mark)).changes, [], 'the change a is known');
    for (const [title, text] of Object.entries({ c: 'c', d: 'd', e: 'e' }))
      await database.put(title, 4000, text);
    for (const mark of [lost.mark, { ...lost.mark!, sequence: 3 }]) {
      const { changes, mark: next } = await database.collect(mark);
      t.same(changes.toSorted(), ['update a', 'update c', 'update d', 'update e'], 'everything');
      t.same((await database.collect(next)).changes, []);
    }
    const since = await database.collect(first.mark);
    t.same(since.changes, ['update c', 'update d', 'update e'], 'after a change from before the copy');
  });
}

t.test('each opening has its own numbers, and knows those of the former ones', async (t) => {
  const database = await Database.start(t);
  const marks: (SequenceMark | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    await database.put(`a${i}`, 5000 + i);
    marks.push((await database.collect(undefined, 0)).mark);
    await database.store.close();
    await database.open();
    await database.store.publish(database.generations);
    t.same((await database.collect(undefined, 0)).mark, marks.at(-1), 'nothing has changed');
  }
  t.equal(new Set(marks.map((mark) => mark?.origin)).size, 4);
  for (const [i, mark] of marks.entries()) t.equal((await database.collect(mark)).changes.length, 3 - i);
});
