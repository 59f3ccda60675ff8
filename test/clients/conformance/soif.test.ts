// Tests the conformance suite for SOIF streams: good streams pass, and each defect fails the rules about it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { runSuite } from '../../../clients/conformance/index.js';
import { checkStream } from '../../../clients/conformance/soif/check-stream.js';
import { prepareStreamReport, STREAM_CASES, suite } from '../../../clients/conformance/soif/suite.js';
import type { StreamKind } from '../../../clients/conformance/soif/wrapper-checker.js';
import { encodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { cli } from '../../helpers/cli.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

const BOOKKEEPING =
  'Gatherer-Name{1}:\tG\nGatherer-Host{9}:\tg.example\nGatherer-Version{3}:\t1.8\nUpdate-Time{10}:\t1735689600\n';
const MD5 = 'MD5{32}:\td41d8cd98f00b204e9800998ecf8427e\n';
const KEYWORDS = 'Keywords{8}:\tone\ntwo\n\n';
const GOOD = `@FILE { http://a.example/1\n${BOOKKEEPING}${MD5}${KEYWORDS}}\n`;
const OTHER = `@FILE { http://a.example/2\n${BOOKKEEPING}Title{7}:\tna\xc3\xafve\n\n}\n`;
const GONE = '@FILE { http://a.example/gone\n}\n';
/** SOIF-8.8. */
const wrapped = (objects: string) => `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${objects}}\n`;
/** An object with the usual attributes and these lines. */
const having = (lines: string) => `@FILE { http://a.example/1\n${BOOKKEEPING}${lines}}\n`;

interface Verdicts {
  readonly fail: readonly string[];
  readonly skip: readonly string[];
  /** The received parts that the failures show, one per line. */
  readonly received: string;
}

async function* inPieces(stream: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < stream.length; offset += size) yield stream.subarray(offset, offset + size);
}

async function verdicts(stream: string | Buffer, kind?: StreamKind, size = 1 << 16): Promise<Verdicts> {
  const data = typeof stream === 'string' ? latin1(stream) : stream;
  const prepared = prepareStreamReport('test', await checkStream(inPieces(data, size), kind));
  const fail: string[] = [];
  const skip: string[] = [];
  const received: string[] = [];
  for await (const result of runSuite(prepared)) {
    if (result.verdict === 'fail') fail.push(result.id);
    if (result.verdict === 'skip') skip.push(result.id);
    if (result.received !== undefined) received.push(result.received);
  }
  return { fail, skip, received: received.join('\n') };
}

t.test('SOIF-2.2: good streams pass every rule', async (t) => {
  const good: readonly (readonly [
    name: string,
    stream: string,
    kind: StreamKind | undefined,
    skip: string[],
  ])[] = [
    ['objects', GOOD + OTHER, 'objects', ['wrappers']],
    ['objects, of undeclared kind', GOOD + OTHER, undefined, ['wrappers']],
    ['SOIF-8.8: a gatherd stream', wrapped(GOOD + OTHER), 'gatherd-stream', []],
    ['SOIF-8.8: a gatherd stream, of undeclared kind', wrapped(GOOD), undefined, []],
    [
      'SOIF-8.4: a deleted object has only its URL',
      `@DELETE {\n${GONE}}\n@REFRESH {\n}\n@UPDATE {\n${GOOD}}\n`,
      undefined,
      [],
    ],
    [
      'GATHERD-4.5: an empty update',
      wrapped(''),
      undefined,
      STREAM_CASES.map(({ id }) => id).filter((id) => id !== 'wrappers'),
    ],
    [
      'SOIF-1.2: values that look like SOIF',
      having('Body{27}:\t}\n}\n@UPDATE {\n499 - x {1}:\n\n') + OTHER,
      undefined,
      ['md5', 'wrappers'],
    ],
    ['SOIF-2.10: the URL "-"', GOOD.replace('http://a.example/1', '-'), undefined, ['wrappers']],
  ];
  for (const [name, stream, kind, skip] of good) {
    for (const size of [1, 7, 1 << 16]) {
      t.same(
        await verdicts(stream, kind, size),
        { fail: [], skip, received: '' },
        `${name}, pieces of ${size}`,
      );
    }
  }
});

