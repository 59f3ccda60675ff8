// Tests the decoder of annotation files (SOIF-11.1).
import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError, StateError } from '../../../protocols/errors.js';
import {
  AnnotationDecoder,
  type AnnotationItem,
  type AnnotationOptions,
  decodeAnnotations,
  decodeSoif,
  encodeSoif,
} from '../../../protocols/soif/index.js';
import { assertProperty } from '../../helpers/property.js';
import { bytes, cutAt, singleBytes } from './item-lines.js';

/** Decodes a file to one line of text per item; an error of strict mode is the last line. */
function annotationLines(chunks: Iterable<Uint8Array>, options: AnnotationOptions = {}): string[] {
  const decoder = new AnnotationDecoder(options);
  const lines: string[] = [];
  const append = (items: readonly AnnotationItem[]): void => {
    for (const item of items) lines.push(formatItem(item));
  };
  try {
    for (const chunk of chunks) append(decoder.push(chunk));
    append(decoder.end());
  } catch (error) {
    if (options.mode !== 'strict' || !(error instanceof ProtocolError)) throw error;
    const line = /^line (\d+): /.exec(error.message)?.[1];
    lines.push(`error ${error.rule} line ${line} @${error.offset}`);
  }
  return lines;
}

function formatItem(item: AnnotationItem): string {
  if (item.kind === 'warning') {
    return `${item.dropped ? 'x' : '!'} ${item.rule} line ${item.line} @${item.offset}`;
  }
  const { object, line, offset } = item;
  const pairs = object.attributes.map(
    ({ name, value }) => `${name}=${JSON.stringify(Buffer.from(value).toString('latin1'))}`,
  );
  const url = Buffer.from(object.urlBytes).toString('latin1');
  return `${object.type} ${url} [${pairs.join(' ')}] line ${line} @${offset}`;
}

/** Expected items, or the only one. */
type Lines = string | readonly string[];

