// The readers of a bulk reply run on their tables of states.
import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { GROUP_STATES, PROPOSED_STATES, SHIPPED_STATES } from '../../../protocols/bulk/states.js';
import { checkMachine } from '../../helpers/state-machine.js';
import {
  encoder,
  GREETING,
  GROUPS,
  latin1,
  MAGIC,
  objectText,
  readReply,
  textOf,
  VERSION,
} from './replies.js';

const ONE = objectText('http://a.test/1');
const OPEN = '@UPDATE {\n';
const member = (plain: string) => ({
  bytes: textOf(gzipSync(latin1(plain))),
  plain: latin1(plain),
  deflated: deflateRawSync(latin1(plain)).length,
});
const MEMBER = member(GROUPS);
const OPEN_MEMBER = member(`${OPEN}${ONE}`);

/** Reads the inputs as chunks of a reply; the last may be 'end'. Returns how the reply ended. */
function read(inputs: readonly string[]): 'complete' | 'incomplete' | 'failed' | undefined {
  const isOpen = inputs.some((input) => input.includes(OPEN_MEMBER.bytes));
  const chunks = inputs.filter((input) => input !== 'end').map(latin1);
  const { events, error } = readReply(
    chunks,
    { maxLines: 4, maxLineBytes: 200 },
    isOpen ? OPEN_MEMBER : MEMBER,
  );
  const end = events.at(-1);
  if (error !== undefined) return 'failed';
  return end?.kind !== 'end' ? undefined : end.complete ? 'complete' : 'incomplete';
}

const SHIPPED = [
  ...[GREETING, '200 x\n', '000 - x\n', '000 - Bulk transfer follows, time 1\n', '400 - x\n', '111 - x\n'],
  ...[
    '099 - x\n',
    '499 - x\n',
    '9\n',
    'x',
    GROUPS,
    OPEN,
    '@DELETE {\n',
    ONE,
    '}\n',
    '\n',
    VERSION,
    'x'.repeat(250),
  ],
];

t.test('the groups of a reply run on their table of states', async (t) => {
  checkMachine(t, {
    table: GROUP_STATES,
    start: 'before',
    run(inputs) {
      read(inputs);
      return undefined;
    },
    walks: [
      [GREETING, GROUPS],
      [GREETING, ONE, ONE, GROUPS],
      [GREETING, OPEN, ONE, '000 - x\n', ONE, '}\n'],
    ],
    input: fc.constantFrom(...SHIPPED),
  });
});

t.test('the reader of the shipped format runs on its table of states', async (t) => {
  checkMachine(t, {
    table: SHIPPED_STATES,
    start: 'greeting',
    run(inputs) {
      const result = read(inputs);
      // What follows is read by the other reader.
      return inputs.some((input) => input.includes(VERSION)) ? undefined : result;
    },
    walks: [
      ['200 x\n', GREETING, '000 - x\n', '9\n', GROUPS],
      [GREETING, '400 - x\n'],
      [GREETING, '099 - x\n'],
      [GREETING, 'x'.repeat(250)],
      [GREETING, '9'.repeat(250)],
      [GREETING, VERSION],
      [VERSION],
      [GREETING, MEMBER.bytes, '\n'],
      [MEMBER.bytes],
      [GREETING, MEMBER.bytes.slice(0, 40)],
      [GREETING, '\x1f\x8b\x09'.padEnd(10)],
      [GREETING, GROUPS, '000 - x\n', '400 - x\n', '099 - x\n'],
      [GREETING, OPEN, ONE],
      [GREETING, ...Array.from({ length: 5 }, () => `${ONE}000 - x\n`)],
      [GROUPS],
      [GROUPS, '000 - x\n', '400 - x\n', '200 - x\n', GROUPS],
      [ONE, '099 - x\n'],
      Array.from({ length: 5 }, () => `${ONE}000 - x\n`),
      [],
      ['000 - HELLO\n'],
    ],
    input: fc.constantFrom(...SHIPPED),
  });
});

const text = (bytes: Uint8Array) => textOf(bytes);
const LIST = '120 - http://a.test/\n125 - http://b.test/\n130 - object end\n';
const COUNT = text(encoder.trailer({ kind: 'count', count: 1 }));
const STATS = text(encoder.trailer({ kind: 'stats', data: latin1('x') }));
const ERROR = text(encoder.trailer({ kind: 'error', number: 1, text: 'x' }));
const FIELD = '101 - hello\n';
const START = '150 - gzip begin\n';
const STOP = '151 - gzip end\n';
/** The first bytes of another Version. */
const OTHER = '200 - \0\0\0';

t.test('the reader of interface 2 runs on its table of states', async (t) => {
  const trailers = [COUNT, STATS, ERROR, 'end'];
  const bodies = ['', GROUPS, LIST, LIST + LIST, `${START}${MEMBER.bytes}${STOP}`];
  checkMachine(t, {
    table: PROPOSED_STATES,
    start: 'version',
    run: (inputs) => read(inputs[0]?.startsWith(OTHER) === true ? inputs : [VERSION, ...inputs]),
    walks: [
      ...bodies.flatMap((body) =>
        ['', FIELD].flatMap((field) => trailers.map((trailer) => [field + body, trailer])),
      ),
      ...bodies.flatMap((body) => ['1', 'unknown'].map((rest) => [body, rest])),
      [`${START}${OPEN_MEMBER.bytes}${STOP}`, COUNT],
      [START, MEMBER.bytes.slice(0, 40)],
      [START, '\x1f\x8b\x09'.padEnd(10)],
      [OTHER],
      [`${OTHER}\x02\0\0\0\0x\n`],
      [OPEN],
      [ONE],
      [GROUPS, '\n'],
      [COUNT, 'more'],
    ],
    input: fc.constantFrom(
      FIELD,
      GROUPS,
      OPEN,
      ONE,
      '}\n',
      LIST,
      COUNT,
      STATS,
      ERROR,
      '1',
      MAGIC,
      'x',
      '\n',
      START,
    ),
  });
});
