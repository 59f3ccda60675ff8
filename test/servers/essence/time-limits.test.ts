// The time limit of a document (E-70): the processor time of its reader counts, ten times as long the clock,
// and what was read is kept.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { DraftPiece } from '../../../servers/essence/document.js';
import { EssencePool } from '../../../servers/essence/index.js';
import { type GroupResult, WorkerGroup } from '../../../servers/essence/pool/worker-group.js';
import type { DocumentWorker, WorkerEvents } from '../../../servers/essence/pool/worker-messages.js';
import { summarizeDocument, summarizeDraft } from '../../../servers/essence/summarize.js';
import { measureThread, TimeBudget } from '../../../servers/essence/time-budget.js';
import { zip } from '../../helpers/archives.js';
import { pdfOf, stream } from '../../helpers/bombs/pdf-bombs.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { EXCEL_FILE } from './fixtures/office-files.js';
import { attributesOf, contentOf, contextOf, IDENTITY, inputOf } from './helpers.js';
import { tar } from './unnest-fixtures.js';

const LIMIT_MS = 1000;

/** A group of one worker whose time the test decides. */
function groupOf(t: Test) {
  const clock = new ManualClock();
  const state = { processorMs: 0, started: 0 };
  let events: WorkerEvents | undefined;
  const worker: DocumentWorker = {
    post: () => undefined,
    processorMs: () => state.processorMs,
    hold: () => undefined,
    end: async () => undefined,
  };
  const group = new WorkerGroup({
    workers: 1,
    timeLimitMs: LIMIT_MS,
    idleMs: Number.POSITIVE_INFINITY,
    clock,
    start: (given) => {
      state.started++;
      events = given;
      return worker;
    },
  });
  t.teardown(() => group.close());
  const results: GroupResult[] = [];
  const read = async (name: string): Promise<void> => {
    results.push(await group.run(inputOf(`http://a.test/${name}`, 'x')));
  };
  return {
    state,
    results,
    read,
    events: () => events!,
    /** Lets the time pass in small steps, with this share of it on the processor. */
    pass: (milliseconds: number, share: number) => {
      for (let i = 0; i < milliseconds / 10; i++) {
        state.processorMs += 10 * share;
        clock.advance(10);
      }
    },
  };
}

t.test('E-70 a reader that waits for the processor longer than its limit is not cut', async (t) => {
  const { read, events, pass, results } = groupOf(t);
  const reading = read('good.pdf');
  events().ready();
  pass(9 * LIMIT_MS, 0.1);
  events().reply({ kind: 'failure', reason: 'its reply' });
  await reading;
  t.match(results, [{ reason: 'its reply' }]);
});

t.test('E-70 a reader is ended at its limit of processor time, and what it has read is kept', async (t) => {
  const { read, events, pass, results, state } = groupOf(t);
  const pieces: DraftPiece[] = [{ attributes: [['Title', 'Minutes']] }, { text: 'page 1' }];
  const reading = read('slow.pdf');
  const next = read('next.pdf');
  events().ready();
  events().draft(pieces.slice(0, 1));
  events().draft(pieces.slice(1));
  // The share of the first look is not measured.
  pass(0.85 * LIMIT_MS, 1);
  t.same(results, [], 'before its limit');
  pass(0.5 * LIMIT_MS, 1);
  await reading;
  t.same(results, [
    { kind: 'failure', reason: 'reading it takes more than 1000 ms of processor time (E-70)', pieces },
  ]);
  t.equal(state.started, 2, 'the next document has another worker');
  events().ready();
  pass(0.85 * LIMIT_MS, 1);
  events().reply({ kind: 'failure', reason: 'its reply' });
  await next;
  t.match(results[1], { reason: 'its reply' }, 'and a limit of its own');
});

t.test('E-70 a reader that hangs without using the processor is ended by the clock', async (t) => {
  const { read, events, pass, results } = groupOf(t);
  const reading = read('stopped.pdf');
  events().ready();
  pass(9.9 * LIMIT_MS, 0);
  t.same(results, []);
  pass(1.5 * LIMIT_MS, 0);
  await reading;
  t.match(results, [{ kind: 'failure', reason: 'reading it takes more than 10000 ms by the clock (E-70)' }]);
});

