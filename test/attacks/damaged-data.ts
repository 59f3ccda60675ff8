// Data directories of `harvest run`, sealed and killed, and the ways in which each of their files is damaged.
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Test } from 'tap';
import { checkCrawlFiles } from '../../servers/crawler/check-files.js';
import { checkStores } from '../../storage/check/check.js';
import { isUnlisted, kindOf } from '../../storage/files/file-kinds.js';
import { readFileList } from '../../storage/files/file-list.js';
import { findFiles } from '../../storage/files/list-files.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const DOCUMENTS = 12;

/** A data directory after a run that ended in good order, and after one that was killed when everything was done. */
export async function makeData(t: Test): Promise<{ readonly sealed: string; readonly killed: string }> {
  const directory = await temporaryDirectory(t);
  const documents = join(directory, 'documents');
  mkdirSync(documents);
  for (let i = 0; i < DOCUMENTS; i++)
    writeFileSync(
      join(documents, `${i}.html`),
      `<title>Page ${i}</title><p>word${i}</p><a href="${(i + 1) % DOCUMENTS}.html">next</a>`,
    );
  const sealed = join(directory, 'sealed');
  const killed = join(directory, 'killed');
  const run = ['run', documents, ...ANY_PORTS, '--low-disk', '0'];
  t.match(await cli(...run, '--data', sealed, '--once'), { code: 0 });
  cpSync(sealed, killed, { recursive: true, preserveTimestamps: true });
  const program = new CliProcess([...run, '--data', killed, '--every', '1d', '--force']);
  await Promise.race([program.output(/What to try/), program.output(/What to try/, 'stderr')]);
  for (const part of ['gatherer', 'broker']) await waitUntil(() => isNoted(join(killed, part)));
  program.kill('SIGKILL');
  await program.finished;
  return { sealed, killed };
}

/** Whether the list has every file as it is. */
async function isNoted(directory: string): Promise<boolean> {
  const list = await readFileList(directory);
  if (typeof list !== 'object') return false;
  for (const [name, { size }] of await findFiles(directory)) {
    const listed = list.files.get(name);
    if (listed === undefined) return false;
    if (
      ['final', 'growing', 'replaced'].includes(kindOf(name)) &&
      (listed.mtimeNs === '0' || listed.size !== size)
    )
      return false;
  }
  return true;
}

interface Damage {
  /** Puts something in the place of a file that was moved away. @returns false if it would be the same */
  readonly make: (path: string, bytes: Buffer, random: Random) => unknown;
  /** Files of which it is not named, and why. */
  readonly except?: RegExp;
}

function flip(path: string, bytes: Buffer, at: number): unknown {
  if (bytes.length === 0) return false;
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return writeFileSync(path, copy);
}

/** Logs may grow, and a crash leaves an incomplete record at the end of LevelDB's. */
const GROWS = /\.(?:log|out)$|\/LOG$|\/log\.\w+$|\/MANIFEST-\d+$/;

const DAMAGES: Readonly<Record<string, Damage>> = {
  missing: { make: () => undefined },
  'cut by a byte': {
    make: (path, bytes) => bytes.length > 0 && writeFileSync(path, bytes.subarray(0, -1)),
  },
  empty: { make: (path, bytes) => bytes.length > 0 && writeFileSync(path, '') },
  'a bit at the begin': { make: (path, bytes) => flip(path, bytes, 0) },
  'a bit in the middle': { make: (path, bytes, random) => flip(path, bytes, random.below(bytes.length)) },
  'a bit at the end': { make: (path, bytes) => flip(path, bytes, bytes.length - 1) },
  longer: {
    make: (path, bytes) => writeFileSync(path, Buffer.concat([bytes, Buffer.from('x')])),
    except: GROWS,
  },
  older: {
    make: (path, bytes) => bytes.length > 1 && writeFileSync(path, bytes.subarray(0, bytes.length >> 1)),
  },
  'a sibling': {
    make: (path, bytes) => {
      const directory = dirname(path);
      const other = readdirSync(directory)
        .map((name) => join(directory, name))
        .find((name) => statSync(name).isFile() && !readFileSync(name).equals(bytes));
      return other !== undefined && writeFileSync(path, readFileSync(other));
    },
    except: /\/web\.log$|\/log\.errors$|\/refererd\.log$/,
  },
  'a directory': { make: (path) => mkdirSync(path) },
  'a link': { make: (path) => symlinkSync('/etc/hostname', path) },
};

/** The pages of an index are compared with each other only, and it is derived from the store. */
const INDEX = /index\.sqlite$/;

/** Everything that a check says. */
async function check(directory: string): Promise<string[]> {
  const said: string[] = [];
  for (const find of [checkStores, checkCrawlFiles])
    for await (const { directory: place, problems } of find(directory))
      for (const problem of problems) said.push(`${relative(directory, place)}: ${problem}`);
  return said;
}

/** The files of a data directory that have a place in its lists, and the lists. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const name = relative(directory, path).replace(/^[^/]+\//, '');
      return name === 'FILES' || !isUnlisted(name);
    });
}

/**
 * Damages files of a data directory in turn: every damage is named with the file, and afterwards it is sound.
 *
 * @param cases number of damages that are chosen by the seed; all by default
 */
export async function testDamages(t: Test, data: string, cases = Number.POSITIVE_INFINITY): Promise<void> {
  t.same(await check(data), [], 'sound at first');
  const random = new Random(SEED);
  const all = filesIn(data).flatMap((path) =>
    Object.entries(DAMAGES).map(([name, damage]) => ({ path, name, ...damage })),
  );
  for (const { path, name, make, except } of random.shuffle(all).slice(0, cases)) {
    if (except?.test(path) === true || (INDEX.test(path) && data.endsWith('killed'))) continue;
    const held = `${data}.held`;
    renameSync(path, held);
    if (make(path, readFileSync(held), random) !== false) {
      const said = (await check(data)).filter((sentence) => sentence.includes(basename(path)));
      t.not(said.length, 0, `${relative(data, path)}: ${name}`);
    }
    rmSync(path, { recursive: true, force: true });
    renameSync(held, path);
  }
  for (const directory of new Set(filesIn(data).map((path) => dirname(path)))) {
    if (random.below(all.length) >= cases) continue;
    const path = join(directory, 'unknown.bin');
    writeFileSync(path, 'strange');
    t.match((await check(data)).join('\n'), 'unknown.bin', `${relative(data, path)}: added`);
    rmSync(path);
  }
  t.same(await check(data), [], 'sound at the end');
}
