// `harvest store check` finds every flipped byte, and `harvest store repair` saves what the damage leaves.
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import t from 'tap';
import { checkStores } from '../../storage/check/check.js';
import { repairStores } from '../../storage/check/repair.js';
import { BrokerStore, GathererStore } from '../../storage/index.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { changeOf, GATHERER, summary } from '../storage/helpers.js';

const NOW = 1_000_000_000;
const OBJECTS = 400;

function words(i: number): string {
  return createHash('sha256').update(String(i)).digest('hex').repeat(8);
}

async function fillBroker(directory: string): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await using store = await BrokerStore.open(join(directory, 'store'), { now: () => NOW });
    const changes = Array.from({ length: OBJECTS / 2 }, (_, i) =>
      changeOf('update', `http://${i}.test/${round}`, {
        ...GATHERER,
        'Update-Time': String(NOW),
        Title: words(i),
      }),
    );
    await store.apply(changes, { key: 'p', last: NOW });
  }
}

async function fillGatherer(directory: string): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await using store = await GathererStore.open(join(directory, 'working'));
    const batch = store.batch();
    for (let i = 0; i < OBJECTS / 2; i++)
      // Objects of more than a kilobyte are rows of their own.
      batch.putSummary(summary(`http://${i}.test/${round}`, NOW + i, words(i).repeat(1 + (i % 3))));
    await batch.commit();
  }
}

async function damageTable(store: string): Promise<void> {
  const table = (await readdir(store)).find((name) => name.endsWith('.ldb'))!;
  const bytes = await readFile(join(store, table));
  bytes[Math.floor(bytes.length / 3)]! ^= 0x10;
  await writeFile(join(store, table), bytes);
}

t.test('check: sound stores are sound, each flipped byte of a table or log is found', async (t) => {
  const root = await temporaryDirectory(t);
  await fillBroker(join(root, 'broker'));
  for await (const store of checkStores(root)) t.same(store.problems, []);
  const directory = join(root, 'broker', 'store');
  const names = (await readdir(directory)).filter((name) => /\.(?:ldb|log)$|^MANIFEST|^CURRENT/.test(name));
  for (let i = 0; i < 150; i++) {
    const name = names[i % names.length]!;
    const path = join(directory, name);
    const bytes = await readFile(path);
    if (bytes.length === 0) continue;
    const at = createHash('sha256').update(`${i}`).digest().readUInt32BE(0) % bytes.length;
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << (i % 8);
    await writeFile(path, changed);
    const problems: string[] = [];
    for await (const store of checkStores(directory)) problems.push(...store.problems);
    // The padding at the end of a table is not used.
    const unused = name.endsWith('.ldb') && at >= bytes.length - 48;
    if (!unused) t.not(problems.length, 0, `${name} at ${at} of ${bytes.length}`);
    await writeFile(path, bytes);
  }
});

t.test('repair saves the objects outside the damaged block, and the result is sound', async (t) => {
  for (const [fill, name] of [
    [fillBroker, 'store'],
    [fillGatherer, 'working'],
  ] as const) {
    const root = await temporaryDirectory(t);
    await fill(root);
    const store = join(root, name);
    await damageTable(store);
    const damaged = await cli('store', 'check', root);
    t.equal(damaged.code, 1);
    t.match(damaged.stdout, /DAMAGED[\s\S]*does not match its checksum/);
    const tried = await cli('store', 'repair', root);
    t.equal(tried.code, 0, tried.stderr);
    t.match(tried.stdout, /objects \(\d+ rows\) saved[\s\S]*--replace would use it/);
    t.equal((await cli('store', 'check', root)).code, 1, 'the damaged store is still in its place');
    const repaired = await cli('store', 'repair', '--replace', '--json', root);
    t.equal(repaired.code, 0, repaired.stderr);
    const outcome = JSON.parse(repaired.stdout) as { objects: number; outcome: string; damaged: string };
    t.equal(outcome.outcome, 'replaced');
    t.ok(
      outcome.objects > OBJECTS * 0.8 && outcome.objects < OBJECTS,
      `${outcome.objects} objects are saved`,
    );
    t.ok((await stat(outcome.damaged)).isDirectory(), 'the damaged store is kept');
    t.equal((await cli('store', 'check', root)).code, 0, 'the repaired store is sound');
    if (name === 'store') {
      await using opened = await BrokerStore.open(store, { now: () => NOW });
      t.equal(opened.count, outcome.objects);
      t.same(
        await opened.points.get('p'),
        { last: 0, origin: '', sequence: 0 },
        'the next collection brings the rest',
      );
      t.ok(opened.trimmedSequence >= OBJECTS, 'the index is made again');
    } else {
      await using opened = await GathererStore.open(store);
      t.equal(opened.summaries.count, outcome.objects);
    }
  }
});

