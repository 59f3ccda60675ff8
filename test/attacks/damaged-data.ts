// The ways in which each file of a data directory is damaged, and what a check says of them.
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Test } from 'tap';
import { checkCrawlFiles } from '../../servers/crawler/check-files.js';
import { checkStores } from '../../storage/check/check.js';
import { isUnlisted } from '../../storage/files/file-kinds.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import type { DataDirectory } from './data-directories.js';

/** What a damage is made of. */
interface Victim {
  /** Where the file was; it was moved away. */
  readonly path: string;
  readonly bytes: Buffer;
  /** Other content of a file of its kind: of its neighbors, and of the earlier state. */
  readonly sibling: Buffer | undefined;
  readonly older: Buffer | undefined;
  readonly random: Random;
}

interface Damage {
  /** @returns false if it would be no damage */
  readonly make: (victim: Victim) => unknown;
  /** Files of which it is not named, and why. */
  readonly except?: RegExp;
}

const flipped = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
};

/** @param content of the damaged file; that of the sound one is no damage */
const replaced = (content: (victim: Victim) => Buffer | undefined, except?: RegExp): Damage => ({
  make: (victim) => {
    const damaged = content(victim);
    if (damaged === undefined || damaged.equals(victim.bytes)) return false;
    return writeFileSync(victim.path, damaged);
  },
  ...(except === undefined ? {} : { except }),
});

function zeroed(bytes: Buffer, from: number, length: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0, from, Math.min(bytes.length, from + length));
  return copy;
}

/** Logs may grow, and a crash leaves an incomplete record at the end of LevelDB's. */
const GROWS = /\.(?:log|out|gz)$|\/LOG$|\/log\.\w+$|\/MANIFEST-\d+$/;
const BLOCK = 512;

const DAMAGES: Readonly<Record<string, Damage>> = {
  missing: { make: () => undefined },
  'cut by a byte': replaced(({ bytes }) => bytes.subarray(0, -1)),
  'cut by a third': replaced(({ bytes }) => bytes.subarray(0, Math.floor((bytes.length * 2) / 3))),
  empty: replaced(() => Buffer.alloc(0)),
  'a bit at the begin': replaced(({ bytes }) => (bytes.length === 0 ? undefined : flipped(bytes, 0))),
  'a bit in the middle': replaced(({ bytes, random }) =>
    bytes.length === 0 ? undefined : flipped(bytes, random.below(bytes.length)),
  ),
  'a bit at the end': replaced(({ bytes }) =>
    bytes.length === 0 ? undefined : flipped(bytes, bytes.length - 1),
  ),
  'zeros in the middle': replaced(({ bytes, random }) =>
    zeroed(bytes, random.below(Math.ceil(bytes.length / BLOCK)) * BLOCK, BLOCK),
  ),
  'zeros at the end': replaced(({ bytes }) =>
    zeroed(bytes, Math.max(0, Math.floor((bytes.length - 1) / BLOCK) * BLOCK), BLOCK),
  ),
  longer: replaced(({ bytes }) => Buffer.concat([bytes, Buffer.from('x')]), GROWS),
  older: replaced(({ older }) => older),
  'a sibling': replaced(({ sibling }) => sibling),
  'a directory': { make: ({ path }) => mkdirSync(path) },
  'a link': { make: ({ path }) => symlinkSync('/etc/hostname', path) },
  'a link to itself': { make: ({ path }) => symlinkSync(heldAt(path), path) },
  unreadable: {
    make: ({ path, bytes }) => {
      writeFileSync(path, bytes);
      chmodSync(path, 0);
    },
  },
};

/** Where a file is meanwhile. */
let held = '';
const heldAt = (_path: string): string => held;

/** Whoever may read everything is not the one who checks. */
const STRANGER = 65_534;
const isRoot = process.getuid?.() === 0;

/** Everything that a check says. */
async function check(directory: string): Promise<string[]> {
  const said: string[] = [];
  if (isRoot) process.seteuid?.(STRANGER);
  try {
    for (const find of [checkStores, checkCrawlFiles])
      for await (const { directory: place, problems } of find(directory))
        for (const problem of problems) said.push(`${relative(directory, place)}: ${problem}`);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  return said;
}

function give(directory: string): void {
  if (!isRoot) return;
  chownSync(directory, STRANGER, STRANGER);
  for (const name of readdirSync(directory, { recursive: true }))
    lchownSync(join(directory, String(name)), STRANGER, STRANGER);
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

/** Files of the same kind have the same name, but for numbers. */
const kindOfName = (path: string): string => basename(path).replace(/\d+/g, '0');

/**
 * Damages files of a data directory in turn: every damage is named with the file, and afterwards it is sound.
 *
 * @param cases number of damages that are chosen by the seed; all by default
 */
export async function testDamages(
  t: Test,
  { name: scene, path: data, older }: DataDirectory,
  cases = Number.POSITIVE_INFINITY,
): Promise<void> {
  give(data);
  t.same(await check(data), [], 'sound at first');
  held = `${data}.held`;
  const random = new Random(SEED);
  const files = filesIn(data);
  const earlier = filesIn(older);
  const sum = { named: 0, told: 0, sound: 0 };
  const all = files.flatMap((path) =>
    Object.entries(DAMAGES).map(([name, damage]) => ({ path, name, ...damage })),
  );
  const judge = async (path: string, name: string) => {
    const said = await check(data);
    const file = relative(data, path);
    const isNamed = said.some((sentence) => sentence.includes(basename(path)));
    sum[isNamed ? 'named' : said.length > 0 ? 'told' : 'sound']++;
    t.ok(isNamed, `${file}: ${name}`, isNamed ? {} : { said });
  };
  const contentOf = (candidates: readonly string[], path: string, bytes: Buffer): Buffer | undefined =>
    candidates
      .filter((other) => other !== path && kindOfName(other) === kindOfName(path))
      .map((other) => readFileSync(other))
      .find((content) => !content.equals(bytes));
  for (const { path, name, make, except } of random.shuffle(all).slice(0, cases)) {
    if (except?.test(path) === true) continue;
    const bytes = readFileSync(path);
    const sibling = contentOf(files, path, bytes);
    const own = relative(data, path);
    const former = earlier.filter((other) => dirname(relative(older, other)) === dirname(own));
    renameSync(path, held);
    const victim = { path, bytes, sibling, older: contentOf(former, path, bytes), random };
    if (make(victim) !== false) {
      if (isRoot && name !== 'unreadable' && name !== 'missing') lchownSync(path, STRANGER, STRANGER);
      await judge(path, name);
    }
    rmSync(path, { recursive: true, force: true });
    renameSync(held, path);
  }
  for (const directory of new Set(files.map((path) => dirname(path)))) {
    for (const name of ['unknown.bin', '999999.ldb']) {
      if (random.below(all.length) >= cases) continue;
      // A crash leaves tables that the MANIFEST does not name; LevelDB removes them.
      if (/killed$/.test(data) && /\/(?:working|store)\/\d+\.ldb$/.test(join(directory, name))) continue;
      const path = join(directory, name);
      writeFileSync(path, 'strange');
      await judge(path, 'added');
      rmSync(path);
    }
  }
  t.comment(`${scene}: ${sum.named} named, ${sum.told} told without the name, ${sum.sound} called sound`);
  t.same(await check(data), [], 'sound at the end');
}
