// Cases about values, sections and incomplete transfers (SOIF sections 1 and 8, GATHERD-3.11).
import { should } from '../case.js';
import { bytes } from '../printable.js';
import { broken, type ClientCase, complete, mustReceive } from './checks.js';
import type { Step } from './dialogue.js';
import {
  type Content,
  emptyObject,
  FIRST,
  inSection,
  PLAIN,
  SECOND,
  sections,
  streamOf,
  updates,
  type WireObject,
  wireObject,
} from './objects.js';

const URL = 'http://gatherer.example.org/values';
const LAST = wireObject('http://gatherer.example.org/last', [['Title', 'behind the others\n']]);

/**
 * Returns a value of this size that does not compress well, with line ends and lines that look like protocol.
 */
export function largeValue(size: number): Buffer {
  const lines: string[] = [];
  let length = 0;
  for (let i = 0; length < size; i++) {
    const line = `x${((i * 2_654_435_761) >>> 0).toString(16)} - line ${i} of a large value\n${i % 997 === 0 ? '}\n' : ''}`;
    lines.push(line);
    length += line.length;
  }
  return bytes(lines.join('').slice(0, size));
}

/** Returns an object with a difficult value, between others that show whether the client lost its position. */
export function around(...attributes: readonly (readonly [string, string | Buffer])[]): Content {
  return updates(FIRST, wireObject(URL, attributes), LAST);
}

export const FORGED_END = 'a page about gatherd\n499 - Sent 1 objects\n999 - Bye\nand more\n';
export const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const VALUES = 'manual 1.4; template.h; template.c*';

/** SOIF-1.2: the bytes of a value. */
export const VALUE_CASES: readonly ClientCase[] = [
  mustReceive('value/end-line', 'GATHERD-3.7 SOIF-1.2', VALUES)
    .title('reads a line "499 - " inside a value as data')
    .does(complete, around(['Body', FORGED_END])),
  mustReceive('value/end-line-099', 'GATHERD-3.7 SOIF-1.2', VALUES)
    .title('reads a line "099 - " inside a value as data')
    .does(complete, around(['Body', 'a page about brokers\n099 - done\nand more\n'])),
  mustReceive('value/closing-brace', 'SOIF-1.2 GATHERD-3.7', VALUES)
    .title('reads lines "}" inside a value as data')
    .does(complete, around(['Body', 'void main() {\n}\n}\n}\n499 - x\n'], ['Title', 'C\n'])),
  mustReceive('value/wrapper', 'SOIF-1.2 GATHERD-3.7', VALUES)
    .title('reads "@UPDATE {" and "@FILE {" inside a value as data')
    .does(
      complete,
      around([
        'Body',
        '}\n}\n@DELETE {\n@FILE { http://forged.example.org/\nTitle{1}:\tx\n}\n}\n@UPDATE {\n',
      ]),
    ),
  mustReceive('value/binary', 'SOIF-1.2 GATHERD-3.7', VALUES)
    .title('keeps every byte of a value, including NUL and 0x80 to 0xff')
    .does(complete, around(['Data', ALL_BYTES])),
  mustReceive('value/no-final-newline', 'SOIF-1.2 GATHERD-3.7', VALUES)
    .title('keeps a value unchanged that does not end in a line end')
    .does(complete, around(['Body', 'one\ntwo'])),
  mustReceive('value/only-newlines', 'SOIF-2.4 SOIF-1.2', VALUES)
    .title('keeps the line ends at the end of a value, and those at its beginning')
    .does(complete, around(['Body', '\n\n'], ['Title', '\nx\n\n'])),
  mustReceive('value/cr-lf', 'SOIF-1.2 SOIF-2.4', VALUES)
    .title('keeps CR LF inside a value')
    .does(complete, around(['Body', 'one\r\ntwo\r\n'])),
  mustReceive('value/empty', 'SOIF-3.2 SOIF-4.4', VALUES)
    .title('reads an attribute with an empty value')
    .does(complete, around(['Abstract', ''], ['Title', 'has an empty neighbor\n'])),
  mustReceive('value/huge', 'SOIF-1.2 GATHERD-3.7', VALUES)
    .title('reads a value of 10 MiB')
    .within(60_000)
    .run((context) => complete(around(['Full-Text', largeValue(10 << 20)]))(context)),
];

const SECTIONS = 'broker NOTES; manual 1.2; project choice';

/** A kept object: only its bookkeeping is sent (SOIF-8.4). */
const KEPT: WireObject = wireObject('http://gatherer.example.org/kept', []);
const GONE: WireObject = emptyObject('http://gatherer.example.org/gone');
const BOTH = inSection('update', [FIRST, SECOND]);

