// The SOIF tools, by the library and as processes.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  attemptLine,
  checkAsOriginal,
  checkSoif,
  countsLine,
  exactBytes,
  jsonLine,
  makeTemplates,
  readInput,
  readJsonLines,
  readObjects,
  urlReferences,
  wrapAttribute,
} from '../../clients/soif-tools/index.js';
import { ProtocolError, StorageError, UsageError } from '../../protocols/errors.js';
import { decodeSoif, encodeSoif, type SoifDecoderOptions, SoifObject } from '../../protocols/soif/index.js';
import { cli, cliWithInput, jsonLines } from '../helpers/cli.js';
import { assertProperty } from '../helpers/property.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { words } from '../helpers/words.js';
import { bytes, cutAt, singleBytes } from '../protocols/soif/item-lines.js';

// Each test starts processes, which takes long on a busy machine.
async function* stream(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) yield chunk;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return (await buffer(chunks)).toString('latin1');
}

/** Runs the validator. Returns one line per attempt, then the counts. */
async function verdicts(chunks: readonly Uint8Array[], options: SoifDecoderOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  const attempts = checkSoif(stream(...chunks), options);
  for (;;) {
    const { done, value } = await attempts.next();
    if (done) return [...lines, `${value.valid}/${value.attempts} ${value.warnings}`];
    const { number, valid, offset, type, url, problem, warnings } = value;
    const found = valid ? `${type} ${url} @${offset}` : `${problem?.rule} @${problem?.offset}`;
    lines.push(`${number} ${found}${warnings.map(({ rule, offset }) => ` ! ${rule} @${offset}`).join('')}`);
  }
}

/**
 * Runs the original validator. Returns V or I for each attempt, the counts, and whether the input was an update
 * stream.
 */
async function originalVerdicts(chunks: readonly Uint8Array[]): Promise<string> {
  let letters = '';
  const attempts = checkAsOriginal(stream(...chunks));
  for (;;) {
    const { done, value } = await attempts.next();
    if (!done) letters += value.valid ? 'V' : 'I';
    else return `${letters} ${value.valid}/${value.attempts}${value.wrapped ? ' wrapped' : ''}`;
  }
}

const GOOD = '@FILE { v\nB{1}:\ty\n}\n';

/**
 * The rows of SOIF-4.4, column "C library"; some are followed by a valid object to show where reading
 * continues.
 */
const ORIGINAL: readonly (readonly [row: string, wire: string, verdicts: string])[] = [
  ['nothing', '', ' 0/0'],
  ['white space, blank lines', '@FILE { u\n\n  A{1}:\tx\n\n \t }\n', 'V 1/1'],
  ['CR LF', '@FILE { u\r\nA{1}:\tx\r\n}\r\n', 'V 1/1'],
  ['no LF after a value', '@FILE { u\nA{1}:\txB{1}:\ty}\n', 'V 1/1'],
  ['a blank instead of HT', `@FILE { u\nA{1}: x\n}\n${GOOD}`, 'IV 1/2'],
  ['two HTs, aligned', '@FILE { u\nA{2}:\t\tx\n}\n', 'V 1/1'],
  ['two HTs, misaligned', `@FILE { u\nA{1}:\t\tx\n}\n${GOOD}`, 'I 0/1'],
  ['a blank before {', '@FILE { u\nA {1}:\tx\n}\n', 'V 1/1'],
  ['a blank before :', `@FILE { u\nA{1} :\tx\n}\n${GOOD}`, 'IV 1/2'],
  ['{ 1} {+1} {01} {1x}', '@FILE { u\nA{ 1}:\tx\nB{+1}:\tx\nC{01}:\tx\nD{1x}:\tx\n}\n', 'V 1/1'],
  ['{} {x} {0} mean 0', '@FILE { u\nA{}:\t\nB{x}:\t\nC{0}:\t\n}\n', 'V 1/1'],
  ['a negative size', `@FILE { u\nA{-1}:\tx\n}\n${GOOD}`, 'IV 1/2'],
  ['a size beyond an int', `@FILE { u\nA{2147483648}:\tx\n}\n${GOOD}`, 'IV 1/2'],
  ['a size too small', '@FILE { u\nA{1}:\txyz\nB{1}:\ty\n}\n', 'V 1/1'],
  ['a size too large', '@FILE { u\nA{3}:\tx\nB{1}:\ty\n}\n', 'V 1/1'],
  ['the end in a value: no attempt', `${GOOD}@FILE { u\nA{9}:\txyz`, 'V 1/1'],
  ['the end after a value', '@FILE { u\nA{3}:\txyz', 'V 1/1'],
  ['the end before }', '@FILE { u\nA{1}:\tx\n', 'V 1/1'],
  ['white space in the URL', '@FILE { u v\nA{1}:\tx\n}\n', 'V 1/1'],
  ['braces in the URL', '@FILE { {u{}v}\nA{1}:\tx\n}\n', 'V 1/1'],
  ['no URL: parsing stops at the end', '@FILE {\nA{1}:\tx\n}\n', ' 0/0'],
  ['no attributes', '@FILE { u }\n@FILE { -\n}\n', 'VV 2/2'],
  ['} and @ in a value', '@FILE { u\nA{4}:\t}\n@F\n}\n', 'V 1/1'],
  ['NUL and 0xFF', '@FI\xff { u\xff\nA{2}:\t\0\xff\n}\n', 'V 1/1'],
  ['@ in text before', `joe@example.org\n${GOOD}${GOOD}`, 'IV 1/2'],
  ['a URL of 8190 bytes', `@FILE { ${'u'.repeat(8190)}\n}\n`, 'V 1/1'],
  ['a URL of 8191 bytes', `@FILE { ${'u'.repeat(8191)}\n}\n${GOOD}`, 'IV 1/2'],
  ['a type of 8191 bytes', `@${'T'.repeat(8191)} { u\n}\n${GOOD}`, 'IV 1/2'],
  ['an empty name', '@FILE { u\n{1}:\tx\n}\n', 'V 1/1'],
  ['}@FILE', `@FILE { u\n}${GOOD}`, 'VV 2/2'],
  ['@FILE{ u', '@FILE{ u\nA{1}:\tx\n}\n', 'V 1/1'],
  [
    'SOIF-8.6 an update stream',
    `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { u\nA{1}:\tx\n}\n${GOOD}}\n`,
    'IIV 1/3 wrapped',
  ],
];

