// A killed process leaves its log open. What the log loses afterwards is told, but not what a power failure has
// cut. And rows that do not match their checksums although the files of their store are sound.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { BrokerStore, GathererStore } from '../../storage/index.js';
import { Level } from '../../storage/level/level.js';
import { openDatabase } from '../../storage/level/open-database.js';
import { TABLE, tableRange } from '../../storage/rows/keys.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const CHILD = fileURLToPath(new URL('./write-and-wait.js', import.meta.url));
const ADVICE = /`harvest store check \S+` lists the damage, `harvest store repair \S+`/;

/**
 * A store whose process was killed after a flushed half and an unflushed half. @returns the log, and its length
 * after the flush
 */
async function killedStore(t: Test) {
  const directory = join(await temporaryDirectory(t), 'store');
  const child = spawn(process.execPath, [CHILD, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const name = (await readdir(directory)).find((file) => file.endsWith('.log')) ?? '';
  const log = join(directory, name);
  return { directory, name, log, size: (await stat(log)).size, flushed: Number(text) };
}

t.test('a killed store is whole', async (t) => {
  const { directory } = await killedStore(t);
  await using store = await GathererStore.open(directory, { create: false });
  t.equal(await store.meta.get('step'), 400);
});

t.test('the end of a log that a killed process has written is missing', async (t) => {
  const { directory, name, log, size } = await killedStore(t);
  await truncate(log, size - 10);
  const says = new RegExp(`${name}: it has ${size - 10} bytes instead of ${size}`);
  await t.rejects(GathererStore.open(directory), { code: 'ERR_STORAGE', message: says });
  await t.rejects(GathererStore.open(directory), { message: ADVICE });
  t.match(await cli('store', 'check', directory), { code: 1, stdout: says });
  t.equal((await stat(log)).size, size - 10, 'nothing is changed');
  t.match(await cli('store', 'repair', '--replace', directory), { code: 0 });
  await using store = await GathererStore.open(directory);
  t.ok(Number(await store.meta.get('step')) >= 390, 'what can be read is saved');
});

t.test('of a copy, or after a power failure, only what was flushed must be there', async (t) => {
  const { directory, name, flushed } = await killedStore(t);
  for (const [length, sound] of [
    [flushed + 5, true],
    [flushed, true],
    [flushed - 5, false],
  ] as const) {
    const copy = join(await temporaryDirectory(t), 'store');
    await cp(directory, copy, { recursive: true });
    await truncate(join(copy, name), length);
    if (sound) {
      await using store = await GathererStore.open(copy, { create: false });
      t.ok(Number(await store.meta.get('step')) >= 200);
    } else await t.rejects(GathererStore.open(copy), { message: /bytes instead of/ });
  }
});

t.test('a damaged record of lengths claims nothing', async (t) => {
  const { directory, log, size } = await killedStore(t);
  const file = join(directory, 'LENGTHS');
  const bytes = await readFile(file);
  bytes[60]! ^= 1;
  await writeFile(file, bytes);
  await truncate(log, size - 10);
  await using store = await GathererStore.open(directory, { create: false });
  t.ok(Number(await store.meta.get('step')) >= 200);
});

t.test('a row that does not match its checksum is told, found and dropped', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  {
    await using store = await BrokerStore.open(directory);
    await store.apply([], { key: 'a point', last: 77 });
  }
  const opened = await openDatabase<Uint8Array, Uint8Array>(directory, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    createIfMissing: false,
  });
  const [row] = await opened.db.iterator({ ...tableRange(TABLE.points) }).all();
  if (row === undefined) throw new Error('no row');
  const [key, value] = row;
  const flipped = Uint8Array.from(value);
  flipped[1]! ^= 4;
  await opened.db.put(key, flipped);
  await opened.close();
  {
    await using store = await BrokerStore.open(directory);
    await t.rejects(store.points.get('a point'), {
      code: 'ERR_STORAGE',
      message: /does not match its checksum/,
    });
  }
  t.match(await cli('store', 'check', directory), { code: 1, stdout: /row 50.*does not match its checksum/ });
  t.match(await cli('store', 'repair', '--replace', directory), { code: 0, stdout: /saved/ });
  t.match(await cli('store', 'check', directory), { code: 0, stdout: /sound/ });
});

t.test('a row of an earlier version has no checksum and is read', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  await using level = await Level.open(directory, { kind: 'gatherer' });
  // The text 'old', without the field of the checksum.
  await level.write([{ key: Buffer.from('Mold'), value: Buffer.from('\x0a\x03old') }]);
  await level.close();
  await using store = await GathererStore.open(directory);
  t.equal(await store.meta.get('old'), 'old');
});
