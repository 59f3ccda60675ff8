// Property tests of the SOIF codec, and the stored inputs of test/fuzz/corpus/soif.
import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  decodeAttributes,
  decodeSoif,
  encodeAttributes,
  encodeSoif,
  SoifDecoder,
  SoifObject,
  urlOfBytes,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { assertProperty } from '../../helpers/property.js';
import { bytes, cutAt, itemLines, sectionLines, singleBytes } from './item-lines.js';

const NAME = fc.stringMatching(/^[A-Za-z0-9._<>-]{1,12}$/);
/** Any bytes that a URL may have; 0xFF, which strict mode refuses, is in rules.test.ts (SOIF-4.4). */
const URL = fc
  .oneof(fc.uint8Array({ minLength: 1, maxLength: 30 }), fc.stringMatching(/^[!-~]{1,30}$/).map(bytes))
  .filter((url) => urlProblem(url, 'UPDATE') === undefined && !url.includes(0xff))
  .map(urlOfBytes);
const VALUE = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom('}\n', '\n@FILE { x\n', 'a{3}:\tabc\n', '\r\n', '499 - x\n').map(bytes),
);
const OBJECT = fc
  .tuple(fc.stringMatching(/^[A-Za-z0-9-]{1,8}$/), URL, fc.array(fc.tuple(NAME, VALUE), { maxLength: 6 }))
  .map(([type, url, attributes]) => SoifObject.of(type, url, attributes));

/** Pieces of SOIF, valid and invalid, so that garbage resembles SOIF. */
const PIECES = (
  '@FILE { u\n|@FILE {\n|@UPDATE {\n|@DELETE { }|@refresh{|@A { @b\n|@|{|}|}\n|\n|\r\n| |\t|' +
  'a{1}:\tx\n|a{2}:\tx\n|a{1}: x\n|a{1}:\tx|b{ 1 }:\ty\n|c{9}:\t|d{x}:\t|e {0}:\t\n|{1}:\tz\n|f|' +
  '\xff|\0|499 - Sent\n|499| - |099 - end\r\n|@FILE { a b\n|@FILE { {x}\n|@FILE{u\n|@FILE { v }\n|' +
  '@FILE { w\nTitle{2}:\tab\n}\n|@FILE { w\nTitle{1}:\ta\nType{1}:\tb\n}\n'
).split('|');
const GARBAGE = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => bytes(pieces.join(''))),
  fc.array(OBJECT, { maxLength: 3 }).chain((objects) => {
    const wire = Buffer.concat(objects.map((object) => encodeSoif(object)));
    return fc
      .array(fc.tuple(fc.nat(Math.max(0, wire.length - 1)), fc.nat(255)), { maxLength: 3 })
      .map((changes) => {
        const changed = new Uint8Array(wire);
        for (const [offset, byte] of changes) if (offset < changed.length) changed[offset] = byte;
        return changed;
      });
  }),
  fc.uint8Array({ maxLength: 60 }),
);
const OFFSETS = fc.array(fc.nat(200), { maxLength: 8 });
const OPTIONS = fc.record({
  mode: fc.constantFrom('strict' as const, 'lenient' as const),
  dialect: fc.constantFrom('harvest' as const, 'starts' as const, 'rdm' as const),
  maxObjectBytes: fc.constantFrom(40, 1000),
  maxNameBytes: fc.constantFrom(3, 100),
  maxAttributes: fc.constantFrom(1, 2, 1000),
  maxUrlBytes: fc.constantFrom(5, 100),
});

const RUNS = { numRuns: 400 };

/** The last value of each name, without empty ones, as the comparison of SOIF-3.3 requires. */
function contentsOf(object: SoifObject): Map<string, string> {
  const last = new Map<string, string>();
  for (const { name, value } of object) last.set(name.toLowerCase(), Buffer.from(value).toString('latin1'));
  for (const [name, value] of last) if (value === '') last.delete(name);
  return last;
}

t.test('SOIF-3.1: a written object is read back, in both modes (property)', async () => {
  assertProperty(
    fc.property(OBJECT, fc.constantFrom('strict' as const, 'lenient' as const), (object, mode) => {
      const wire = encodeSoif(object);
      const again = decodeSoif(wire, { mode });
      return (
        again.type === object.type &&
        again.url === object.url &&
        JSON.stringify([...contentsOf(again)].sort()) === JSON.stringify([...contentsOf(object)].sort()) &&
        Buffer.compare(encodeSoif(again), wire) === 0
      );
    }),
    RUNS,
  );
});

