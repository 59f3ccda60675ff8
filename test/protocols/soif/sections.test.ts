// Tests the framing of SOIF streams: sections, end lines, and the layout that we emit.
import t from 'tap';
import { ProtocolError, StateError } from '../../../protocols/errors.js';
import { SECTION_CLOSE, SECTION_OPEN, SectionDecoder, SoifDecoder } from '../../../protocols/soif/index.js';
import { bytes, sectionLines, singleBytes } from './item-lines.js';

const A = '@FILE { a\nT{1}:\tx\n}\n';
const B = '@FILE { b\n}\n';

/** Streams and their items. Both modes give the same unless `strict` is set. */
const STREAMS: {
  name: string;
  wire: string;
  endLine?: boolean;
  lenient: string[];
  strict?: string[];
}[] = [
  {
    name: 'SOIF-8.8: the layout that we write',
    wire: `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${A}${B}}\n`,
    lenient: [
      'open delete @0',
      'close delete @10',
      'open refresh @12',
      'close refresh @23',
      'open update @25',
      'update FILE "a" ["T"="x"] @35+20',
      'update FILE "b" [] @55+12',
      'close update @67',
    ],
  },
  {
    name: 'SOIF-8.7: sections on one line, with names in any case',
    wire: `@Delete { } @refresh{}@UPDATE {${B}}`,
    lenient: [
      'open delete @0',
      'close delete @10',
      'open refresh @12',
      'close refresh @21',
      'open update @22',
      'update FILE "b" [] @31+12',
      'close update @43',
    ],
  },
  {
    name: 'SOIF-8.2, 8.9: any order, repeated, some missing, objects outside count as updates',
    wire: `${B}@UPDATE {\n${B}}\n@DELETE {\n${B}}\n@UPDATE {\n}\n`,
    lenient: [
      'update FILE "b" [] @0+12',
      'open update @12',
      'update FILE "b" [] @22+12',
      'close update @34',
      'open delete @36',
      'delete FILE "b" [] @46+12',
      'close delete @58',
      'open update @60',
      'close update @70',
    ],
  },
  {
    name: 'SOIF-8.10: an object of type UPDATE, inside a section and outside',
    wire: '@UPDATE { u\n}\n@REFRESH {\n@UPDATE { u\n}\n}\n',
    lenient: [
      'update UPDATE "u" [] @0+14',
      'open refresh @14',
      'refresh UPDATE "u" [] @25+14',
      'close refresh @39',
    ],
  },
  {
    name: 'SOIF-8.9: a section that is not closed',
    wire: `@DELETE {\n${B}@UPDATE {\n${B}`,
    lenient: [
      'open delete @0',
      'delete FILE "b" [] @10+12',
      '! SOIF-8.9 @22',
      'close delete @22',
      'open update @22',
      'update FILE "b" [] @32+12',
      '! SOIF-8.9 @44',
    ],
    strict: [
      'open delete @0',
      'delete FILE "b" [] @10+12',
      'error SOIF-8.9 @22',
      'delete FILE "b" [] @32+12',
      'error SOIF-8.9 @44',
    ],
  },
  {
    name: 'SOIF-8.9: an extra closing brace',
    wire: `}\n${B}`,
    lenient: ['! SOIF-8.9 @0', 'update FILE "b" [] @2+12'],
    strict: ['error SOIF-2.2 @0', 'update FILE "b" [] @2+12'],
  },
  {
    name: 'SOIF-4.5: a malformed object does not hide the sections after it',
    wire: `@DELETE {\n@FILE { x\nA{1}:x\n}\n}\n@UPDATE {\n${B}}\n`,
    lenient: [
      'open delete @0',
      '! SOIF-4.3 @25',
      '! SOIF-4.5 @10',
      '! SOIF-8.9 @31',
      'close delete @31',
      'open update @31',
      'update FILE "b" [] @41+12',
      'close update @53',
    ],
    strict: [
      'open delete @0',
      'error SOIF-4.3 @25',
      'error SOIF-8.9 @31',
      'delete FILE "b" [] @41+12',
      'close delete @53',
    ],
  },
  {
    name: 'GATHERD-3.7: the end line, and the bytes after it',
    wire: `@UPDATE {\n${B}}\n499 - Sent 1 objects\r\n000 - more`,
    endLine: true,
    lenient: [
      'open update @0',
      'update FILE "b" [] @10+12',
      'close update @22',
      'end 499 Sent 1 objects @24',
      'rest "000 - more"',
    ],
  },
  {
    name: 'GATHERD-3.7: a line in a value is not an end line',
    wire: '@UPDATE {\n@FILE { u\nT{16}:\tx\n}\n}\n499 - Sent\n}\n}\n499 - Sent\n',
    endLine: true,
    lenient: [
      'open update @0',
      'update FILE "u" ["T"="x\\n}\\n}\\n499 - Sent"] @10+36',
      'close update @46',
      'end 499 Sent @48',
      'rest ""',
    ],
  },
  {
    name: 'GATHERD-3.9: only the end line',
    wire: '499 - Bad timestamp\n',
    endLine: true,
    lenient: ['end 499 Bad timestamp @0', 'rest ""'],
  },
  {
    name: 'GATHERD-3.7: sections that are open or just opened at the end line',
    wire: '@DELETE {\n}\n@UPDATE {\n499 - Sent 0 objects\n',
    endLine: true,
    lenient: [
      'open delete @0',
      'close delete @10',
      'open update @12',
      '! GATHERD-3.7 @22',
      'end 499 Sent 0 objects @22',
      'rest ""',
    ],
    strict: [
      'open delete @0',
      'close delete @10',
      'open update @12',
      'error GATHERD-3.7 @22',
      'error SOIF-8.9 @43',
    ],
  },
  {
    name: 'GATHERD-3.7: a malformed last object does not hide the end line',
    wire: '@UPDATE {\n@FILE { x\nA{1}:x\n}\n}\n499 - Sent 1\n',
    endLine: true,
    lenient: [
      'open update @0',
      '! SOIF-4.3 @25',
      '! SOIF-4.5 @10',
      '! GATHERD-3.7 @31',
      'end 499 Sent 1 @31',
      'rest ""',
    ],
    strict: ['open update @0', 'error SOIF-4.3 @25', 'error GATHERD-3.7 @31', 'error SOIF-8.9 @44'],
  },
  {
    name: 'GATHERD-3.7: numbers that are not an end line',
    wire: `12 - x\n1234 - x\n499- x\n x 499 - x\n${B}`,
    endLine: true,
    lenient: ['update FILE "b" [] @34+12'],
    strict: ['error SOIF-2.2 @0', 'update FILE "b" [] @34+12'],
  },
];