t.test('copies of the same second, and what a killed check left, do no harm', async (t) => {
  const root = await temporaryDirectory(t);
  await fillBroker(root);
  const store = join(root, 'store');
  await mkdir(`${store}.check-${process.pid}`);
  const options = { force: true, suffix: '20260131235959' };
  const places: unknown[] = [];
  for (const replace of [false, false, true, true, false])
    for await (const { objects, repaired, damaged } of repairStores(root, { ...options, replace })) {
      t.equal(objects, OBJECTS);
      places.push((repaired ?? damaged)?.slice(store.length));
    }
  t.same(places, [
    '.repaired-20260131235959',
    '.repaired-20260131235959.1',
    '.damaged-20260131235959.2',
    '.damaged-20260131235959.3',
    '.repaired-20260131235959.4',
  ]);
  for (const copy of [places[0], places[1], places[4]]) {
    await using opened = await BrokerStore.open(`${store}${copy}`, { create: false, now: () => NOW });
    t.equal(opened.count, OBJECTS, `${copy} is whole`);
  }
});

t.test('objects that are rows of their own: lost, changed, or without a summary', async (t) => {
  const root = await temporaryDirectory(t);
  await fillGatherer(root);
  const store = join(root, 'working');
  const db = new ClassicLevel<Buffer, Buffer>(store, { keyEncoding: 'buffer', valueEncoding: 'buffer' });
  const keys = await db.keys({ gte: Buffer.from('N'), lt: Buffer.from('O') }).all();
  const [lost, changed, orphan] = [keys[0]!, keys[1]!, Buffer.concat([keys[2]!, Buffer.from('x')])];
  const value = (await db.get(changed))!;
  value[value.length - 20]! ^= 1;
  await db.batch([
    { type: 'del', key: lost },
    { type: 'put', key: changed, value },
    { type: 'put', key: orphan, value },
  ]);
  await db.close();
  const url = (key: Buffer) => key.subarray(9).toString();
  const checked = await cli('store', 'check', root);
  t.equal(checked.code, 1);
  for (const key of [lost, changed]) t.match(checked.stdout, `the summary of ${url(key)} is damaged`);
  t.match(checked.stdout, /there are \d+ objects for \d+ summaries without one/);
  const repaired = await cli('store', 'repair', '--replace', '--force', '--json', root);
  t.equal(repaired.code, 0, repaired.stderr);
  t.equal((JSON.parse(repaired.stdout) as { objects: number }).objects, OBJECTS - 2);
  const again = await cli('store', 'check', root);
  t.equal(again.code, 0, again.stdout);
  await using opened = await GathererStore.open(store);
  t.equal(await opened.summaries.get(url(lost)), undefined);
  t.equal(opened.summaries.count, OBJECTS - 2);
});

t.test('without CURRENT, or without any MANIFEST, every object is saved', async (t) => {
  const root = await temporaryDirectory(t);
  await fillBroker(join(root, 'sound'));
  for (const lost of [/^CURRENT$/, /^MANIFEST/, /^(?:CURRENT|MANIFEST.*|SEAL)$/]) {
    const directory = await temporaryDirectory(t);
    await cp(join(root, 'sound'), directory, { recursive: true });
    const store = join(directory, 'store');
    for (const name of await readdir(store)) if (lost.test(name)) await rm(join(store, name));
    await t.rejects(BrokerStore.open(store), /harvest store repair/);
    for await (const { objects } of repairStores(directory, { replace: true })) t.equal(objects, OBJECTS);
    await using opened = await BrokerStore.open(store, { now: () => NOW });
    t.equal(opened.count, OBJECTS);
  }
});

t.test('usage: a directory without a store, no directory, a store in use', async (t) => {
  const root = await temporaryDirectory(t);
  t.equal((await cli('store', 'check', root)).code, 2);
  t.equal((await cli('store', 'check', join(root, 'nothing'))).code, 2);
  await fillBroker(root);
  await using _store = await BrokerStore.open(join(root, 'store'));
  const used = await cli('store', 'check', root);
  t.equal(used.code, 1);
  t.match(used.stderr, new RegExp(`in use by process ${process.pid}\\b`));
});
