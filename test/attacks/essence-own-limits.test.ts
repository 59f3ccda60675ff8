// Documents whose readers have a limit of their own (E-45): their beginning is summarized. Without these limits
// they end at the memory or time limit of the reader process, and only their names are left.
import t from 'tap';
import { EssencePool, type EssencePoolOptions } from '../../servers/essence/index.js';
import { DEFAULT_UNNEST_LIMITS } from '../../servers/essence/model.js';
import { writeCompoundFile } from '../../servers/essence/summarizers/office/compound-file.js';
import { TimeBudget } from '../../servers/essence/time-budget.js';
import { UnnestMeter } from '../../servers/essence/unnest/meter.js';
import { WORD_FILE } from '../servers/essence/fixtures/office-files.js';
import { attributesOf, IDENTITY, inputOf } from '../servers/essence/helpers.js';

const HEAD = 'From: Ann <ann@example.org>\nSubject: Minutes\n';
const MULTIPART = `${HEAD}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nwheat\n`;

/** Summarizes a document by a pool of its own. */
async function summarize(name: string, body: string | Buffer, options: Partial<EssencePoolOptions> = {}) {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, ...options });
  const { soif, warnings } = await pool.summarize(inputOf(`http://a.test/${name}`, body));
  return { attributes: attributesOf(soif ?? new Uint8Array()), warnings };
}

/** A compound file of one sector table, one directory, and what the header claims. */
function compoundFile(sectors: number, next: number): Buffer {
  const file = Buffer.alloc(512 * 16);
  file.write('d0cf11e0a1b11ae1', 'hex');
  file.writeUInt16LE(3, 26);
  file.writeUInt16LE(0xfffe, 28);
  file.writeUInt16LE(9, 30);
  file.writeUInt16LE(6, 32);
  file.writeUInt32LE(sectors, 44);
  file.writeUInt32LE(1, 48);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(0xfffffffe, 60);
  file.writeUInt32LE(0xfffffffe, 68);
  file.fill(0xff, 76, 512);
  file.writeUInt32LE(0, 76);
  file.fill(0xff, 512, 1024);
  file.writeUInt32LE(0xfffffffd, 512);
  // Sectors 1 and 2 are the directory; the second one names the next.
  file.writeUInt32LE(2, 516);
  file.writeUInt32LE(next, 520);
  file.write('Root Entry', 1024, 'utf16le');
  file.writeUInt16LE(22, 1024 + 64);
  file[1024 + 66] = 5;
  file.writeUInt32LE(0xfffffffe, 1024 + 116);
  return file;
}

/** The document, and what the warnings or the attributes must contain. */
const DOCUMENTS: readonly (readonly [name: string, body: string | Buffer, warning: RegExp])[] = [
  ['addresses.eml', `${HEAD}To: ${'=?utf-8?q?a?= <a@b>,\n '.repeat(90_000)}\n\nx`, /header fields beyond/],
  ['groups.eml', `${HEAD}To: ${'a:'.repeat(1_000_000)}\n\nx`, /header fields beyond/],
  ['parts.eml', MULTIPART + '--x\n'.repeat(99_000), /parts beyond/],
  [
    'files.eml',
    MULTIPART +
      '--x\nContent-Type: text/plain; name="a.txt"\nContent-Disposition: attachment\n\nabc\n'.repeat(20_000),
    /parts beyond/,
  ],
  [
    'folder.mbox',
    `From a Mon Jan  1 00:00:00 1999\n${HEAD}To: ${'a@b,'.repeat(5000)}\n\nx\n\n`.repeat(400),
    /messages beyond/,
  ],
  ['fields.referbib', `%T Minutes\n${'%T x\n'.repeat(1_500_000)}`, /fields beyond/],
  ['quotes.c', `/* Minutes */\n${'"'.repeat(8_000_001)}`, /program beyond/],
  ['functions.sh', `# Minutes\n${'a() {\n'.repeat(1_500_000)}`, /program beyond/],
  ['targets.mk', `# Minutes\n${'a \\\n'.repeat(2_000_000)}`, /program beyond/],
  ['lines.ms', `.TL\nMinutes\n${'x\\\n'.repeat(800_000)}`, /troff source beyond/],
  ['sections.1', `.TH MINUTES 1\n${'.SH "\n'.repeat(400_000)}`, /manual page beyond/],
  [
    'open.ltx',
    `\\documentclass{a}\\title{Minutes}\\begin{document}${'\\['.repeat(1_100_000)}`,
    /TeX source beyond/,
  ],
  [
    'macros.texi',
    `\\input texinfo\n@settitle Minutes\n${'@macro a{b}\n'.repeat(200_000)}`,
    /Texinfo source beyond/,
  ],
  [
    'names.html',
    `<title>Minutes</title>${Array.from({ length: 100_000 }, (_, i) => `<meta name=n${i} content=x>`).join('\n')}`,
    /attributes beyond the first 4096/,
  ],
  ['claim.doc', compoundFile(0xffffffff, 0xfffffffe), /stream WordDocument is missing/],
  ['circle.doc', compoundFile(1, 1), /stream WordDocument is missing/],
];