/** Streams with one defective object between good ones, and the rules that fail. */
const DEFECTS: readonly (readonly [name: string, bad: string, fail: readonly string[], violation: RegExp])[] =
  [
    ['SOIF-2.2: a space for the tab', having('Title{1}: x\n'), ['layout'], /space instead of the tab/],
    ['SOIF-2.5: a space before the size', having('Title {1}:\tx\n'), ['layout'], /head of an attribute/],
    ['SOIF-2.2: a size with a zero before it', having('Title{01}:\tx\n'), ['layout'], /head of an attribute/],
    ['SOIF-2.2: an empty line', having('\nTitle{1}:\tx\n'), ['layout'], /empty line within/],
    ['SOIF-2.2: an indented name', having('  Title{1}:\tx\n'), ['layout'], /head of an attribute/],
    ['SOIF-2.2: an indented brace', GOOD.replace(/\}\n$/, ' }\n'), ['layout'], /around the closing brace/],
    ['SOIF-2.2: no space before the brace', GOOD.replace('@FILE {', '@FILE{'), ['layout'], /first line/],
    ['SOIF-2.2: objects run together', GOOD.slice(0, -1), ['layout'], /after the closing brace/],
    ['SOIF-2.2: text between objects', `${GOOD}and so on\n`, ['layout'], /text between objects/],
    ['SOIF-2.3: a size too small', having('Title{3}:\tfour\n'), ['sizes'], /Title, size 3/],
    [
      'SOIF-2.2: the second line of a value whose size is that of the first',
      having('Title{3}:\tone\ntwo\n'),
      ['layout'],
      /not an attribute/,
    ],
    [
      'SOIF-2.3: no LF after the last value',
      having('Title{4}:\tfour').replace(/four\}/, 'four}'),
      ['sizes'],
      /size 4/,
    ],
    [
      'SOIF-2.6: CR LF',
      GOOD.replace('http://a.example/1\n', 'http://a.example/1\r\n').replace(/\}\n$/, '}\r\n'),
      ['line-ends'],
      /CR LF/,
    ],
    ['SOIF-2.6: CR LF after a value', having('Title{1}:\tx\r\n'), ['line-ends'], /CR LF after a value/],
    ['SOIF-2.8: a name with a blank', having('My Title{1}:\tx\n'), ['names'], /My Title/],
    ['SOIF-2.8: a type with an underscore', GOOD.replace('@FILE', '@A_B'), ['names'], /A_B/],
    ['SOIF-2.9: a URL with a blank', GOOD.replace('/1\n', '/my file\n'), ['url'], /white space/],
    ['SOIF-2.9: bytes above 0x7e in a URL', GOOD.replace('/1\n', '/\xe4\n'), ['url-encoding'], /percent/],
    ['SOIF-3.2: an empty value', having('Title{0}:\t\n'), ['empty-values'], /empty value/],
    ['SOIF-5.2: a name twice', having('Title{1}:\tx\nTITLE{1}:\ty\n'), ['duplicates'], /TITLE/],
    ['SOIF-6.1: a time with a sign', having('Last-Modification-Time{2}:\t+1\n'), ['times'], /\+1/],
    ['SOIF-6.1: a time with a line end', having('Refresh-Rate{3}:\t10\n\n'), ['times'], /Refresh-Rate/],
    ['SOIF-6.4: an MD5 in capitals', GOOD.replace(/d41d\w+/, (md5) => md5.toUpperCase()), ['md5'], /D41D/],
    [
      'SOIF-6.5: no Gatherer-Host',
      GOOD.replace('Gatherer-Host{9}:\tg.example\n', ''),
      ['required-attributes'],
      /gatherer-host/,
    ],
    ['SOIF-7.4: Latin-1', having('Title{5}:\tna\xefve\n'), ['utf-8'], /Title is not UTF-8/],
    ['SOIF-7.4: UTF-8 cut off', having('Title{3}:\tna\xc3\n'), ['utf-8'], /Title is not UTF-8/],
    [
      'SOIF-4.7: lines without a last LF',
      having('Keywords{7}:\tone\ntwo\n'),
      ['final-newlines'],
      /several lines/,
    ],
  ];

