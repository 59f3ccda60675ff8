// The recovery journal: its lines, the gzip file, and torn files after a crash.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  formatJournalLine,
  type JournalEvent,
  type JournalUri,
  parseJournalLine,
} from '../../../servers/crawler/journal/journal-line.js';
import { readJournal } from '../../../servers/crawler/journal/journal-reader.js';
import { JournalWriter } from '../../../servers/crawler/journal/journal-writer.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { EVENT } from './log-fixtures.js';

/** Reads all events of a journal. */
async function readEvents(
  path: string,
  options?: Parameters<typeof readJournal>[1],
): Promise<JournalEvent[]> {
  const events: JournalEvent[] = [];
  for await (const event of readJournal(path, options)) events.push(event);
  return events;
}

/** Returns the lines of a journal, read without the code under test. */
async function linesOf(path: string): Promise<string[]> {
  return gunzipSync(await readFile(path))
    .toString()
    .split('\n')
    .slice(0, -1);
}

/** Returns the event of a seed that was added. */
const seed = (url: string): JournalEvent => ({ tag: 'F+', url, pathFromSeed: '', via: '' });

t.test('CRAWL-17.1.1 each tag has its line; the line of a seed ends in two spaces', (t) => {
  const time = Date.UTC(2026, 0, 2, 3, 4, 5);
  const uri = { url: 'http://a.test/x', pathFromSeed: 'LE', via: 'http://a.test/' };
  const table: [string, JournalEvent][] = [
    ['F+ http://a.test/  ', seed('http://a.test/')],
    ['F+ http://a.test/x LE http://a.test/', { tag: 'F+', ...uri }],
    ['Fs http://a.test/x LE http://a.test/', { tag: 'Fs', ...uri }],
    ['Ff http://a.test/x LE http://a.test/', { tag: 'Ff', ...uri }],
    ['Fe http://a.test/x', { tag: 'Fe', url: uri.url }],
    ['Fd http://a.test/x', { tag: 'Fd', url: uri.url }],
    ['Fr http://a.test/x', { tag: 'Fr', url: uri.url }],
    ['Fi http://a.test/x', { tag: 'Fi', url: uri.url }],
    ['T 20260102030405', { tag: 'T', time }],
    ['E disk was full', { tag: 'E', text: 'disk was full' }],
  ];
  for (const [line, event] of table) {
    t.equal(formatJournalLine(event), line);
    t.same(parseJournalLine(line), event, line);
  }
  t.equal(formatJournalLine({ tag: 'E', text: 'two\r\nlines' }), 'E two lines');
  t.end();
});

t.test('CRAWL-17.1.1 missing fields at the end of a line are empty; any other line is invalid', (t) => {
  t.same(parseJournalLine('Fs http://a.test/'), {
    tag: 'Fs',
    url: 'http://a.test/',
    pathFromSeed: '',
    via: '',
  });
  t.same(parseJournalLine('F+ http://a.test/ L\r'), {
    tag: 'F+',
    url: 'http://a.test/',
    pathFromSeed: 'L',
    via: '',
  });
  for (const line of '|F+|F+ |F+  L http://a.test/|Fx http://a.test/|T 2026|T 20261301000000|f+ a|F+ a b c d'.split(
    '|',
  ))
    t.equal(parseJournalLine(line), undefined, JSON.stringify(line));
  t.end();
});

t.test('CRAWL-17.1.1 spaces, line ends and lone surrogates in URIs are escaped', (t) => {
  const odd = 'http://a.test/a b\n\r\t\u00a0\u2028\ud800ü%20';
  const line = formatJournalLine({ tag: 'Fs', url: odd, pathFromSeed: 'L', via: 'x y' });
  t.equal(line, 'Fs http://a.test/a%20b%0A%0D%09%C2%A0%E2%80%A8%EF%BF%BDü%20 L x%20y');
  t.end();
});

t.test('CRAWL-17.1.1 property: a line parses back to its event for any URI', (t) => {
  const uri = fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string({ minLength: 1, unit: 'binary' }));
  assertProperty(
    fc.property(
      fc.constantFrom('F+', 'Fs', 'Ff'),
      uri,
      fc.stringMatching(/^[LEXRPIMS]{0,60}$/),
      uri,
      (tag, url, pathFromSeed, via) => {
        const line = formatJournalLine({ tag, url, pathFromSeed, via } as JournalEvent);
        if (/[\n\r]/.test(line) || line.split(' ').length !== 4) return false;
        const event = parseJournalLine(line);
        if (event === undefined || event.tag !== tag) return false;
        const parsed = event as JournalUri;
        const same = (one: string, two: string): boolean => /[\s\p{C}]/u.test(two) || one === two;
        return (
          formatJournalLine(event) === line &&
          same(parsed.url, url) &&
          same(parsed.via, via) &&
          parsed.pathFromSeed === pathFromSeed
        );
      },
    ),
    { numRuns: 200 },
  );
  t.end();
});

