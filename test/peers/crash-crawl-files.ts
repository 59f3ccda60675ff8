// The recovery journal, the WARC files and the seen filters of a crawl after every crash: they open by
// themselves, and what was acknowledged is there.
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { readJournal } from '../../servers/crawler/journal/journal-reader.js';
import { JournalWriter } from '../../servers/crawler/journal/journal-writer.js';
import { examineRecords } from '../../servers/crawler/warc/complete-records.js';
import { WarcFiles } from '../../servers/crawler/warc/warc-files.js';
import { openSeenFilter, SEEN_KINDS } from '../../storage/seen/index.js';
import { examineCrashes } from '../disk/examine.js';
import { lastMark } from '../disk/marks.js';
import type { CrashState } from '../disk/states.js';

const LINES = 20;

/** The numbers of whole steps in all journals of a directory. */
async function journalSteps(directory: string): Promise<Set<number>> {
  const counts = new Map<number, number>();
  for (const name of await readdir(directory)) {
    if (!name.startsWith('recover.gz')) continue;
    for await (const event of readJournal(join(directory, name))) {
      if (event.tag !== 'F+') continue;
      const step = Number(event.url.split('/')[3]);
      counts.set(step, (counts.get(step) ?? 0) + 1);
    }
  }
  return new Set([...counts].filter(([, count]) => count === LINES).map(([step]) => step));
}

async function checkJournal(directory: string, state: CrashState): Promise<void> {
  await mkdir(directory, { recursive: true });
  {
    await using journal = await JournalWriter.open(join(directory, 'recover.gz'));
    journal.write({ tag: 'Fe', url: 'http://after.test/' });
  }
  const steps = await journalSteps(directory);
  // A journal is not flushed to the disk: the store is what survives a power failure.
  if (state.recipe.mode !== 'kill') return;
  for (let step = 1; step <= lastMark(state, 'journal'); step++)
    if (!steps.has(step)) throw new Error(`step ${step} of the journal is lost`);
}

async function checkWarc(directory: string, state: CrashState): Promise<void> {
  await using files = await WarcFiles.open({ directory, host: 'test' });
  await files.close();
  let bytes = 0;
  for (const name of await readdir(directory)) {
    if (name.endsWith('.open')) throw new Error(`${name} was not finished`);
    const path = join(directory, name);
    await using file = await open(path);
    const { size } = await stat(path);
    const { length, damage } = await examineRecords(file, { compression: 'gzip' });
    if (length !== size) throw new Error(`${name} has ${length} bytes of records instead of ${size}`);
    // A power failure may keep a block in the middle from the disk; the records after it are kept.
    if (state.recipe.mode === 'kill' && damage.length > 0) throw new Error(`${name} is damaged at ${damage}`);
    bytes += size;
  }
  // A file that was rolled is on the disk; the others are flushed when they are finished.
  const steps = state.recipe.mode === 'kill' ? lastMark(state, 'warc') : lastMark(state, 'rolled');
  if (bytes < steps * 4000) throw new Error(`${steps} records were written, ${bytes} bytes are there`);
}

t.test('CRAWL-17: every crash leaves journal and WARC files that continue with what was written', (t) =>
  examineCrashes(t, {
    program: 'crawl-files',
    modes: ['kill', 'journal'],
    mixes: 'ordered',
    async check(directory, state) {
      await checkJournal(join(directory, 'journal'), state);
      await checkWarc(join(directory, 'warc'), state);
    },
  }),
);

for (const kind of SEEN_KINDS.filter((name) => name !== 'memory-merge')) {
  t.test(`CRAWL-4: every crash of the seen filter ${kind} leaves what was flushed`, (t) =>
    examineCrashes(t, {
      program: 'seen-filter',
      options: [kind],
      modes: ['kill', 'journal'],
      async check(directory, state) {
        await using filter = await openSeenFilter({
          kind,
          directory,
          ...(kind === 'disk-merge' && { pendingKeys: 40 }),
          ...(kind === 'bloom' && { capacity: 2000 }),
        });
        const flushed = lastMark(state, 'flushed');
        for (let k = 1; k <= flushed; k++) {
          const uris = Array.from({ length: 14 }, (_, i) => `http://site.test/${k}/${i + 1}`);
          const added = await filter.add(uris);
          if (added.includes(1)) throw new Error(`a URI of commit ${k} of ${flushed} is lost`);
        }
      },
    }),
  );
}
