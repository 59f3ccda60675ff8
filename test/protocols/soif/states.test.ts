// The reader of a stream runs on its table of states, strict and lenient; the table of an object is what it accepts.
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import { decodeSoif, SectionDecoder } from '../../../protocols/soif/index.js';
import { STREAM_STATES } from '../../../protocols/soif/states.js';
import { assertProperty } from '../../helpers/property.js';
import { checkMachine, rowsOf, watchTable } from '../../helpers/state-machine.js';
import { isObject, OBJECT_STATES } from './object-states.js';

const WHOLE = '@FILE { http://a.test/1\nA{1}:\tx\n}\n';
const LOOSE = '@FILE {http://a.test/2\r\nA{1}: x\r\n}\r\n';
const BROKEN = '@FILE { http://a.test/3\nA{9}:\tx\n}\n';

/** 'strict' as the first input makes the reader strict; after an error it goes on. */
function read([first, ...rest]: readonly string[]): undefined {
  const isStrict = first === 'strict';
  const decoder = new SectionDecoder({ mode: isStrict ? 'strict' : 'lenient', endLine: true });
  const steps = [...(isStrict || first === undefined ? rest : [first, ...rest]), 'end'];
  for (const input of steps) {
    if (decoder.ended) return;
    let call = () => (input === 'end' ? decoder.end() : decoder.push(Buffer.from(input, 'latin1')));
    for (let goesOn = true; goesOn; ) {
      try {
        call();
        goesOn = decoder.failed;
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
      call = () => decoder.resume();
    }
    if (input === 'end') return;
  }
}

t.test('the reader of a stream with sections runs on its table of states', async (t) => {
  const parts = [
    WHOLE,
    LOOSE,
    BROKEN,
    '@UPDATE {\n',
    '@DELETE {',
    '}\n',
    '099 - x\n',
    '1 x\n',
    '09',
    'x',
    '\n',
    '@',
  ];
  checkMachine(t, {
    table: STREAM_STATES,
    start: 'between',
    run: read,
    walks: [
      [WHOLE, LOOSE, BROKEN, WHOLE, '}\n'],
      ['@UPDATE {\n', WHOLE, '}\n', '1 x\n', '099 - x\n'],
      ['strict', '@UPDATE {\n', WHOLE],
      ['strict', BROKEN, WHOLE],
      ['strict', 'x\n', WHOLE],
      ['strict', '@UPDATE {\n', WHOLE, '099 - x\n'],
    ],
    input: fc.constantFrom('strict', ...parts),
  });
});

t.test('a strict reader accepts the objects that the table of an object accepts', async (t) => {
  const reached = new Set<string>();
  t.teardown(watchTable(OBJECT_STATES, (state, event) => reached.add(`${state}: ${event}`)));
  const isAccepted = (bytes: string) => {
    try {
      decodeSoif(Buffer.from(bytes, 'latin1'), { mode: 'strict' });
      return true;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return false;
    }
  };
  const part = fc.constantFrom(
    ...[
      '@',
      'FILE',
      ' { ',
      'http://a/',
      '\n',
      'A',
      '{',
      '}',
      ':\t',
      '0',
      '1',
      '2',
      'x',
      ' ',
      '\t',
      '\r',
      '\0',
      '\xff',
      '@F { u\n',
    ],
  );
  const attribute = fc.constantFrom(
    'A{1}:\tx\n',
    'B{0}:\t\n',
    'C{01}:\tx\n',
    'D{2}:\tx\n',
    'E{3}:\t}\n}\n',
    '\xff{1}:\t\n\n',
  );
  const whole = fc
    .array(attribute, { maxLength: 3 })
    .map((lines) => `@FILE { http://a/{}\n${lines.join('')}}\n`);
  const changed = fc
    .tuple(whole, fc.nat(40), fc.nat(2), part)
    .map(([text, at, length, by]) => text.slice(0, at) + by + text.slice(at + length));
  const counts = { true: 0, false: 0 };
  assertProperty(
    fc.property(
      fc.oneof(
        whole,
        changed,
        fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
      ),
      (bytes) => {
        const expected = isObject(bytes);
        counts[`${expected}`]++;
        if (isAccepted(bytes) !== expected) throw new Error(`the table says ${expected}`);
      },
    ),
    { numRuns: 4000, examples: [['@FILE { u\nA{1}:\tx\nB{0}:\t\n}\n']] },
  );
  t.ok(counts.true > 50 && counts.false > 50, JSON.stringify(counts));
  t.same(
    rowsOf(OBJECT_STATES).filter((row) => !reached.has(row)),
    [],
    'every row is reached',
  );
});