t.test('SOIF-3.7: a written attribute list is read back (property)', async () => {
  assertProperty(
    fc.property(
      fc.uniqueArray(fc.tuple(NAME, VALUE), { selector: ([name]) => name.toLowerCase() }),
      (pairs) => {
        const read = decodeAttributes(encodeAttributes(pairs), { mode: 'strict' });
        const show = (list: readonly (readonly [string, Uint8Array])[]): string =>
          JSON.stringify(list.map(([name, value]) => [name, Buffer.from(value).toString('latin1')]));
        const written = pairs.filter(([, value]) => value.length > 0);
        return show(read.map(({ name, value }) => [name, value])) === show(written);
      },
    ),
    RUNS,
  );
});

t.test('property: chunking changes no item, offset or warning, in both modes and all dialects', async (t) => {
  t.doesNotThrow(
    () =>
      assertProperty(
        fc.property(GARBAGE, OFFSETS, OPTIONS, (wire, offsets, options) => {
          const whole = JSON.stringify(itemLines([wire], options));
          return (
            JSON.stringify(itemLines(singleBytes(wire), options)) === whole &&
            JSON.stringify(itemLines(cutAt(wire, offsets), options)) === whole
          );
        }),
        { numRuns: 1500 },
      ),
    'only ProtocolErrors are thrown, and only in strict mode',
  );
});

t.test('property: chunking changes no item of sections with end lines', async () => {
  assertProperty(
    fc.property(GARBAGE, OFFSETS, OPTIONS, fc.boolean(), (wire, offsets, options, endLine) => {
      const whole = JSON.stringify(sectionLines([wire], { ...options, endLine }));
      return (
        JSON.stringify(sectionLines(singleBytes(wire), { ...options, endLine })) === whole &&
        JSON.stringify(sectionLines(cutAt(wire, offsets), { ...options, endLine })) === whole
      );
    }),
    { numRuns: 1500 },
  );
});

t.test('property: `exact` marks the objects whose bytes strict mode reads, and only those', async () => {
  assertProperty(
    fc.property(GARBAGE, (wire) => {
      const decoder = new SoifDecoder();
      for (const item of [...decoder.push(wire), ...decoder.end()]) {
        if (item.kind !== 'object') continue;
        const received = wire.subarray(item.offset, item.offset + item.length);
        let isStrict = true;
        try {
          decodeSoif(received, { mode: 'strict' });
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          isStrict = false;
        }
        if (isStrict !== item.exact) return false;
      }
      return true;
    }),
    { numRuns: 1500 },
  );
});

t.test('property: every object that is read with a good URL is written for strict mode', async () => {
  assertProperty(
    fc.property(GARBAGE, (wire) => {
      const decoder = new SoifDecoder();
      for (const item of [...decoder.push(wire), ...decoder.end()]) {
        if (item.kind !== 'object') continue;
        const { object } = item;
        if (urlProblem(object.urlBytes, object.type) !== undefined) {
          t.throws(() => encodeSoif(object), { name: 'ProtocolError', rule: 'SOIF-2.9' });
          continue;
        }
        const again = decodeSoif(encodeSoif(object), {
          mode: object.urlBytes.includes(0xff) ? 'lenient' : 'strict',
        });
        if (again.url !== object.url) throw new Error(`${object.url} became ${again.url}`);
      }
    }),
    { numRuns: 1000 },
  );
});

t.test('SOIF-2.8, SOIF-4.4: an attribute without a name gets one that no other has', async (t) => {
  const [object] = new SoifDecoder()
    .push(Buffer.from('@FILE { u\n@{1}:\ty\n{1}:\tz\n}\n'))
    .flatMap((item) => (item.kind === 'object' ? [item.object] : []));
  t.ok(object);
  const written = object === undefined ? '' : Buffer.from(encodeSoif(object)).toString('latin1');
  t.equal(written, '@FILE { u\n-{1}:\ty\n_{1}:\tz\n}\n');
  t.equal(decodeSoif(Buffer.from(written), { mode: 'strict' }).text('_'), 'z');
});

t.test('property: any garbage is an attribute list or a ProtocolError', async () => {
  assertProperty(
    fc.property(GARBAGE, fc.constantFrom('strict' as const, 'lenient' as const), (wire, mode) => {
      try {
        decodeAttributes(wire, { mode });
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }),
    RUNS,
  );
});

t.test('corpus: stored streams give the stored items', async (t) => {
  const folder = new globalThis.URL('test/fuzz/corpus/soif/', import.meta.resolve('#package.json'));
  const cases = (await readdir(folder)).filter((file) => file.endsWith('.soif')).sort();
  t.ok(cases.length >= 12, `${cases.length} files`);
  for (const file of cases) {
    const wire = new Uint8Array(await readFile(new globalThis.URL(file, folder)));
    const expected = JSON.parse(
      await readFile(new globalThis.URL(file.replace(/soif$/, 'json'), folder), 'utf8'),
    );
    for (const chunks of [[wire], singleBytes(wire)]) {
      t.strictSame(itemLines(chunks), expected.lenient, `${file}, lenient`);
      t.strictSame(itemLines(chunks, { mode: 'strict' }), expected.strict, `${file}, strict`);
    }
  }
});