t.test('SOIF-4.4, SOIF-4.9, G-128 cksoif gives the verdicts of the C library', async (t) => {
  for (const [row, wire, expected] of ORIGINAL) {
    const whole = bytes(wire);
    for (const chunks of [[whole], singleBytes(whole)])
      t.equal(await originalVerdicts(chunks), expected, `${row}, ${chunks.length} pieces`);
  }
});

/** What the validator says in strict mode, and in lenient mode if that differs. */
const CHECKED: { name: string; wire: string; strict: string[]; lenient?: string[] }[] = [
  { name: 'SOIF-4.9 nothing: no attempt', wire: '', strict: ['0/0 0'] },
  {
    name: 'SOIF-4.9 valid objects',
    wire: '@FILE { u\n}\n@FILE { v\nA{1}:\tx\n}\n',
    strict: ['1 FILE u @0', '2 FILE v @12', '2/2 0'],
  },
  {
    name: 'SOIF-4.9 two defects in one object are one attempt',
    wire: '@FILE { u\nA{1}x\nB{x}:\ty\n}\n@FILE { v\n}\n',
    strict: ['1 SOIF-4.3 @14', '2 FILE v @26', '1/2 0'],
  },
  {
    name: 'SOIF-4.9, 4.5 a header within a malformed object begins another attempt',
    wire: '@FILE { u\nA{99}:\tx\n@FILE {\n}\n@FILE { w\n}\n',
    strict: ['1 SOIF-4.4 @41', '2 SOIF-4.4 @26', '3 FILE w @29', '1/3 0'],
  },
  {
    name: 'SOIF-4.9, 4.1 text between objects: an attempt in strict mode, nothing in lenient mode',
    wire: 'x\n@FILE { u\n}\ny\n@FILE { v\n}\n',
    strict: ['1 SOIF-2.2 @0', '2 FILE u @2', '3 SOIF-2.2 @14', '4 FILE v @16', '2/4 0'],
    lenient: ['1 FILE u @2', '2 FILE v @16', '2/2 0'],
  },
  {
    name: 'SOIF-4.9 what lenient mode tolerates is valid, with warnings',
    wire: '@FILE { u\r\nA{1}: x\r\n}\r\n@FILE { v\n',
    strict: ['1 SOIF-4.4 @9', '2 SOIF-4.4 @33', '0/2 0'],
    lenient: ['1 FILE u @0 ! SOIF-4.4 @16', '2 FILE v @23 ! SOIF-4.4 @33', '2/2 2'],
  },
  {
    name: 'SOIF-4.9 an object that is cut off is an invalid attempt',
    wire: '@FILE { u\n}\n@FILE { v\nA{9}:\tx\n',
    strict: ['1 FILE u @0', '2 SOIF-4.4 @30', '1/2 0'],
  },
  {
    name: 'SOIF-4.9, 8.9 an update stream: its section headers are not attempts',
    wire: '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { u\n}\n@FILE { v\nA{x}:\ty\n}\n}\n',
    strict: ['1 FILE u @35', '2 SOIF-4.4 @59', '1/2 0'],
  },
  {
    name: 'SOIF-4.9, 8.10 a type UPDATE alone is not an update stream',
    wire: ' \n@UPDATE { u\n}\n',
    strict: ['1 SOIF-2.2 @0', '2 UPDATE u @2', '1/2 0'],
    lenient: ['1 UPDATE u @2', '1/1 0'],
  },
  {
    name: 'SOIF-4.9, 8.9 wrapped on one line, not closed',
    wire: '@delete{}@Update {@FILE { u\n}\n',
    strict: ['1 FILE u @18', '2 SOIF-8.9 @30', '1/2 0'],
    lenient: ['1 FILE u @18', '1/1 1'],
  },
];