t.test(
  'SOIF-2.2 to SOIF-7.4: a defect in one object fails one rule, bare and in a gatherd stream',
  async (t) => {
    for (const [name, bad, fail, violation] of DEFECTS) {
      for (const size of [1, 1 << 16]) {
        const bare = await verdicts(GOOD + bad + OTHER, undefined, size);
        t.same(bare.fail, fail, `${name}, pieces of ${size}`);
        t.match(bare.received, violation, name);
        t.same((await verdicts(wrapped(GOOD + bad + OTHER), undefined, size)).fail, fail, `${name}, wrapped`);
      }
    }
  },
);

t.test('SOIF-4.5: an object that a tolerant reader loses is a separate failure', async (t) => {
  const lost: readonly (readonly [name: string, stream: string, fail: readonly string[]])[] = [
    ['SOIF-2.2: cut within a name', GOOD + OTHER.slice(0, 30), ['layout', 'tolerant-reader']],
    ['SOIF-2.3: cut within a value', GOOD + OTHER.slice(0, 70), ['sizes', 'tolerant-reader']],
    ['SOIF-2.5: no tab', having('Title{1}:x\n') + OTHER, ['layout', 'tolerant-reader']],
    ['SOIF-2.5: a space before the colon', having('Title{1} :\tx\n') + OTHER, ['layout', 'tolerant-reader']],
    [
      'SOIF-2.3: a size larger than the stream',
      GOOD + having('Title{9999}:\tx\n'),
      ['sizes', 'tolerant-reader'],
    ],
    ['SOIF-2.2: a size that is no number', having('Title{x}:\ty\n') + OTHER, ['layout', 'tolerant-reader']],
    ['SOIF-2.9: no URL', `${GOOD}@FILE {\n${BOOKKEEPING}}\n${OTHER}`, ['url', 'tolerant-reader']],
  ];
  for (const [name, stream, fail] of lost) t.same((await verdicts(stream)).fail, fail, name);
});

t.test('SOIF-8.8: defects of wrappers fail the rule about wrappers', async (t) => {
  const wrong: readonly (readonly [name: string, stream: string, violation: RegExp])[] = [
    ['on one line', wrapped(GOOD).replace('@DELETE {\n}\n', '@DELETE { }\n'), /@DELETE \{ is not alone/],
    ['with a blank', wrapped(GOOD).replace('@UPDATE {\n', '@UPDATE { \n'), /@UPDATE \{ is not alone/],
    ['run together', `@DELETE { } @REFRESH { } @UPDATE { ${GOOD}}\n`, /is not alone/],
    ['in lower case', wrapped(GOOD).replace('@REFRESH', '@refresh'), /upper case/],
    [
      'in another order',
      `@REFRESH {\n}\n@DELETE {\n}\n@UPDATE {\n${GOOD}}\n`,
      /section 1 is @REFRESH, not @DELETE/,
    ],
    ['one missing', `@DELETE {\n}\n@UPDATE {\n${GOOD}}\n`, /section 2 is @UPDATE/],
    ['one twice', `${wrapped(GOOD)}@UPDATE {\n}\n`, /section 4 is @UPDATE/],
    ['not closed', wrapped(GOOD).slice(0, -2), /@UPDATE is not closed/],
    ['objects outside', wrapped('') + GOOD, /outside of sections/],
    ['a stray brace', `${wrapped(GOOD)}}\n`, /closing brace outside/],
  ];
  for (const [name, stream, violation] of wrong) {
    const { fail, received } = await verdicts(stream, 'gatherd-stream');
    t.same(fail, ['wrappers'], name);
    t.match(received, violation, name);
  }
  t.same((await verdicts(GOOD, 'gatherd-stream')).fail, ['wrappers'], 'objects without any wrapper');
  t.same((await verdicts(wrapped(GOOD), 'objects')).fail, ['layout'], 'unexpected wrappers');
  t.same((await verdicts(wrapped(GOOD.replaceAll('@FILE', '@UPDATE')))).fail, [], 'SOIF-8.10: type UPDATE');
});

t.test('SOIF-2.2: violations are counted, and the first ones are shown with offset and URL', async (t) => {
  const bad = having('Title{0}:\t\n');
  const { findings } = await checkStream(inPieces(latin1(GOOD + bad.repeat(30)), 100));
  const { checks, violations, examples } = findings.of('empty-values');
  t.equal(violations, 30);
  t.equal(checks, 6 + 30 * 5);
  t.equal(examples.length, 10, 'at most ten are shown');
  t.same(examples[0], {
    offset: GOOD.length + bad.indexOf('Title{0}:\t') + 10,
    url: 'http://a.example/1',
    message: 'an attribute with an empty value is written',
  });
  t.equal(findings.objects, 31);
  t.equal(findings.bytes, GOOD.length + 30 * bad.length);
});

t.test('SOIF-2.2: the output of the encoder passes, whatever the values and the pieces', async (t) => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/);
  const value = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.constant(latin1('}\n@FILE { x\na{1}:\tb\n')),
  );
  const object = fc
    .array(fc.tuple(name, value), { maxLength: 5 })
    .map((pairs) =>
      SoifObject.of(
        'FILE',
        'http://a.example/',
        new Map(pairs.map((pair) => [pair[0].toLowerCase(), pair[1]])),
      ),
    );
  await assertProperty(
    fc.asyncProperty(
      fc.array(object, { maxLength: 4 }),
      fc.integer({ min: 1, max: 50 }),
      async (objects, size) => {
        const stream = Buffer.concat(objects.map((one) => encodeSoif(one)));
        const { fail } = await verdicts(stream, 'objects', size);
        t.same(
          fail.filter((id) => ['layout', 'sizes', 'names', 'url', 'tolerant-reader'].includes(id)),
          [],
        );
      },
    ),
    { numRuns: 60, seed: 1 },
  );
});