t.test('E-45: a document beyond a limit of its reader is summarized up to it', async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1, timeLimitMs: 60_000 });
  for (const [name, body, expected] of DOCUMENTS) {
    const { soif, warnings } = await pool.summarize(inputOf(`http://a.test/${name}`, body));
    t.match(warnings.join('\n'), expected, name);
    t.notMatch(warnings.join('\n'), /summarized by its name/, name);
    if (name.endsWith('.doc')) continue;
    t.match(
      JSON.stringify(attributesOf(soif ?? new Uint8Array())),
      /minutes/i,
      `${name}: what precedes the limit is kept`,
    );
  }
});

t.test('E-45: what a Word file claims about its tables costs nothing, and its text is read', async (t) => {
  await using pool = await EssencePool.create({ ...IDENTITY, workers: 1 });
  const word = Buffer.from(WORD_FILE);
  for (const [what, offset] of [
    ['sectors of the sector table', 44],
    ['sectors of the table of small sectors', 64],
    ['sectors of the list of the sector table', 72],
  ] as const) {
    for (const claim of [0, 2, 1_000_000, 0x7fffffff, 0xffffffff]) {
      const file = Buffer.from(word);
      file.writeUInt32LE(claim, offset);
      const { soif, warnings } = await pool.summarize(inputOf('http://a.test/x.doc', file));
      t.same(warnings, [], `${claim} ${what}`);
      t.match(attributesOf(soif ?? new Uint8Array())['Partial-Text'], /First Chapter/);
    }
  }
});

t.test('E-45: pieces of a Word file that repeat its text are refused', async (t) => {
  const text = Buffer.alloc(1_000_000, 0x61);
  text.writeUInt16LE(0xa5ec, 0);
  text.writeUInt16LE(0, 0x0a);
  text.writeUInt32LE(0, 0x01a2);
  const pieces = 100_000;
  const table = Buffer.alloc(5 + 12 * pieces + 4);
  table.writeUInt8(2, 0);
  table.writeUInt32LE(12 * pieces + 4, 1);
  for (let i = 0; i <= pieces; i++)
    table.writeUInt32LE(i * text.length < 2 ** 32 ? i * text.length : 2 ** 32 - 1, 5 + 4 * i);
  const streams = new Map([
    ['WordDocument', text],
    ['0Table', table],
  ]);
  const { warnings } = await summarize('x.doc', Buffer.from(writeCompoundFile(streams)));
  t.match(warnings.join('\n'), /pieces are larger than the text/);
});

t.test('E-45: bibliography strings that double each other have a maximum length', async (t) => {
  const names = 'abcdefghijklmnopqrst';
  const strings = Array.from(
    { length: names.length - 1 },
    (_, i) => `@string{${names[i + 1]} = ${Array(8).fill(names[i]).join(' # ')}}\n`,
  );
  const body = `@string{a = "x"}\n${strings.join('')}@article{k, author = {Ann}, title = t}\n`;
  const { attributes, warnings } = await summarize('strings.bib', body);
  t.same(warnings, []);
  t.match(attributes.Author, /^Ann/);
});

t.test('E-44: lines of a message that look like boundaries are not counted', async (t) => {
  const body = `${MULTIPART}${'--- removed line\n'.repeat(5000)}--x\nContent-Type: text/plain; name=last.txt\nContent-Disposition: attachment; filename=last.txt\n\nbarley\n--x--\n`;
  const { attributes, warnings } = await summarize('patch.eml', body);
  t.same(warnings, []);
  t.match(JSON.stringify(attributes), /barley/, 'the part after them is read');
});

t.test('E-44: a bzip2 file of 200 000 empty streams costs no more than its bytes', async (t) => {
  // One document whose streams are empty, and then one with text: they share the time limit of unnesting.
  const empty = Buffer.from('425a683917724538509000000000', 'hex');
  const text = Buffer.from(
    '425a6839314159265359fd7b332d000007d18000104000364514a020002299300f54201a00361a2572f00e95f177245385090fd7b332d0',
    'hex',
  );
  const body = Buffer.concat([...Array(200_000).fill(empty), text]);
  const { attributes, warnings } = await summarize('streams.txt.bz2', body, {
    unnest: { timeLimitMs: 15_000 },
  });
  t.same(warnings, []);
  t.match(JSON.stringify(attributes), /wheat/, 'the last stream is read');
});

t.test('E-106: a text that is one word of a million letters has its keywords and its text', async (t) => {
  const body = Buffer.from(`\ufeffwheat barley ${'\u0130'.repeat(4_000_000)}\n`, 'utf16le');
  const { attributes, warnings } = await summarize('word.txt', body);
  t.notMatch(warnings.join('\n'), /summarized by its name/);
  t.match(attributes.Keywords, /barley\nwheat/);
});

t.test('E-45: a decoder that produces nothing ends at the time limit of unnesting', async (t) => {
  const now = fakeClock();
  const meter = new UnnestMeter(DEFAULT_UNNEST_LIMITS, 1, new TimeBudget(10, { processorMs: now, now }));
  const endless = (async function* () {
    for (;;) yield new Uint8Array(16);
  })();
  let chunks = 0;
  await t.rejects(
    (async () => {
      for await (const _ of meter.timed(endless)) chunks++;
    })(),
    { message: /took more than 10 ms/, rule: 'E-45' },
  );
  t.ok(chunks < 20, 'the time is looked at again and again');
});

/** A clock that advances by a millisecond at each look. */
function fakeClock(): () => number {
  let now = 0;
  return () => ++now;
}
