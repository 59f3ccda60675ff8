// Backups of directories whose servers write meanwhile: each copy is what a crash at one moment would have
// left.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { backUp, restore } from '../../storage/backup/index.js';
import { checkStores } from '../../storage/check/check.js';
import { GathererStore } from '../../storage/index.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { EventCount } from '../helpers/event-count.js';
import { byTier } from '../helpers/seed.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const WRITER = fileURLToPath(new URL('backup-writer-child.js', import.meta.url));
const BACKUPS = byTier(4, 15);
/** Backups of the running servers; every other one is restored. */
const RUNNING_BACKUPS = byTier(2, 6);

/** The number of batches in a store; every batch before it must be whole. */
async function batchesIn(directory: string): Promise<number> {
  await using store = await GathererStore.open(directory);
  for (let number = 0; ; number++) {
    const [first, second] = [
      await store.meta.get(`first.${number}`),
      await store.meta.get(`second.${number}`),
    ];
    if (first === undefined && second === undefined) {
      for (const later of [1, 2, 3, 100, 1000])
        if ((await store.meta.get(`second.${number + later}`)) !== undefined)
          throw new Error(`batch ${number} is missing, a later one is not`);
      return number;
    }
    if (second !== number || !String(first).startsWith(`${number} `))
      throw new Error(`batch ${number} is in two`);
  }
}

t.test('a store that is written as fast as possible: copies have whole batches, and no gaps', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  const writer = spawn(process.execPath, [WRITER, join(data, 'working')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => writer.kill('SIGKILL'));
  const written = new EventCount();
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.add(Number(text.trim().split('\n').at(-1)) - written.count);
  });
  await once(writer.stdout, 'data');
  let former = 0;
  for (let i = 0; i < BACKUPS; i++) {
    const before = written.count;
    const copy = join(directory, `copy-${i}`);
    await backUp(data, copy);
    // While the copy is read nothing is written, or each copy would take longer than the one before.
    writer.kill('SIGSTOP');
    for await (const { problems } of checkStores(copy)) t.same(problems, [], `copy ${i} is sound`);
    const batches = await batchesIn(join(copy, 'working'));
    t.ok(batches >= before, `copy ${i} has the ${before} batches that were written before it: ${batches}`);
    t.ok(batches >= former, 'and those of the copy before');
    former = batches;
    rmSync(copy, { recursive: true });
    writer.kill('SIGCONT');
    await written.reached(before + 1000);
  }
});

t.test('a table that is being written at the first look is copied whole', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  {
    await using store = await GathererStore.open(join(data, 'working'), { writeBufferBytes: 1 << 20 });
    for (let number = 0; number < 8000; number++)
      await store
        .batch()
        .putMeta(`first.${number}`, `${number} ${randomBytes(1500).toString('hex')}`)
        .putMeta(`second.${number}`, number)
        .commit();
  }
  const level = join(data, 'working');
  const tables = readdirSync(level).filter((name) => name.endsWith('.ldb'));
  t.ok(tables.length > 1, `${tables.length} tables`);
  const growing = join(level, tables[0] as string);
  const whole = readFileSync(growing);
  writeFileSync(growing, whole.subarray(0, 1000));
  // Copying asks whether it is to stop before each table: the second time the first table has been copied.
  const signal = new AbortController().signal;
  let asked = 0;
  signal.throwIfAborted = () => {
    if (existsSync(join(growingCopy(), tables[0] as string))) asked += 1;
    if (asked === 1) writeFileSync(growing, whole);
  };
  const growingCopy = () => {
    const made = readdirSync(directory).find((name) => name !== 'data');
    return made === undefined ? directory : join(directory, made, 'working');
  };
  const copy = join(directory, 'copy');
  await backUp(data, copy, { signal });
  t.ok(asked > 0, 'it was whole after the first look');
  for await (const { problems } of checkStores(copy)) t.same(problems, []);
  t.equal(await batchesIn(join(copy, 'working')), 8000);
});

t.test('run, backed up while it gathers and collects; the backup is restored and goes on', async (t) => {
  const directory = await temporaryDirectory(t);
  const pages = Array.from({ length: 300 }, (_, i) => `/${i}`);
  await using site = await Site.start({
    '/': page('Start', pages),
    ...Object.fromEntries(
      pages.map((path) => [path, page(`Page ${path}`, [], `words ${path.slice(1)} `.repeat(50))]),
    ),
  });
  const data = join(directory, 'data');
  const options = ['--delay', '0', '--urls', '1000', ...ANY_PORTS];
  const running = new CliProcess(['run', `${site.url}/`, '--data', data, ...options]);
  t.teardown(() => running.kill('SIGKILL'));
  const copies: string[] = [];
  const ended = running.finished.then(({ stderr }) => {
    throw new Error(`the servers ended: ${stderr}`);
  });
  ended.catch(() => undefined);
  await Promise.race([waitUntil(() => hasStores(data) || running.child.exitCode !== null), ended]);
  for (let i = 0; i < RUNNING_BACKUPS; i++) {
    await Promise.race([site.served.reached((i * pages.length) / RUNNING_BACKUPS), ended]);
    const copy = join(directory, `copy-${i}`);
    const made = await cli('backup', '--json', data, copy);
    t.equal(made.code, 0, made.stderr);
    copies.push(copy);
  }
  await running.output(/^ready /m);
  running.kill('SIGTERM');
  await running.finished;
  for (const [i, copy] of copies.entries()) {
    if (i % 2 === 1) continue;
    const place = join(directory, `restored-${i}`);
    await restore(copy, place);
    const again = await cli('run', '--once', `${site.url}/`, '--data', place, ...options);
    t.equal(again.code, 0, again.stderr);
    t.equal(JSON.parse(again.stdout).objects, 301, 'everything is gathered and collected');
    const checked = await cli('store', 'check', place);
    t.equal(checked.code, 0, checked.stdout);
  }
});

t.test('what is refused, and what is left of a backup that fails: nothing', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o750 });
  writeFileSync(join(data, 'a.txt'), 'a', { mode: 0o600 });
  writeFileSync(join(data, 'gatherd.pid'), '1');
  await t.rejects(backUp(data, join(data, 'inside')), /is inside of/);
  await t.rejects(backUp(join(directory, 'none'), join(directory, 'x')), /is no directory/);
  await backUp(data, join(directory, 'copy'));
  t.same(readdirSync(join(directory, 'copy')), ['a.txt'], 'without what belongs to a running process');
  t.equal(statSync(join(directory, 'copy')).mode & 0o777, 0o750);
  t.equal(statSync(join(directory, 'copy', 'a.txt')).mode & 0o777, 0o600);
  await t.rejects(backUp(data, join(directory, 'copy')), /exists already/);
  await t.rejects(restore(join(directory, 'copy'), data), /is not empty/);
  const stopped = AbortSignal.abort(new Error('stopped'));
  await t.rejects(backUp(data, join(directory, 'other'), { signal: stopped }), /stopped/);
  t.same(readdirSync(directory).sort(), ['copy', 'data']);
});

function hasStores(data: string): boolean {
  try {
    return readdirSync(join(data, 'broker', 'store')).length > 0;
  } catch {
    return false;
  }
}