t.test('CRAWL-17.1.1 the file is gzip text with a time mark after every 10 000 lines', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const writer = await JournalWriter.open(path, { now: () => Date.UTC(2026, 6, 1) });
  for (let i = 1; i <= 20_001; i++) writer.write({ tag: 'Fe', url: `http://a.test/${i}` });
  await writer.close();
  const lines = await linesOf(path);
  t.equal(lines.length, 20_003);
  t.same(lines.slice(9_999, 10_002), [
    'Fe http://a.test/10000',
    'T 20260701000000',
    'Fe http://a.test/10001',
  ]);
  t.same(lines.slice(20_000), ['Fe http://a.test/20000', 'T 20260701000000', 'Fe http://a.test/20001']);
});

t.test('CRAWL-8.4 a returned URI is written with the tag of its outcome', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const writer = await JournalWriter.open(path);
  const event = (status: number, disposition: 'summarized' | 'failed' | 'rejected' | 'retry') =>
    writer.finished({ ...EVENT, url: `http://a.test/${status}`, status, disposition });
  event(200, 'summarized');
  event(404, 'failed');
  event(-5, 'failed');
  event(-9998, 'rejected');
  event(-2, 'retry');
  await writer.close();
  t.same(await linesOf(path), [
    'Fs http://a.test/200 L http://a.test/',
    'Fs http://a.test/404 L http://a.test/',
    'Ff http://a.test/-5 L http://a.test/',
    'Fd http://a.test/-9998',
    'Fr http://a.test/-2',
  ]);
});

t.test('CRAWL-17.1 flushed lines can be read at once, and reopening appends', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const first = await JournalWriter.open(path);
  first.write(seed('http://a.test/1'));
  await first.file.flush();
  first.write(seed('http://a.test/2'));
  await first.file.flush();
  t.same(await readEvents(path), [seed('http://a.test/1'), seed('http://a.test/2')]);
  await first.close();
  await first.close();
  t.throws(() => first.write(seed('http://a.test/late')), { name: 'StateError' });

  const second = await JournalWriter.open(path);
  second.write(seed('http://a.test/3'));
  await second.close();
  t.same(await linesOf(path), ['F+ http://a.test/1  ', 'F+ http://a.test/2  ', 'F+ http://a.test/3  ']);
});

t.test('CRAWL-16.4 a journal rotates like the logs', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const writer = await JournalWriter.open(path);
  writer.write(seed('http://a.test/1'));
  t.equal(await writer.file.rotate('cp00001'), `${path}.cp00001`);
  writer.write(seed('http://a.test/2'));
  await t.rejects(writer.file.rotate('cp00001'), { name: 'StateError', message: /exists already/ });
  await t.rejects(writer.file.rotate('../x'), { name: 'TypeError' });
  await writer.close();
  t.same(await linesOf(`${path}.cp00001`), ['F+ http://a.test/1  ']);
  t.same(await linesOf(path), ['F+ http://a.test/2  ']);
});

/**
 * Writes a journal of two gzip members; each event of the second is flushed. Returns the file's size after the
 * first and each flush.
 */
async function writeTwoMembers(path: string, flushes: number): Promise<{ first: number; sizes: number[] }> {
  const firstWriter = await JournalWriter.open(path);
  for (let i = 0; i < 50; i++) firstWriter.write({ tag: 'Fe', url: `http://one.test/${i}` });
  await firstWriter.close();
  const first = (await readFile(path)).length;
  const secondWriter = await JournalWriter.open(path);
  const sizes = [first];
  for (let i = 0; i < flushes; i++) {
    secondWriter.write({ tag: 'Fe', url: `http://two.test/${i * i}` });
    await secondWriter.file.flush();
    sizes.push((await readFile(path)).length);
  }
  await secondWriter.close();
  return { first, sizes };
}

t.test('CRAWL-17.1 property: a cut file yields all flushed lines, and can be continued', async (t) => {
  const root = await temporaryDirectory(t);
  const whole = join(root, 'whole.gz');
  const { first, sizes } = await writeTwoMembers(whole, 30);
  const bytes = await readFile(whole);
  const all = await readEvents(whole);
  t.equal(all.length, 80);
  const path = join(root, 'cut.gz');
  await assertProperty(
    fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (cut) => {
      await writeFile(path, bytes.subarray(0, cut));
      const events = await readEvents(path);
      // Every line flushed before the cut is present, and every line present was written.
      const flushed = cut < first ? 0 : 50 + sizes.filter((size) => size <= cut).length - 1;
      if (events.length < flushed)
        throw new Error(`${events.length} of ${flushed} events of a file cut at ${cut}`);
      t.same(events, all.slice(0, events.length));

      const next = await JournalWriter.open(path);
      next.write(seed('http://next.test/'));
      await next.close();
      const after = (await linesOf(path)).filter((line) => !line.startsWith('E '));
      if (after.length < flushed + 1)
        throw new Error(`${after.length} lines after the repair of a file cut at ${cut}`);
      t.same(after, [...all.slice(0, after.length - 1).map(formatJournalLine), 'F+ http://next.test/  ']);
    }),
    {
      numRuns: 60,
      examples: [[0], [1], [9], [10], [first - 1], [first], [first + 5], [first + 10], [bytes.length]],
    },
  );
});