t.test('E-70 both attempts to read a document share its limit; pieces of the first count once', async (t) => {
  const { read, events, pass, results } = groupOf(t);
  const reading = read('twice.pdf');
  events().ready();
  pass(0.7 * LIMIT_MS, 1);
  events().draft([{ text: 'page 1' }]);
  events().ended({ reason: 'no memory', retry: true });
  events().ready();
  events().draft([{ text: 'page 1' }]);
  pass(0.6 * LIMIT_MS, 1);
  await reading;
  t.match(results, [{ kind: 'failure', reason: /ms of processor time/, pieces: [{ text: 'page 1' }] }]);
  t.equal(results[0]?.kind === 'failure' && results[0].pieces?.length, 1);
});

t.test('a budget within another one ends with it', (t) => {
  let now = 0;
  const outer = new TimeBudget(1000, { processorMs: () => now, now: () => now });
  const inner = outer.within(5000);
  const short = outer.within(200);
  const look = (at: number) => {
    now = at;
    return [outer, inner, short].map((budget) => budget.exceeded());
  };
  t.same(look(100), [undefined, undefined, undefined]);
  t.same(look(600), [undefined, undefined, 'more than 200 ms of processor time']);
  t.same(look(1200).slice(0, 2), Array(2).fill('more than 1000 ms of processor time'));
  t.end();
});

t.test('the processor time of a thread is its own', { skip: process.platform !== 'linux' }, async (t) => {
  const start = async (rest: string) => {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       import(workerData).then(({ threadId }) => { parentPort.postMessage(threadId()); ${rest} });`,
      { eval: true, workerData: import.meta.resolve('../../../servers/essence/time-budget.js') },
    );
    t.teardown(() => worker.terminate());
    const [id] = await once(worker, 'message');
    return measureThread(id);
  };
  const waits = await start('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  const begin = waits();
  const burns = await start('for (;;);');
  const end = burns() + 100;
  while (burns() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  t.ok(waits() - begin < 100, 'a thread that waits uses nothing meanwhile');
});

/** Reads a document until the reader has kept a number of pieces; then its time is over. */
function readUntil(name: string, body: string | Uint8Array, pieces: number, options = {}) {
  let used = 0;
  let kept = 0;
  const time = new TimeBudget(LIMIT_MS, { processorMs: () => used, now: () => used });
  // The first look, which the others are compared with.
  void time.usedMs;
  const isOver = (): boolean => kept >= pieces;
  if (isOver()) used = 2 * LIMIT_MS;
  const keep = (): void => {
    kept++;
    if (isOver()) used = 2 * LIMIT_MS;
  };
  return summarizeDocument(inputOf(`http://a.test/${name}`, body), contextOf(options), undefined, {
    time,
    keep,
  });
}

/** A file of pages of one line each, with a title and an author. */
function pagesPdf(lines: readonly string[]): Uint8Array {
  const first = 5;
  const kids = lines.map((_, i) => `${first + 2 * i} 0 R`).join(' ');
  return pdfOf(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Kids[${kids}]/Count ${lines.length}>>`,
      '<</Title(Minutes)/Author(Ann)>>',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      ...lines.flatMap((line, i) => [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 4 0 R>>>>/Contents ${first + 2 * i + 1} 0 R>>`,
        stream('', new Uint8Array(Buffer.from(`BT /F 12 Tf 72 700 Td (${line}) Tj ET`))),
      ]),
    ],
    '/Info 3 0 R',
  );
}

const OVER = 'reading it takes more than 1000 ms of processor time (E-70)';