t.test('SOIF-4.9 the validator: attempts, whole and byte by byte', async (t) => {
  for (const { name, wire, strict, lenient = strict } of CHECKED) {
    t.test(name, async (t) => {
      for (const chunks of [[bytes(wire)], singleBytes(bytes(wire))]) {
        t.strictSame(await verdicts(chunks, { mode: 'strict' }), strict, 'strict');
        t.strictSame(await verdicts(chunks, { mode: 'lenient' }), lenient, 'lenient');
      }
    });
  }
  t.equal(attemptLine({ number: 3, valid: true }), 'Attempt 3: Valid SOIF\n');
  t.equal(attemptLine({ number: 4, valid: false }), 'Attempt 4: Invalid SOIF\n');
  t.equal(countsLine({ valid: 1, attempts: 2 }), 'Successfully parsed 1 SOIF objects, in 2 attempts\n');
  const large = bytes(`@FILE { u\nA{100}:\t${'x'.repeat(100)}\n}\n@FILE { v\n}\n`);
  t.strictSame(await verdicts([large], { maxObjectBytes: 60 }), ['1 SOIF-4.4 @12', '2 FILE v @121', '1/2 0']);
  const braces = bytes(`@UPDATE {\n}\n${'}\n'.repeat(1000)}@FILE { u\n}\n`);
  const [attempt = '', counts] = await verdicts([braces], { mode: 'lenient' });
  t.equal(attempt.split('!').length - 1, 100, 'an attempt remembers at most 100 warnings');
  t.equal(counts, '1/1 1000');
});

t.test('SOIF-8.6 objects of streams: wrapped or not, in the layout of SOIF-2.2', async (t) => {
  const wire =
    '@DELETE {\n@FILE { d\n}\n}\n@UPDATE {\n@FILE{u\r\nA{1}:\tx\n}\n@FILE {\n}\n}\n@FILE { v\nE{0}:\t\n}\n';
  const seen: string[] = [];
  const warnings: string[] = [];
  for await (const item of readObjects(stream(...singleBytes(bytes(wire))), {
    onWarning: ({ rule }) => warnings.push(rule),
  })) {
    const exact = exactBytes(item, () => undefined);
    const whole = exact instanceof Uint8Array ? exact : bytes('');
    seen.push(`${item.section} ${Buffer.from(whole).toString('latin1')}`);
  }
  t.strictSame(seen, [
    'delete @FILE { d\n}\n',
    'update @FILE { u\nA{1}:\tx\n}\n',
    'update @FILE { v\nE{0}:\t\n}\n',
  ]);
  t.strictSame(
    warnings,
    ['SOIF-4.4', 'SOIF-4.5', 'SOIF-8.9'],
    'the closing brace of the section is skipped with the malformed object before it',
  );
});

const NAME = fc.stringMatching(/^[!-z|~]{1,8}$/);
const VALUE = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  fc.constantFrom('}\n', '\n@FILE { x\n', '\ufeffx', '"\\\u2028').map((text) => Buffer.from(text)),
);
/**
 * Bytes of objects in the layout of SOIF-2.2 with everything it allows: odd names, empty values, duplicates.
 */
