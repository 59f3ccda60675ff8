// The import of a recovery journal into a new crawl: its two passes, the scope, batches, and errors.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { importJournal } from '../../../servers/crawler/journal/import-journal.js';
import type { JournalUri } from '../../../servers/crawler/journal/journal-line.js';
import { JournalWriter } from '../../../servers/crawler/journal/journal-writer.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Returns a sink that collects the URIs of an import and the sizes of its batches. */
function collectingSink() {
  const noted: string[] = [];
  const scheduled: JournalUri[] = [];
  const sizes: number[] = [];
  return {
    noted,
    scheduled,
    sizes,
    async note(urls: string[]) {
      sizes.push(urls.length);
      noted.push(...urls);
    },
    async schedule(uris: JournalUri[]) {
      sizes.push(uris.length);
      scheduled.push(...uris);
    },
  };
}

const JOURNAL = `F+ http://a.test/  
F+ http://b.test/  
Fe http://a.test/
F+ http://a.test/1 L http://a.test/
F+ http://a.test/2 L http://a.test/
Fs http://a.test/  
Fi http://a.test/by-hand
T 20260101000000
Fe http://a.test/1
Ff http://a.test/1 L http://a.test/
Fd http://a.test/2
garbage
`;

t.test('CRAWL-17.1.2 pass 1 notes successes, pass 2 schedules all URIs that were queued', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  await writeFile(path, gzipSync(JOURNAL));
  const sink = collectingSink();
  const order: string[] = [];
  const counts = await importJournal(path, sink, {
    progressLines: 4,
    progress: ({ pass, lines, noted, scheduled }) => order.push(`${pass}:${lines}:${noted}:${scheduled}`),
    onStartThreshold: () => order.push('enough'),
  });
  t.same(sink.noted, ['http://a.test/', 'http://a.test/by-hand']);
  t.same(sink.scheduled, [
    { url: 'http://a.test/', pathFromSeed: '', via: '' },
    { url: 'http://b.test/', pathFromSeed: '', via: '' },
    { url: 'http://a.test/1', pathFromSeed: 'L', via: 'http://a.test/' },
    { url: 'http://a.test/2', pathFromSeed: 'L', via: 'http://a.test/' },
  ]);
  t.same(counts, { pass: 2, lines: 11, noted: 2, scheduled: 4, outOfScope: 0, badLines: 1 });
  t.same(order, ['1:4:0:0', '1:8:0:0', '1:11:2:0', '2:4:2:0', '2:8:2:0', 'enough', '2:11:2:4']);
});

t.test('CRAWL-17.1.2 failures are retained on request; the scope is applied again', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover');
  await writeFile(path, JOURNAL);
  const scope = async ({ url }: JournalUri) => !url.startsWith('http://a.test/1') && url !== 'http://a.test/';
  const checked = collectingSink();
  const counts = await importJournal(path, checked, { retainFailures: true, scope });
  t.same(checked.noted, ['http://a.test/by-hand']);
  t.same(
    checked.scheduled.map(({ url }) => url),
    ['http://b.test/', 'http://a.test/2'],
  );
  t.equal(counts.outOfScope, 4);

  const unchecked = collectingSink();
  await importJournal(path, unchecked, { retainFailures: true, scope, checkScope: false });
  t.same(unchecked.noted, ['http://a.test/', 'http://a.test/by-hand', 'http://a.test/1']);
  t.equal(unchecked.scheduled.length, 4);
});

t.test('CRAWL-17.1.2 a journal is read in order, in batches, before the crawl or beside it', async (t) => {
  const root = await temporaryDirectory(t);
  const files = [join(root, 'recover.gz.cp00001'), join(root, 'recover.gz')];
  for (const [index, path] of files.entries()) {
    const writer = await JournalWriter.open(path);
    for (let i = 0; i < 250; i++)
      writer.write({ tag: 'F+', url: `http://a.test/${index}/${i}`, pathFromSeed: '', via: '' });
    writer.write({ tag: 'Fs', url: `http://a.test/${index}/0`, pathFromSeed: '', via: '' });
    await writer.close();
  }
  const sink = collectingSink();
  const starts: number[] = [];
  await importJournal(files, sink, {
    batchSize: 100,
    startThreshold: 300,
    onStartThreshold: () => starts.push(sink.scheduled.length),
  });
  t.same(sink.sizes, [2, 100, 100, 100, 100, 100]);
  t.same(starts, [300]);
  t.equal(sink.scheduled[250]?.url, 'http://a.test/1/0');
});

t.test('CRAWL-17.1.2 an import ends when its signal is aborted or its sink fails', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover');
  await writeFile(path, JOURNAL);
  const abort = new AbortController();
  const sink = collectingSink();
  const importing = importJournal(
    path,
    {
      note: sink.note,
      async schedule(uris) {
        await sink.schedule(uris);
        abort.abort(new Error('stopped'));
      },
    },
    { signal: abort.signal, batchSize: 1 },
  );
  await t.rejects(importing, { message: 'stopped' });
  t.equal(sink.scheduled.length, 1);
  const failing = { note: sink.note, schedule: () => Promise.reject(new Error('no room')) };
  await t.rejects(importJournal(path, failing), { message: 'no room' });
});