t.test('SOIF-8.9: streams are read whole and byte by byte', async (t) => {
  for (const { name, wire, endLine = false, lenient, strict = lenient } of STREAMS) {
    t.test(name, async (t) => {
      t.strictSame(sectionLines([bytes(wire)], { endLine }), lenient, 'lenient');
      t.strictSame(sectionLines([bytes(wire)], { endLine, mode: 'strict' }), strict, 'strict');
      t.strictSame(sectionLines(singleBytes(bytes(wire)), { endLine }), lenient, 'lenient, byte by byte');
      t.strictSame(
        sectionLines(singleBytes(bytes(wire)), { endLine, mode: 'strict' }),
        strict,
        'strict, in bytes',
      );
    });
  }
});

t.test('SOIF-8.8: the layout that is written', async (t) => {
  const emitted = [
    SECTION_OPEN.delete,
    SECTION_CLOSE,
    SECTION_OPEN.refresh,
    SECTION_CLOSE,
    SECTION_OPEN.update,
    SECTION_CLOSE,
  ];
  t.equal(Buffer.concat(emitted).toString(), '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n');
});

t.test('the bytes of an object are a view of the received chunk', async (t) => {
  const chunk = bytes(`@UPDATE {\n${A}}\n`);
  const item = new SectionDecoder().push(chunk).find((item) => item.kind === 'object');
  const objectBytes = item?.kind === 'object' ? item.bytes : bytes('');
  t.equal(Buffer.from(objectBytes).toString(), A);
  t.equal(objectBytes.buffer, chunk.buffer);
});

t.test('`rest` has the bytes after the end line, and a push after it is a StateError', async (t) => {
  const decoder = new SectionDecoder({ endLine: true });
  decoder.push(bytes('499 - x'));
  t.equal(decoder.ended, false);
  t.equal(decoder.rest.length, 0);
  decoder.push(bytes('\nabc'));
  t.equal(decoder.ended, true);
  t.equal(Buffer.from(decoder.rest).toString(), 'abc');
  t.throws(() => decoder.push(bytes('d')), StateError);
  t.strictSame(decoder.end(), []);
});

t.test('SOIF-8.6: without the framing layer wrappers are malformed, objects are read', async (t) => {
  const decoder = new SoifDecoder();
  const items = decoder.push(bytes(`@UPDATE {\n${A}${B}}\n`));
  t.strictSame(
    items.map((item) => (item.kind === 'object' ? item.object.url : item.rule)),
    ['SOIF-4.4', 'SOIF-4.5', 'a', 'b'],
  );
});

t.test('in strict mode a truncated stream is an error at its end', async (t) => {
  const decoder = new SectionDecoder({ mode: 'strict' });
  decoder.push(bytes('@UPDATE {\n@FILE { u\n'));
  t.throws(() => decoder.end(), ProtocolError);
});