const EXACT = fc
  .tuple(
    fc.stringMatching(/^[!-z|~]{1,8}$/),
    fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9/:%{}]{1,20}$/).filter((url) => !/^[{}]/.test(url)),
      fc.constantFrom('\xe9', 'caf\xc3\xa9', '-'),
    ),
    fc.array(fc.tuple(NAME, VALUE), { maxLength: 5 }),
  )
  .map(([type, url, pairs]) =>
    Buffer.concat([
      Buffer.from(`@${type} { ${url}\n`, 'latin1'),
      ...pairs.flatMap(([name, value]) => [
        Buffer.from(`${name}{${value.length}}:\t`),
        value,
        Buffer.from('\n'),
      ]),
      Buffer.from('}\n'),
    ]),
  );

t.test('SOIF-2.2 JSON lines: exact objects are restored byte for byte', async () => {
  await assertProperty(
    fc.asyncProperty(
      fc.array(EXACT, { maxLength: 4 }),
      fc.array(fc.nat(300), { maxLength: 5 }),
      async (wires, offsets) => {
        const lines: string[] = [];
        for await (const { object, section, exact } of readObjects(stream(Buffer.concat(wires)))) {
          if (!exact) return false;
          lines.push(`${jsonLine(object, section)}\n`);
        }
        const json = Buffer.from(lines.join(''));
        const again: Uint8Array[] = [];
        for await (const { bytes: wire } of readJsonLines(stream(...cutAt(json, offsets)))) again.push(wire);
        return (
          lines.length === wires.length && Buffer.compare(Buffer.concat(again), Buffer.concat(wires)) === 0
        );
      },
    ),
    { numRuns: 300 },
  );
});

t.test('SOIF-1.2 JSON lines: the format', async (t) => {
  const object = decodeSoif(bytes('@FILE { \xe9\nT{2}:\t\xc3\xa9\nB{2}:\t\xff\0\nE{0}:\t\n}\n'));
  t.equal(
    jsonLine(object),
    '{"type":"FILE","urlBase64":"6Q==","attributes":[{"name":"T","value":"é"},{"name":"B","base64":"/wA="},{"name":"E","value":""}]}',
  );
  t.equal(
    jsonLine(decodeSoif(bytes('@X { u\n}\n')), 'delete'),
    '{"type":"X","url":"u","section":"delete","attributes":[]}',
  );
});

t.test('SOIF-1.1 JSON lines: an error names the number of its line', async (t) => {
  const good = '{"type":"FILE","url":"u","attributes":[]}';
  for (const [line, problem] of [
    ['{', /^line 3: not JSON/],
    ['[]', /^line 3: not an object of this form: .+ \(SOIF-1\.1, offset 43\)$/],
    ['{"type":"FILE","attributes":[]}', /^line 3: not an object of this form/],
    ['{"type":"FILE","url":"u","attributes":[{"name":"A"}]}', /^line 3: .*attributes\.0/],
    ['{"type":"FILE","url":"u","attributes":[{"name":"A","base64":"?"}]}', /^line 3: .*attributes\.0/],
    ['{"type":"FILE","url":"u","attributes":[],"more":1}', /^line 3: /],
    ['{"type":"FILE","url":"a b","attributes":[]}', /^line 3: the URL "a b" has white space/],
    [
      '{"type":"FILE","url":"u","attributes":[{"name":"a{","value":"x"}]}',
      /^line 3: not an attribute name for SOIF: "a\{"/,
    ],
    ['{"type":"FILE","url":"u\\ud800","attributes":[]}', /^line 3: .*surrogate/],
    ['"\xff"', /^line 3: not UTF-8/],
    [`"${'x'.repeat(80)}"`, /^line 3: the line is too long/],
  ] as const) {
    const wire = bytes(`${good}\n\n${line}\n${good}\n`);
    let before = 0;
    try {
      for await (const { bytes: object } of readJsonLines(stream(wire), { maxLineBytes: 70 })) {
        t.equal(Buffer.from(object).toString(), '@FILE { u\n}\n');
        before++;
      }
      t.fail(`no error: ${line}`);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      t.match(error.message, problem, line);
      t.equal(before, 1, 'the objects before the error are read');
    }
  }
});

