// An interrupted crawl whose own files are damaged: the next run continues and says what is lost, or ends with
// what to type.
import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 60;
const SEEN = 'data/seen/disk-merge';
const JOURNAL = 'data/crawl/logs/recover.gz';

const root = await temporaryDirectory(t);
const sound = join(root, 'sound');
const documents = await writeDocuments(join(root, 'documents'), DOCUMENTS);

const order = (maxDocuments: number) =>
  JSON.stringify({ lowDiskMiB: 0, logs: true, seen: 'disk-merge', recoveryJournal: true, maxDocuments });

async function flip(file: string, part: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[Math.floor(bytes.length * part)]! ^= 0x55;
  await writeFile(file, bytes);
}

t.before(async () => {
  await mkdir(sound);
  await writeFile(
    join(sound, 'g.cf'),
    `Gatherer-Name: G\nData-Directory: data\nCrawl-Order: order.json\n<RootNodes>\nfile://${documents}/ URL=1000\n</RootNodes>\n`,
  );
  await writeFile(join(sound, 'order.json'), order(20));
  const { code, stderr } = await cli('gatherer', '--no-daemon', join(sound, 'g.cf'));
  if (code !== 0) throw new Error(stderr);
});

interface Damage {
  readonly name: string;
  readonly damage: (directory: string) => Promise<void>;
  /** What the next run says; `undefined` for nothing in particular. */
  readonly says: RegExp;
  /** Refused until this is removed; then the run continues. */
  readonly remove?: string;
}

const CASES: readonly Damage[] = [
  {
    name: 'the state of servers and statistics',
    damage: (d) => truncate(join(d, 'data/crawl/restored.json'), 20),
    says: /restored\.json is damaged; it is removed and the crawl continues without it\n/,
  },
  {
    name: 'the journal',
    damage: (d) => flip(join(d, JOURNAL), 0.5),
    says: /recover\.gz: its last \d+ bytes could not be read and are cut off(?:; the file as it was is \S+)?\n/,
  },
  {
    name: 'a journal of another program',
    damage: (d) => writeFile(join(d, JOURNAL), 'something else that is long enough'),
    says: /recover\.gz is not a journal that can be continued: move it away\n/,
    remove: JOURNAL,
  },
  {
    name: 'the list of the seen filter',
    damage: (d) => rm(join(d, SEEN, 'runs.json')),
    says: /runs\.json is missing, but log-1 is there; after `rm -r \S+` the run continues/,
    remove: SEEN,
  },
  {
    name: 'the log of the seen filter',
    damage: (d) => rm(join(d, SEEN, 'log-1')),
    says: /log-1 cannot be opened: .*; after `rm -r \S+` the run continues/,
    remove: SEEN,
  },
  {
    name: 'the whole seen filter',
    damage: (d) => rm(join(d, SEEN), { recursive: true }),
    says: /the seen filter disk-merge has lost its content: the crawl continues with the queued URIs, and \d+ that are done may be fetched again/,
  },
];

for (const [i, { name, damage, says, remove }] of CASES.entries()) {
  t.test(`damage of ${name}`, async (t) => {
    const directory = join(root, `copy-${i}`);
    await cp(sound, directory, { recursive: true });
    await writeFile(join(directory, 'order.json'), order(0));
    await damage(directory);
    let run = await cli('gatherer', '--no-daemon', '--json', join(directory, 'g.cf'));
    t.match(run.stderr, says);
    t.notMatch(run.stderr, /\n {4}at /);
    if (remove !== undefined) {
      t.equal(run.code, 1);
      await rm(join(directory, remove), { recursive: true });
      run = await cli('gatherer', '--no-daemon', '--json', join(directory, 'g.cf'));
    }
    t.equal(run.code, 0, run.stderr);
    t.match(JSON.parse(run.stdout), { gathered: { resumed: true }, objects: DOCUMENTS });
  });
}