t.test('E-45, E-70 a PDF whose time is over keeps title, author and the pages read so far', async (t) => {
  const body = pagesPdf(['wheat', 'barley', 'oats', 'rye']);
  // The information, then two pages.
  const output = await readUntil('a.pdf', body, 3);
  t.same(contentOf(output), { Title: 'Minutes\n', Author: 'Ann\n', 'Partial-Text': 'wheat\n\nbarley\n' });
  t.same(output.warnings, [`the Pdf document is not read to its end (E-45): ${OVER}`]);
  const whole = await readUntil('a.pdf', body, 100);
  t.same([contentOf(whole)['Partial-Text'], whole.warnings], ['wheat\n\nbarley\n\noats\n\nrye\n', []]);
});

t.test('E-45, E-70 a document of which nothing was read in its time is summarized by its name', async (t) => {
  const output = await readUntil(
    'a.pdf',
    pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>',
    ]),
    0,
  );
  t.same(contentOf(output), { Title: 'a.pdf\n' });
  t.same(output.warnings, [`the Pdf document is summarized by its name (E-45): ${OVER}`]);
});

t.test('E-45, E-70 an archive whose time is over keeps the members read so far', async (t) => {
  const body = tar([
    ['a.txt', 'wheat\n'],
    ['b.pdf', pagesPdf(['barley'])],
    ['c.pdf', pagesPdf(['oats'])],
  ]);
  // The text, then the information and the page of the first PDF file.
  const output = await readUntil('a.tar', body, 3);
  t.match(contentOf(output), {
    'Embed<1>-Nested-Filename': 'a.txt',
    'Embed<1>-Partial-Text': 'wheat\n',
    'Embed<2>-Title': 'Minutes\n',
    'Embed<2>-Partial-Text': 'barley\n',
  });
  t.notMatch(JSON.stringify(contentOf(output)), /c\.pdf/);
  t.same(output.warnings, ['"a.tar": unnesting stopped: it took more than 1000 ms of processor time (E-45)']);
});

t.test('E-45, E-70 a member whose time is over says so', async (t) => {
  const output = await readUntil(
    'a.tar',
    tar([
      ['a.pdf', pagesPdf(['wheat', 'barley'])],
      ['b.txt', 'x'],
    ]),
    2,
  );
  t.match(contentOf(output), { 'Embed<1>-Title': 'Minutes\n', 'Embed<1>-Partial-Text': 'wheat\n' });
  t.match(output.warnings, [`a.pdf: it is not read to its end (E-45): ${OVER}`, /unnesting stopped/]);
});

t.test('E-45, E-70 an office document that is out of time keeps properties and text so far', async (t) => {
  const paragraphs = Array.from({ length: 5000 }, (_, i) => `<w:p><w:r><w:t>line ${i}</w:t></w:r></w:p>`);
  const body = zip(
    Object.entries({
      'docProps/core.xml': '<c><dc:title>Minutes</dc:title><dc:creator>Ann</dc:creator></c>',
      'word/document.xml': `<w:document><w:body>${paragraphs.join('')}</w:body></w:document>`,
    }).map(([name, text]) => [name, Buffer.from(text)]),
  );
  // Two properties and the first part of the text.
  const output = await readUntil('a.docx', body, 3, { fullText: true });
  const { Title, Author, 'Full-Text': text = '' } = contentOf(output);
  t.same([Title, Author], ['Minutes\n', 'Ann\n']);
  t.match(text, /line 0\nline 1\n/);
  t.notMatch(text, /line 4000/);
  t.same(output.warnings, [`the OfficeOpenXML document is not read to its end (E-45): ${OVER}`]);
});

t.test('E-45, E-70 pages and marked-up texts whose time is over keep their beginning', async (t) => {
  const lines = (begin: string, end: string) =>
    Array.from({ length: 20_000 }, (_, i) => `${begin}line ${i}${end}`).join('\n');
  for (const [name, body] of [
    ['a.html', `<title>Minutes</title>${lines('<p>', '</p>')}`],
    ['a.xml', `<?xml version="1.0"?><article><title>Minutes</title>${lines('<para>', '</para>')}</article>`],
    [
      'a.fb2',
      `<?xml version="1.0"?><FictionBook><description><title-info><book-title>Minutes</book-title></title-info></description><body>${lines('<p>', '</p>')}</body></FictionBook>`,
    ],
    ['a.rtf', `{\\rtf1{\\info{\\title Minutes}}${lines('', '\\par')}}`],
  ] as const) {
    const output = await readUntil(name, body, 0, { fullText: true });
    t.match(JSON.stringify(contentOf(output)), /Minutes/, name);
    t.notMatch(JSON.stringify(contentOf(output)), /line 19000/, name);
    t.same(output.warnings, [`the ${output.type} document is not read to its end (E-45): ${OVER}`]);
  }
});