t.test('SOIF-4.4 JSON lines: garbage gives objects that strict mode reads, or a ProtocolError', async () => {
  const pieces = fc.constantFrom(
    ...'{"type":|"FILE"|"url":"u"|,|"attributes":[|{"name":"a","value":"x"}|]|}|\n|"|\xff'.split('|'),
  );
  await assertProperty(
    fc.asyncProperty(fc.array(pieces, { maxLength: 16 }), async (words) => {
      try {
        for await (const { bytes: wire } of readJsonLines(stream(bytes(words.join(''))))) {
          decodeSoif(wire, { mode: 'strict' });
        }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }),
    { numRuns: 300 },
  );
});

t.test('E-62 wrapit: raw data with its byte count', async (t) => {
  const wrapped = async (data: string, limit?: number): Promise<string> =>
    Buffer.from(await wrapAttribute('Abstract', stream(...singleBytes(bytes(data))), limit)).toString(
      'latin1',
    );
  t.equal(await wrapped('caf\xc3\xa9\n}\n'), 'Abstract{8}:\tcaf\xc3\xa9\n}\n\n');
  t.equal(await wrapped(''), '', 'SOIF-3.2 no data, no attribute');
  t.equal(await wrapped('12345', 5), 'Abstract{5}:\t12345\n');
  await t.rejects(wrapped('123456', 5), ProtocolError);
  await t.rejects(wrapAttribute('a b', stream()), UsageError);
});

t.test('G-132, G-61 print-urlrefs: references in canonical form, then the own URL', async (t) => {
  const refs = (url: string, references: string): string[] => [
    ...urlReferences(SoifObject.of('FILE', url, [['URL-References', references]])),
  ];
  t.strictSame(refs('http://A.test:80/x/y', 'z.html\n/top\n\nhttp://B.test#f\nmailto:me\n../~u/\n'), [
    'http://a.test/x/z.html',
    'http://a.test/top',
    'http://b.test/',
    'http://a.test/%7eu/',
    'http://a.test/x/y',
  ]);
  t.strictSame(refs('-', 'relative\nhttp://b.test/\n'), ['http://b.test/', '-']);
  t.strictSame([...urlReferences(SoifObject.of('FILE', 'http://a.test/', []))], ['http://a.test/']);
});

t.test('G-138, G-140 mktemplate: the example of the manual, byte for byte', async (t) => {
  const wire = bytes('@FILE { url1\nmy-manual-attribute:\tthis is a neat attribute\n}\n');
  t.equal(
    await collect(makeTemplates(stream(...singleBytes(wire)))),
    '@FILE { url1\nmy-manual-attribute{24}:\tthis is a neat attribute\n}\n',
  );
  const warnings: number[] = [];
  const mended = makeTemplates(stream(bytes('@FILE { a\nA: x\nlost\n@FILE { b\nB:\t\n}\n')), {
    onWarning: ({ line }) => warnings.push(line),
  });
  t.equal(await collect(mended), '@FILE { a\nA{1}:\tx\n}\n@FILE { b\n}\n');
  t.strictSame(warnings, [2, 3, 4]);
  await t.rejects(collect(makeTemplates(stream(wire.subarray(0, 40)), { mode: 'strict' })), ProtocolError);
});

t.test('input: files and standard input, plain or gzip', async (t) => {
  const folder = await temporaryDirectory(t);
  const file = async (name: string, data: Uint8Array): Promise<string> => {
    await writeFile(join(folder, name), data);
    return join(folder, name);
  };
  const long = 'x'.repeat(300_000);
  const packed = Buffer.concat([gzipSync(long), gzipSync('two')]);
  t.equal(await collect(readInput(await file('empty', bytes('')))), '');
  t.equal(await collect(readInput(await file('one', bytes('\x1f')))), '\x1f');
  t.equal(await collect(readInput(await file('plain', bytes(long)))), long);
  t.equal(await collect(readInput(await file('two.gz', packed))), `${long}two`, 'all members');
  t.equal(await collect(readInput(join(folder, 'two.gz'), { unpack: false })), packed.toString('latin1'));
  const stdin = Readable.from(singleBytes(packed));
  t.equal(await collect(readInput('-', { stdin })), `${long}two`);
  let read = 0;
  await collect(readInput(join(folder, 'two.gz'), { onRead: (count) => (read += count) }));
  t.equal(read, packed.length, 'progress counts bytes of the file');
  await t.rejects(collect(readInput(join(folder, 'none'))), {
    constructor: StorageError,
    message: /none: no such file$/,
  });
  await t.rejects(collect(readInput(folder)), StorageError);
  await t.rejects(
    collect(readInput(await file('cut.gz', packed.subarray(0, 100)))),
    /cut\.gz: the compressed data is damaged/,
  );
  for (const data of [bytes(long), packed]) {
    const source = Readable.from(singleBytes(data.subarray(0, 1000)));
    for await (const chunk of readInput('-', { stdin: source })) {
      t.ok(chunk.length > 0);
      break;
    }
    t.equal(source.destroyed, true, 'a reader that stops closes the source');
  }
  const silent = new Readable({ read: () => {} });
  const controller = new AbortController();
  const waiting = collect(readInput('-', { stdin: silent, signal: controller.signal }));
  controller.abort(new Error('enough'));
  await t.rejects(waiting, /enough/);
});

t.test('the tools as processes', async (t) => {
  const folder = await temporaryDirectory(t);
  const sample = join(folder, 'sample.soif');
  await writeFile(
    sample,
    '@FILE { http://a.test/\nTitle{2}:\tab\n}\n@NOTE { http://b.test/\n\nTitle{1}:\tc\n}\n@FILE { v\nA{x}:\ty\n}\n',
  );
  const wrapped = join(folder, 'All-Templates.gz');
  await writeFile(
    wrapped,
    gzipSync('@DELETE {\n@FILE { d\n}\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { u\nB{1}:\t1\n}\n}\n'),
  );

  t.test('SOIF-4.9 soif check: lines, reasons, exit status', async (t) => {
    const { code, stdout } = await cli('soif', 'check', sample);
    t.equal(code, 1);
    t.equal(
      stdout,
      'Attempt 1: Valid SOIF\n' +
        'Attempt 2: Invalid SOIF\n' +
        '    SOIF-4.4 at byte 61: white space before a name or the closing brace\n' +
        'Attempt 3: Invalid SOIF\n' +
        '    SOIF-4.4 at byte 88: not a value size\n' +
        'Successfully parsed 1 SOIF objects, in 3 attempts\n',
    );
    const lenient = await cli('soif', 'check', '--lenient', '--json', sample);
    t.equal(lenient.code, 1);
    t.strictSame(jsonLines(lenient.stdout), [
      { attempt: 1, valid: true, offset: 0, type: 'FILE', url: 'http://a.test/', warnings: [] },
      { attempt: 2, valid: true, offset: 38, type: 'NOTE', url: 'http://b.test/', warnings: [] },
      { attempt: 3, valid: false, offset: 88, rule: 'SOIF-4.4', message: 'not a value size', warnings: [] },
      { valid: 2, attempts: 3, warnings: 0 },
    ]);
    t.match(await cli('soif', 'check', wrapped), { code: 0, stdout: /in 2 attempts\n$/ });
    t.match(await cli('soif', 'check', join(folder, 'none')), { code: 1, stderr: /none: no such file\n$/ });
    t.match(await cli('soif', 'check', '--max-object', 'x'), { code: 2 });
    t.match(await cli('soif', 'check', '--max-object', '1000000000', wrapped), {
      code: 2,
      stderr: /must be at most 536870912/,
    });
    t.match(await cli('soif', 'nonsense'), { code: 2 });
  });

  t.test('SOIF-4.9, G-131 cksoif: the original lines, exit status 0', async (t) => {
    const { code, stdout } = await cliWithInput('@FILE { u\r\n}\r\n@FILE { v\nA{1}: y\n}\n', 'cksoif');
    t.equal(code, 0);
    t.equal(
      stdout,
      'Attempt 1: Valid SOIF\nAttempt 2: Invalid SOIF\nSuccessfully parsed 1 SOIF objects, in 2 attempts\n',
    );
  });

  t.test('SOIF-8.6 soif cat: several files, unwrapped, selected', async (t) => {
    const all = await cli('soif', 'cat', wrapped, sample);
    t.equal(all.code, 1, 'one object could not be read');
    t.match(all.stderr, /^cat: .*sample\.soif: not a value size \(SOIF-4\.4, offset 88\)\n/);
    t.equal(
      all.stdout,
      '@FILE { d\n}\n@FILE { u\nB{1}:\t1\n}\n@FILE { http://a.test/\nTitle{2}:\tab\n}\n@NOTE { http://b.test/\nTitle{1}:\tc\n}\n',
    );
    t.match(await cli('soif', 'cat', '--section', 'update', wrapped), {
      code: 0,
      stdout: '@FILE { u\nB{1}:\t1\n}\n',
    });
    const selected = await cli(
      ...words`soif cat --type note --url ${'^http://[a-z]\\.test/$'} --json ${sample}`,
    );
    t.equal(
      selected.stdout,
      '{"type":"NOTE","url":"http://b.test/","attributes":[{"name":"Title","value":"c"}]}\n',
    );
    t.match(await cli('soif', 'cat', '--url', '(', sample), { code: 2, stderr: /--url: the expression/ });
  });

  t.test('SOIF-8.9 soif convert restores what it converted, including sections', async (t) => {
    const json = await cli('soif', 'convert', '--to', 'jsonl', wrapped);
    t.equal(
      json.stdout,
      '{"type":"FILE","url":"d","section":"delete","attributes":[]}\n{"type":"FILE","url":"u","attributes":[{"name":"B","value":"1"}]}\n',
    );
    const back = await cliWithInput(json.stdout, 'soif', 'convert', '--to', 'soif');
    t.match(back, { code: 0, stdout: '@DELETE {\n@FILE { d\n}\n}\n@FILE { u\nB{1}:\t1\n}\n' });
    const [first = ''] = json.stdout.split('\n');
    t.match(await cliWithInput(`${first}\n{}\n`, 'soif', 'convert', '--to', 'soif'), {
      code: 1,
      stdout: '@DELETE {\n@FILE { d\n}\n}\n',
      stderr: /line 2: not an object of this form/,
    });
    t.match(await cli('soif', 'convert', sample), { code: 2 });
  });

  t.test('G-138 mktemplate reads several files and names mistakes by file and line', async (t) => {
    const one = join(folder, 'annotations');
    const two = join(folder, 'annotations2');
    await writeFile(one, '@FILE { url1\nmy-manual-attribute:\tthis is a neat attribute\n}\n');
    await writeFile(two, '@FILE { url2\nTitle: x\nlost\n}\n');
    const both = await cli('mktemplate', one, two);
    t.equal(
      both.stdout,
      '@FILE { url1\nmy-manual-attribute{24}:\tthis is a neat attribute\n}\n@FILE { url2\nTitle{1}:\tx\n}\n',
    );
    t.equal(both.code, 1);
    t.match(both.stderr, /annotations2: line 2: not exactly one tab .*\n.*annotations2: line 3: .*skipped/);
    const strict = await cli('soif', 'mktemplate', '--strict', one, two);
    t.match(strict, { code: 1, stderr: /annotations2: line 2: .*\(SOIF-11\.1, offset 13\)\n$/ });
    t.match(strict.stdout, /^@FILE \{ url1\n/);
  });

  t.test('E-62, G-132 wrapit, print-attr, print-template, print-urlrefs', async (t) => {
    t.match(await cliWithInput(gzipSync('x').subarray(0, 2), 'wrapit', 'Raw'), {
      code: 0,
      stdout: /^Raw\{2\}:\t\x1f/,
    });
    t.match(await cliWithInput('', 'wrapit', 'no name'), { code: 2, stderr: /SOIF-2\.8/ });
    t.match(await cliWithInput('123', 'wrapit', '--max-bytes', '2', 'A'), { code: 1 });
    t.match(await cli('print-attr', 'title', sample), { code: 1, stdout: 'ab\nc\n' });
    const object = '@FILE { http://a.test/\nURL-References{2}:\tx\n\n}\n';
    t.match(await cliWithInput(object, 'print-urlrefs'), {
      code: 0,
      stdout: 'http://a.test/x\nhttp://a.test/\n',
    });
    t.match(await cliWithInput(object, 'print-template', '--no-print-time'), { code: 0, stdout: object });
    const printed = await cliWithInput(object, 'print-template');
    const time = decodeSoif(Buffer.from(printed.stdout), { mode: 'strict' }).number('Print-Time') ?? 0;
    t.ok(Math.abs(time - Date.now() / 1000) < 600, 'SOIF-10.2 Print-Time');
  });
});

t.test('SOIF-3.2 objects that are not exact are written by the rules for writers', async (t) => {
  const object = decodeSoif(bytes('@FILE{u\nE{0}:\t\nA{1}:\tx\na{1}:\ty\n}\n'));
  t.equal(Buffer.from(encodeSoif(object)).toString(), '@FILE { u\na{1}:\ty\n}\n');
});