t.test('SOIF-2.2: any bytes are checked without an error, with the same result in any pieces', async (t) => {
  const piece = fc.constantFrom(
    '@FILE { ',
    'u',
    '\n',
    '}',
    '{',
    ':\t',
    'a{1}:\tb\n',
    '\r\n',
    ' ',
    '@',
    '@UPDATE {',
    GOOD,
  );
  await assertProperty(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const stream = pieces.join('');
      t.same(await verdicts(stream, undefined, 1), await verdicts(stream));
    }),
    { numRuns: 150, seed: 1 },
  );
});

t.test('SOIF-4.4: lines without an end and values of any size are read in bounded memory', async (t) => {
  const line = 'x'.repeat(1 << 16);
  async function* endless(head: string): AsyncGenerator<Buffer> {
    yield latin1(head);
    for (let i = 0; i < 400; i++) yield latin1(line);
  }
  const name = await checkStream(endless('@FILE { u\n'));
  t.equal(name.findings.of('layout').violations, 1, 'a name of 25 MiB is one violation');
  const value = await checkStream(endless(`@FILE { u\nBody{${400 << 16}}:\t`));
  t.equal(value.findings.of('sizes').violations, 1, 'the value is read, but its LF is missing');
  t.equal(value.findings.of('layout').violations, 0);
});

t.test('`harvest conformance soif` checks a file and sets its exit status', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'All-Templates.gz');
  await writeFile(file, Buffer.concat([gzipSync(latin1(wrapped(GOOD))), gzipSync(Buffer.alloc(0))]));
  const good = await cli('conformance', 'soif', '--gatherd-stream', file);
  t.equal(good.code, 0, good.stderr);
  t.match(good.stdout, /^ok \d+ - layout/m);
  t.match(good.stdout, /gatherd-stream, gzip, 1 objects, 6 attributes/, 'GATHERD-10.2: gzip is recognized');
  const bad = join(directory, 'bad.soif');
  await writeFile(bad, latin1(having('Title{3}:\tfour\n')));
  const failed = await cli('conformance', 'soif', bad);
  t.equal(failed.code, 1, failed.stderr);
  t.match(failed.stdout, /^not ok \d+ - sizes/m);
  await writeFile(file, gzipSync(latin1(GOOD)).subarray(0, -9));
  for (const args of [
    [file],
    [join(directory, 'none')],
    [],
    ['--objects', '--gatherd-stream', bad],
    ['-x', bad],
  ]) {
    await t.rejects(suite.prepare(args, {}), { code: 'ERR_USAGE' }, `soif ${args.join(' ')}`);
  }
});