t.test('E-45 the pieces of a document whose reader was ended become its summary', async (t) => {
  const draft = (name: string, body: Uint8Array | string, pieces: readonly DraftPiece[], options = {}) =>
    summarizeDraft(inputOf(`http://a.test/${name}`, body), contextOf(options), 'it hangs', pieces);
  const title: DraftPiece = { attributes: [['Title', 'Minutes']] };
  const pdf = await draft('a.pdf', pagesPdf(['wheat']), [title, { text: 'whe-\nat' }, { text: 'barley' }]);
  t.same(contentOf(pdf), { Title: 'Minutes\n', 'Partial-Text': 'wheat\n\nbarley\n' });
  t.same(pdf.warnings, ['the Pdf document is not read to its end (E-45): it hangs']);
  const excel = await draft('a.xls', EXCEL_FILE, [title]);
  t.same(contentOf(excel), { Title: 'Minutes\n' });
  const part = { name: 'b.pdf', type: 'Pdf' };
  const archive = await draft('a.tar', tar([['a.txt', 'x']]), [
    { part: { name: 'a.txt', type: 'Text' }, text: 'x' },
    { components: [{ name: 'a.txt', type: 'Text', summary: { attributes: [['Partial-Text', 'x\n']] } }] },
    { part, attributes: [['Title', 'Minutes']] },
    { part, text: 'page 1' },
  ]);
  t.match(contentOf(archive), {
    'Embed<1>-Partial-Text': 'x\n',
    'Embed<2>-Nested-Filename': 'b.pdf',
    'Embed<2>-Title': 'Minutes\n',
    'Embed<2>-Partial-Text': 'page 1\n',
  });
  const none = await draft('a.pdf', pagesPdf([]), []);
  t.same(contentOf(none), { Title: 'a.pdf\n' });
  t.same(none.warnings, ['the Pdf document is summarized by its name (E-45): it hangs']);
});

t.test('E-45, E-70 what a reader process has read is kept when it is ended', async (t) => {
  const directory = t.testdir({
    'Hang.sum.mjs': `export function summarize({ text }) {
      if (text.startsWith('hang')) for (;;);
      const kept = [];
      if (text.startsWith('memory')) for (;;) kept.push(new Uint8Array(1 << 22).fill(1));
      return { attributes: [] };
    }`,
  });
  await using pool = await EssencePool.create({
    ...IDENTITY,
    workers: 1,
    timeLimitMs: 1000,
    maxReaderMemoryMb: 300,
    programs: {
      directories: [],
      path: '',
      modules: { summarizers: { README: `${directory}/Hang.sum.mjs` } },
    },
  });
  for (const [text, reason] of [
    ['hang', /reading it takes more than 1000 ms of processor time \(E-70\)/],
    ['memory', /reading it takes more than 300 MiB of memory/],
  ] as const) {
    const body = tar([
      ['a.pdf', pagesPdf(['wheat'])],
      ['README', text],
    ]);
    const { soif, warnings } = await pool.summarize(inputOf('http://a.test/a.tar', body));
    const { 'Embed<1>-Title': title, 'Embed<1>-Partial-Text': page } = attributesOf(soif!);
    t.same([title, page], ['Minutes\n', 'wheat\n']);
    t.match(warnings.join(), reason);
    t.match(warnings.join(), /the Tar document is not read to its end \(E-45\)/);
  }
  t.equal(pool.statistics.failed, 2);
});