const CASES: Readonly<Record<string, readonly [wire: string, strict: Lines, lenient: Lines]>> = {
  'SOIF-11.1, G-137: the form itself, two objects, a blank line between them': [
    '@FILE { http://a/\nTitle:\tOne: two\nX-y:\t-\n}\n\n@NOTE { -\n}\n',
    ['FILE http://a/ [Title="One: two" X-y="-"] line 1 @0', 'NOTE - [] line 6 @44'],
    ['FILE http://a/ [Title="One: two" X-y="-"] line 1 @0', 'NOTE - [] line 6 @44'],
  ],
  'SOIF-11.1: a value is the rest of the line, byte for byte': [
    '@FILE { u\nA:\t}\nB:\t\xa0caf\xe9 @x {3}: \nC:\tx\0y\n}\n',
    'FILE u [A="}" B="\xa0caf\xe9 @x {3}: " C="x\\u0000y"] line 1 @0',
    'FILE u [A="}" B="\xa0caf\xe9 @x {3}: " C="x\\u0000y"] line 1 @0',
  ],
  'SOIF-11.1: a blank instead of the tab': [
    '@FILE { u\nA: x\n}\n',
    'error SOIF-11.1 line 2 @10',
    ['! SOIF-11.1 line 2 @10', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1: two tabs, and no tab': [
    '@FILE { u\nA:\t\tx\nB:y\n}\n',
    'error SOIF-11.1 line 2 @10',
    ['! SOIF-11.1 line 2 @10', '! SOIF-11.1 line 3 @16', 'FILE u [A="x" B="y"] line 1 @0'],
  ],
  'SOIF-11.1, 2.6: CR LF: one warning for the file': [
    '@FILE { u\r\nA:\tx\r\n}\r\n',
    'error SOIF-2.6 line 1 @0',
    ['! SOIF-2.6 line 1 @0', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1: the closing brace is missing, before an object and before the end': [
    '@FILE { u\nA:\tx\n@FILE { v\nB:\ty\n',
    'error SOIF-11.1 line 3 @15',
    [
      '! SOIF-11.1 line 3 @15',
      'FILE u [A="x"] line 1 @0',
      '! SOIF-11.1 line 5 @30',
      'FILE v [B="y"] line 3 @15',
    ],
  ],
  'SOIF-11.1: the attribute does not begin in column 0': [
    '@FILE { u\n  A:\tx\n }\n',
    'error SOIF-11.1 line 2 @10',
    ['! SOIF-11.1 line 2 @10', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1, G-137: a size in braces is ignored': [
    '@FILE { u\nA{99}:\tx\n}\n',
    'error SOIF-11.1 line 2 @10',
    ['! SOIF-11.1 line 2 @10', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1: a blank before the colon': [
    '@FILE { u\nA :\tx\n}\n',
    'error SOIF-11.1 line 2 @10',
    ['! SOIF-11.1 line 2 @10', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1: a line without a colon, and one with a name that SOIF-2.8 forbids, are dropped': [
    '@FILE { u\ngoes on\nd\xe9j\xe0:\tvu\nA:\tx\n}\n',
    'error SOIF-11.1 line 2 @10',
    ['x SOIF-11.1 line 2 @10', 'x SOIF-11.1 line 3 @18', 'FILE u [A="x"] line 1 @0'],
  ],
  'SOIF-11.1: blank lines within an object': [
    '@FILE { u\n\nA:\tx\n \t\n}\n',
    'error SOIF-11.1 line 2 @10',
    'FILE u [A="x"] line 1 @0',
  ],
  'SOIF-11.1, 5.2: a duplicate name: all are kept, the last one counts': [
    '@FILE { u\nA:\tx\na:\ty\n}\n',
    'error SOIF-5.2 line 3 @15',
    ['! SOIF-5.2 line 3 @15', 'FILE u [A="x" a="y"] line 1 @0'],
  ],
  'SOIF-11.1: an object without URL is dropped with its lines': [
    '@FILE {\nA:\tx\n}\n@FILE { v\n}\n',
    'error SOIF-11.1 line 1 @0',
    ['x SOIF-11.1 line 1 @0', 'FILE v [] line 4 @15'],
  ],
  'SOIF-11.1: a type that SOIF-2.8 forbids, and a header without a brace': [
    '@FI_LE { u\nA:\tx\n}\n@FILE u\n}\n@FILE { v\n}\n',
    'error SOIF-11.1 line 1 @0',
    ['x SOIF-11.1 line 1 @0', 'x SOIF-11.1 line 4 @18', 'FILE v [] line 6 @28'],
  ],
  'SOIF-11.1, 2.9: headers with other white space, on one line; a URL with a blank is dropped': [
    '@FILE{u\n}\n@FILE  {  v }\n@FILE { a b\n}\n',
    'error SOIF-2.2 line 1 @0',
    ['FILE u [] line 1 @0', 'FILE v [] line 3 @10', 'x SOIF-2.9 line 4 @24'],
  ],
  'SOIF-11.1: text between objects': [
    '# mine\n@FILE { u\n}\n}\n',
    'error SOIF-11.1 line 1 @0',
    ['x SOIF-11.1 line 1 @0', 'FILE u [] line 2 @7', 'x SOIF-11.1 line 4 @19'],
  ],
  'SOIF-11.1: the last line has no end': [
    '@FILE { u\n}',
    'error SOIF-11.1 line 2 @10',
    'FILE u [] line 1 @0',
  ],
  'SOIF-11.1: strict mode returns the objects before the error': [
    '@FILE { u\n}\n@FILE { v\nA x\n}\n',
    ['FILE u [] line 1 @0', 'error SOIF-11.1 line 4 @22'],
    ['FILE u [] line 1 @0', 'x SOIF-11.1 line 4 @22', 'FILE v [] line 3 @12'],
  ],
};

t.test('SOIF-11.1: annotation files are read whole and byte by byte', async (t) => {
  for (const [name, [wire, ...expected]] of Object.entries(CASES)) {
    const [strict, lenient] = expected.map((lines) => [lines].flat());
    t.test(name, async (t) => {
      for (const chunks of [[bytes(wire)], singleBytes(bytes(wire))]) {
        t.strictSame(annotationLines(chunks, { mode: 'strict' }), strict, 'strict');
        t.strictSame(annotationLines(chunks), lenient, 'lenient');
      }
    });
  }
});

t.test('SOIF-11.1: limits: long lines and objects are dropped, the rest is read', async (t) => {
  const options = { maxLineBytes: 20, maxObjectBytes: 40 };
  const long = 'x'.repeat(20);
  t.strictSame(annotationLines([bytes(`@FILE { u\nA:\t${long}\nB:\ty\n}\n`)], options), [
    'x SOIF-11.1 line 2 @10',
    'FILE u [B="y"] line 1 @0',
  ]);
  t.strictSame(
    annotationLines([bytes(`@FILE { u\nA:\tx\n@FILE { ${long}\nB:\ty\n}\n`)], options),
    ['x SOIF-11.1 line 3 @15', 'FILE u [A="x"] line 1 @0'],
    'the lines after a header that is too long are not part of the object before',
  );
  const exact = `A:\t${'x'.repeat(17)}`;
  t.strictSame(annotationLines([bytes(`@FILE { u\n${exact}\r\n}\n`)], options), [
    '! SOIF-2.6 line 2 @10',
    'FILE u [A="xxxxxxxxxxxxxxxxx"] line 1 @0',
  ]);
  t.strictSame(
    annotationLines([bytes(`@FILE { u\n${exact}\nB:\t${'y'.repeat(17)}\nC:\tz\n}\n@FILE { v\n}\n`)], options),
    ['x SOIF-11.1 line 3 @31', 'FILE v [] line 6 @59'],
  );
  t.throws(() => new AnnotationDecoder({ maxLineBytes: 0 }), RangeError);
  const decoder = new AnnotationDecoder();
  decoder.end();
  t.throws(() => decoder.end(), StateError);
  t.throws(() => decoder.push(bytes('')), StateError);
});

t.test('SOIF-11.1: hostile lines take linear time', async (t) => {
  const blanks = ' '.repeat(500_000);
  for (const line of [
    `@F {${blanks}x y`,
    `@F { u${blanks}x`,
    `a{${blanks}x`,
    `a${blanks}x`,
    `${'a'.repeat(500_000)}x`,
  ]) {
    const items = decodeAnnotations(bytes(`@FILE { u\n${line}\n}\n`));
    t.ok(items.length > 1, JSON.stringify(line.slice(0, 6)));
  }
  const many = Array.from({ length: 50_000 }, (_, i) => `n${i}:\tx\n`).join('');
  const [item] = decodeAnnotations(bytes(`@FILE { u\n${many}}\n`));
  t.equal(item?.kind === 'object' && item.object.size, 50_000);
});

const NAME = fc.stringMatching(/^[A-Za-z0-9._<>-]{1,12}$/);
const VALUE = fc
  .uint8Array({ maxLength: 30 })
  .map((value) => value.filter((byte) => byte !== 0x0a && byte !== 0x0d))
  // A blank at the beginning would be read with the tab.
  .filter((value) => value.length > 0 && !/^[\t-\r ]/.test(Buffer.from(value).toString('latin1')));
const RECORD = fc.tuple(
  fc.stringMatching(/^[A-Z]{1,6}$/),
  fc.stringMatching(/^[!-z|~]{1,20}$/),
  fc.uniqueArray(fc.tuple(NAME, VALUE), { maxLength: 5, selector: ([name]) => name.toLowerCase() }),
);

t.test('SOIF-11.1: a correct file is read without a warning, in both modes (property)', async () => {
  assertProperty(
    fc.property(
      fc.array(RECORD, { maxLength: 4 }),
      fc.constantFrom('strict' as const, 'lenient' as const),
      (records, mode) => {
        const wire = Buffer.concat(
          records.flatMap(([type, url, pairs]) => [
            Buffer.from(`@${type} { ${url}\n`),
            ...pairs.flatMap(([name, value]) => [Buffer.from(`${name}:\t`), value, Buffer.from('\n')]),
            Buffer.from('}\n'),
          ]),
        );
        const items = decodeAnnotations(wire, { mode });
        return (
          items.length === records.length &&
          items.every((item, i) => {
            if (item.kind !== 'object') return false;
            const [type, url, pairs] = records[i] ?? ['', '', []];
            const read = item.object.attributes.map(({ name, value }) => [name, [...value]]);
            return (
              item.object.type === type &&
              item.object.url === url &&
              JSON.stringify(read) === JSON.stringify(pairs.map(([name, value]) => [name, [...value]]))
            );
          })
        );
      },
    ),
    { numRuns: 300 },
  );
});

const PIECES =
  '@FILE { u\n|@FILE {\n|@|{|}|}\n|\n|\r\n| |\t|a:\tx\n|a: x\n|b{2}:\ty\n|:|c|\xff|\0|a:\tx'.split('|');
const GARBAGE = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => bytes(pieces.join(''))),
  fc.uint8Array({ maxLength: 60 }),
);

t.test('SOIF-11.1: chunking changes nothing, and what is read can be written (property)', async (t) => {
  t.doesNotThrow(() =>
    assertProperty(
      fc.property(
        GARBAGE,
        fc.array(fc.nat(80), { maxLength: 6 }),
        fc.record({
          mode: fc.constantFrom('strict' as const, 'lenient' as const),
          maxLineBytes: fc.constantFrom(6, 1000),
          maxObjectBytes: fc.constantFrom(20, 1000),
        }),
        (wire, offsets, options) => {
          const whole = JSON.stringify(annotationLines([wire], options));
          for (const item of options.mode === 'lenient' ? decodeAnnotations(wire, options) : []) {
            if (item.kind === 'object') decodeSoif(encodeSoif(item.object), { mode: 'strict' });
          }
          return (
            JSON.stringify(annotationLines(singleBytes(wire), options)) === whole &&
            JSON.stringify(annotationLines(cutAt(wire, offsets), options)) === whole
          );
        },
      ),
      { numRuns: 1000 },
    ),
  );
});

t.test('corpus: stored annotation files give the stored items', async (t) => {
  const folder = new URL('test/fuzz/corpus/annotation/', import.meta.resolve('#package.json'));
  const cases = (await readdir(folder)).filter((file) => file.endsWith('.txt')).sort();
  t.ok(cases.length >= 6, `${cases.length} files`);
  for (const file of cases) {
    const wire = new Uint8Array(await readFile(new URL(file, folder)));
    const expected = JSON.parse(await readFile(new URL(file.replace(/txt$/, 'json'), folder), 'utf8'));
    for (const chunks of [[wire], singleBytes(wire)]) {
      t.strictSame(annotationLines(chunks), expected.lenient, `${file}, lenient`);
      t.strictSame(annotationLines(chunks, { mode: 'strict' }), expected.strict, `${file}, strict`);
    }
  }
});