t.test('CRAWL-17.1 a tail of zeros after a power failure is repaired too', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const { sizes } = await writeTwoMembers(path, 5);
  await truncate(path, sizes[4]);
  await appendFile(path, Buffer.alloc(5000));
  const writer = await JournalWriter.open(path);
  writer.write(seed('http://next.test/'));
  await writer.close();
  const lines = await linesOf(path);
  t.same(lines.slice(-3), [
    'Fe http://two.test/9',
    'E the file was torn: 5000 bytes at its end were cut off',
    'F+ http://next.test/  ',
  ]);
  t.equal(lines.length, 56);
});

t.test('CRAWL-17.1 damage is an error, or ends the reading if a handler accepts it', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const body = Array.from({ length: 5000 }, (_, i) => `Fe http://a.test/${i * 7919}\n`).join('');
  const bytes = gzipSync(body);
  bytes.fill(0xff, bytes.length - 2000, bytes.length - 1000);
  await writeFile(path, bytes);
  await t.rejects(readEvents(path), { name: 'StorageError', message: /recover\.gz/ });
  const damage: string[] = [];
  const events = await readEvents(path, { onDamage: (error) => damage.push(error.name) });
  t.same(damage, ['StorageError']);
  t.ok(events.length > 2000, `${events.length} events before the damage`);
  t.same(events.at(-1), { tag: 'Fe', url: `http://a.test/${(events.length - 1) * 7919}` });
  await t.rejects(JournalWriter.open(path), { name: 'StorageError', message: /move it away/ });
  await t.rejects(readEvents(`${path}.missing`), { name: 'StorageError', message: /ENOENT/ });
});

t.test('CRAWL-17.1 a journal may be plain text; bad lines are reported and skipped', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover');
  await writeFile(
    path,
    `F+ http://a.test/  \nnonsense\n\nFe ${'x'.repeat(5000)}\nFe http://a.test/\nFs http://a.te`,
  );
  const badLines: [number, number][] = [];
  const events = await readEvents(path, {
    maxLineLength: 1000,
    onBadLine: (line, text) => badLines.push([line, text.length]),
  });
  t.same(events, [seed('http://a.test/'), { tag: 'Fe', url: 'http://a.test/' }]);
  t.same(badLines, [
    [2, 8],
    [4, 0],
  ]);
});

t.test('CRAWL-17.1 property: gzip members may end anywhere in a line', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.webUrl(), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 4000 }),
      async (urls, step) => {
        const text = Buffer.from(urls.map((url) => `F+ ${url} L ${url}\n`).join(''));
        const members: Buffer[] = [];
        for (let offset = 0; offset < text.length; offset += step)
          members.push(gzipSync(text.subarray(offset, offset + step)));
        await writeFile(path, Buffer.concat(members));
        t.same(
          await readEvents(path),
          urls.map((url) => ({ tag: 'F+', url, pathFromSeed: 'L', via: url })),
        );
      },
    ),
    { numRuns: 30 },
  );
});

t.test('CRAWL-17.1 after kill -9 the journal has every flushed line and can be continued', async (t) => {
  const path = join(await temporaryDirectory(t), 'recover.gz');
  const module = new URL('../../../servers/crawler/journal/journal-writer.js', import.meta.url).href;
  const script = `
    const { JournalWriter } = await import(${JSON.stringify(module)});
    const writer = await JournalWriter.open(${JSON.stringify(path)}, { flushMs: 50 });
    setInterval(() => {}, 1000);
    for (let i = 0; ; i++) {
      writer.write({ tag: 'Fe', url: 'http://a.test/' + i });
      if (i % 100 === 99) {
        await writer.file.flush();
        process.stdout.write((i + 1) + '\\n');
      }
    }`;
  let flushed = 0;
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    let reported = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      reported = Number(line);
      if (reported === 300) child.kill('SIGKILL');
    }
    await exit;
    flushed += reported;
    const events = (await readEvents(path)).filter(({ tag }) => tag === 'Fe');
    t.ok(events.length >= flushed, `round ${round}: ${events.length} events, ${flushed} were flushed`);
  }
  const starts = (await readEvents(path)).filter(
    (event) => event.tag === 'Fe' && event.url === 'http://a.test/0',
  );
  t.equal(starts.length, 3, 'each round continued the same file');
});