/** SOIF-8.8: the wrappers around the objects. */
export const SECTION_CASES: readonly ClientCase[] = [
  mustReceive('sections/one-line', 'SOIF-8.9 SOIF-8.7', SECTIONS)
    .title('reads wrappers that open and close on one line')
    .does(complete, streamOf(['@DELETE { }\n@REFRESH { }\n@UPDATE {\n', ...BOTH, '}\n'])),
  mustReceive('sections/run-together', 'SOIF-8.9 SOIF-8.7', SECTIONS)
    .title('reads wrappers that are all on one line with the first object')
    .does(complete, streamOf(['@DELETE { } @REFRESH { } @UPDATE { ', ...BOTH, '}\n'])),
  mustReceive('sections/small-letters', 'SOIF-8.9 SOIF-2.11', SECTIONS)
    .title('reads the keywords of the wrappers in lower case')
    .does(complete, streamOf(['@delete {\n}\n@refresh {\n}\n@update {\n', ...BOTH, '}\n'])),
  mustReceive('sections/other-order', 'SOIF-8.9 SOIF-8.2', SECTIONS)
    .title('reads the sections in another order')
    .does(complete, streamOf(['@UPDATE {\n', ...BOTH, '}\n@DELETE {\n}\n@REFRESH {\n}\n'])),
  mustReceive('sections/repeated', 'SOIF-8.9 SOIF-8.2', SECTIONS)
    .title('reads sections that occur several times')
    .does(
      complete,
      streamOf([
        '@DELETE {\n}\n@UPDATE {\n',
        ...inSection('update', [FIRST]),
        '}\n@REFRESH {\n}\n@DELETE {\n}\n@UPDATE {\n',
        ...inSection('update', [SECOND]),
        '}\n@UPDATE {\n}\n',
      ]),
    ),
  mustReceive('sections/absent', 'SOIF-8.9', SECTIONS)
    .title('reads objects without any wrapper as updates')
    .does(complete, streamOf(BOTH)),
  mustReceive('sections/non-empty', 'SOIF-8.9 SOIF-8.4 GATHERD-4.4', SECTIONS)
    .title('reads @DELETE and @REFRESH sections with objects')
    .does(complete, sections({ delete: [GONE], refresh: [KEPT], update: [FIRST, SECOND] })),
  mustReceive('sections/type-update', 'SOIF-8.10', SECTIONS)
    .title('reads objects whose type is the keyword of a wrapper')
    .does(
      complete,
      updates(
        wireObject(URL, [['Title', 'no wrapper\n']], 'UPDATE'),
        wireObject('-', [['Title', 'nor this\n']], 'DELETE'),
        LAST,
      ),
    ),
  mustReceive('sections/empty', 'GATHERD-4.5', SECTIONS)
    .title('reads an update without objects')
    .does(complete, updates()),
];

const START = '400 - x\n';
const FORGED = around(['Body', FORGED_END]).stream;
const FIRST_ONLY = until(PLAIN.stream, FIRST.bytes.toString('latin1'));
const IN_OBJECT = until(PLAIN.stream, 'Type{4}:\tText\n');
const AFTER_FORGED_END = until(FORGED, '499 - Sent 1 objects\n');
const IN_VALUE = until(PLAIN.stream, 'harvest\ngath');

/** Returns the first bytes of a stream, up to the end of a text in it. */
function until(stream: Buffer, text: string): Buffer {
  return stream.subarray(0, stream.indexOf(bytes(text)) + text.length);
}

const INCOMPLETE: readonly (readonly [name: string, when: string, ...update: Step[]])[] = [
  ['no-end-line', 'all objects arrived without the end line', START, PLAIN.stream, 'close'],
  ['no-start', 'the server closes instead of answering SEND-UPDATE', 'close'],
  ['nothing', 'the server closes after 400', START, 'close'],
  ['between-objects', 'the server closes between two objects', START, FIRST_ONLY, 'close'],
  ['in-object', 'the server closes within an object, between two attributes', START, IN_OBJECT, 'close'],
  ['in-value', 'the server closes within a value', START, IN_VALUE, 'close'],
  [
    'behind-forged-end',
    'the server closes after a line "499 - " of a value',
    START,
    AFTER_FORGED_END,
    'close',
  ],
  ['in-end-line', 'the server closes within the number of the end line', START, PLAIN.stream, '49', 'close'],
  ['reset', 'the connection is reset', START, IN_VALUE, 'reset'],
];

/** GATHERD-3.11: a client must not accept an incomplete transfer as complete. */
export const INCOMPLETE_CASES: readonly ClientCase[] = [
  ...INCOMPLETE.map(([name, when, ...update]) =>
    should(`incomplete/${name}`, 'GATHERD-3.11 GATHERD-11.4', 'project choice')
      .title(`fails when ${when}`)
      .does(broken, ...update),
  ),
  should('incomplete/gives-up', 'GATHERD-3.7 GATHERD-11.4', 'project choice')
    .title('fails when the server gives up between two objects')
    .does(broken, START, FIRST_ONLY, '900 - Disk error\n'),
];
