// The files of a seen filter that has its own: a torn end loses only the last commit; any other damage is an
// error that changes nothing.
import { cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openSeenFilter, type SeenKind } from '../../storage/seen/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const COMMITS = 40;
const KEYS = 25;

async function make(kind: SeenKind, directory: string): Promise<void> {
  await using filter = await openSeenFilter({ kind, directory, pendingKeys: 300 });
  for (let i = 0; i < COMMITS; i++) {
    await filter.add(Array.from({ length: KEYS }, (_, n) => `http://${i}.test/${n}`));
    await filter.commit();
  }
}

async function contents(directory: string): Promise<string> {
  const files = (await readdir(directory)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'base64')));
  return files.map((file, i) => `${file} ${texts[i]}`).join('\n');
}

/** The number of keys that a filter finds; the error's code if it is refused without a change of its files. */
async function outcome(kind: SeenKind, directory: string): Promise<number | string> {
  const before = await contents(directory);
  try {
    await using filter = await openSeenFilter({ kind, directory, pendingKeys: 300 });
    return filter.count;
  } catch (error) {
    if ((await contents(directory)) !== before) return 'changed';
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

for (const kind of ['memory-set', 'disk-merge'] as const) {
  t.test(`damaged files of ${kind}`, async (t) => {
    const top = await temporaryDirectory(t);
    const sound = join(top, 'sound');
    await make(kind, sound);
    t.equal(await outcome(kind, sound), COMMITS * KEYS);
    const files = await readdir(sound);
    const log = files.find((file) => file.includes('log')) ?? '';
    const size = (await stat(join(sound, log))).size;
    let copies = 0;
    const damaged = async (damage: (directory: string) => Promise<void>) => {
      const directory = join(top, `copy-${copies++}`);
      await cp(sound, directory, { recursive: true });
      await damage(directory);
      return outcome(kind, directory);
    };
    const flip = async (path: string, at: number) => {
      const bytes = await readFile(path);
      bytes[at]! ^= 0x10;
      await writeFile(path, bytes);
    };
    const lastRecord = size - 12 - 8 * KEYS;
    for (let at = 0; at < lastRecord; at += Math.max(1, Math.floor(size / 60)))
      t.equal(
        await damaged((d) => flip(join(d, log), at)),
        'ERR_STORAGE',
        `byte ${at} of ${size} is changed`,
      );
    t.equal(await damaged((d) => truncate(join(d, log), size - 3)), (COMMITS - 1) * KEYS, 'a torn end');
    if (kind === 'memory-set') return;
    const runs = files.filter((file) => file.startsWith('run-'));
    t.ok(runs.length > 0);
    for (const run of runs) {
      const { size } = await stat(join(sound, run));
      for (let at = 0; at < size; at += Math.max(1, Math.floor(size / 40)))
        t.equal(
          await damaged((d) => flip(join(d, run), at)),
          'ERR_STORAGE',
          `byte ${at} of ${run} is changed`,
        );
    }
    for (const file of files) {
      t.equal(await damaged((d) => rm(join(d, file))), 'ERR_STORAGE', `${file} is missing`);
      t.equal(
        await damaged((d) => truncate(join(d, file), 0)).then((found) => found === COMMITS * KEYS),
        false,
        `${file} is empty`,
      );
    }
  });
}
