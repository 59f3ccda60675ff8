// Cases about compressed transfers (GATHERD section 6).
import { check, NotApplicable } from '../../case.js';
import type { ClientContext } from '../bench.js';
import { checkComplete, linesOf, requestedCompression, WITHOUT_COMPRESSION } from '../checks.js';
import { type Behavior, compressed, inClear } from '../dialogue.js';
import { dynamic, fixed, flushed, gzipMember, stored } from '../gzip-member.js';
import { PLAIN, updates, wireObject } from '../objects.js';
import { brokenMemberCase, type ClientCase, completeMemberCase } from './case-builders.js';
import { ALL_BYTES, around, FORGED_END, largeValue } from './data.js';

const MEBIBYTE = 1 << 20;
const START = '400 - Sending all objects\n';
const END = '499 - Sent all objects\n';

/** Runs the client against a server that refuses compression. */
async function checkRefusedCompression(answer: string, context: ClientContext): Promise<void> {
  const behavior = { ...WITHOUT_COMPRESSION, compression: [answer] };
  const observation = await context.bench.observe(behavior, context);
  if (!requestedCompression(observation)) throw new NotApplicable('the client does not request compression');
  check(linesOf(observation, 'SEND-UPDATE').length > 0, 'the client gives up when compression is refused', {
    expected: 'SEND-UPDATE in clear',
    received: 'none',
  });
  await checkComplete(observation, PLAIN, context);
}

/** GATHERD-6.1, 6.2, 6.9: agreeing on compression. */
const AGREEMENT_CASES: readonly ClientCase[] = [
  {
    id: 'compression/refused',
    title: 'continues in clear after 900',
    rules: ['GATHERD-6.9'],
    source: 'project choice',
    level: 'MUST',
    run: (context) => checkRefusedCompression('900 - Compression not available', context),
  },
  {
    id: 'compression/other-answer',
    title: 'continues in clear after any number but 500',
    rules: ['GATHERD-6.9'],
    source: 'project choice',
    level: 'MUST',
    run: (context) => checkRefusedCompression('599 - gzip is not installed here', context),
  },
  {
    id: 'compression/refused-with-text',
    title: 'continues in clear after 900, although its text says that compression is enabled',
    rules: ['GATHERD-1.6', 'GATHERD-6.9'],
    source: 'project choice',
    level: 'MUST',
    run: (context) => checkRefusedCompression('900 - 500 - Compression enabled', context),
  },
];

function memberCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  update: Parameters<typeof completeMemberCase>[1],
  content = PLAIN,
  behavior: Behavior = {},
): ClientCase {
  return completeMemberCase(
    { id: `gzip/${id}`, title, rules, source, level: 'MUST' },
    update,
    content,
    behavior,
  );
}

/** A member and its end line with these bytes between them. */
function separated(gap: string): Parameters<typeof completeMemberCase>[1] {
  return [START, gzipMember(PLAIN.stream, dynamic), gap, END];
}

const RFC = 'beckett; inferred (RFC 1952)';
const FORGED = around(['Body', FORGED_END]);
const BINARY = around(['Data', ALL_BYTES], ['Abstract', ''], ['Body', '}\n@UPDATE {\n499 - x']);
/** More than two stored blocks. */
const LONG = around(['Full-Text', largeValue(150_000)]);
const NAME = 'All-Templates';
const EXTRA = Buffer.from('HK\x06\x00\n499 -', 'latin1');
const HUGE = updates(
  wireObject('http://gatherer.example.org/huge', [['Full-Text', largeValue(10 * MEBIBYTE)]]),
);
/** Where members are divided: within an attribute of the first object. */
const MIDDLE = PLAIN.stream.indexOf('Description') + 5;
const HALVES = [
  gzipMember(PLAIN.stream.subarray(0, MIDDLE), dynamic),
  gzipMember(PLAIN.stream.subarray(MIDDLE), stored),
];
/** A CRC-32 that is wrong for these bytes. */
const WRONG_CRC = 0x12345678;

/** GATHERD-6.3, 6.5, 6.6: the compressed data. */
const MEMBER_CASES: readonly ClientCase[] = [
  memberCase(
    'dynamic',
    'reads blocks with dynamic codes, and 499 directly after the trailer',
    ['GATHERD-6.3', 'GATHERD-6.6'],
    RFC,
    compressed(gzipMember(PLAIN.stream, dynamic)),
  ),
  memberCase(
    'fixed',
    'reads blocks with fixed codes',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(PLAIN.stream, fixed)),
  ),
  memberCase(
    'stored',
    'reads stored blocks, more than one of them',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(LONG.stream, stored)),
    LONG,
  ),
  memberCase(
    'empty-blocks',
    'reads empty blocks before, between and after the others',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(PLAIN.stream, flushed)),
  ),
  memberCase(
    'end-line-in-member',
    'finds the end of the member by decoding, not by a line "499 - " in its bytes',
    ['GATHERD-6.6', 'GATHERD-3.7'],
    'inferred',
    compressed(gzipMember(FORGED.stream, stored)),
    FORGED,
  ),
  memberCase(
    'values',
    'keeps every byte of compressed values',
    ['SOIF-1.2', 'GATHERD-6.3'],
    RFC,
    compressed(gzipMember(BINARY.stream, fixed)),
    BINARY,
  ),
  memberCase(
    'header-name',
    'reads a header with a file name, as gzip writes it',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(PLAIN.stream, dynamic, { name: NAME })),
  ),
  memberCase(
    'header-extra',
    'reads a header with an extra field that looks like an end line',
    ['GATHERD-6.3', 'GATHERD-6.6'],
    RFC,
    compressed(gzipMember(PLAIN.stream, dynamic, { extra: EXTRA })),
  ),
  memberCase(
    'header-comment',
    'reads a header with a comment',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(PLAIN.stream, dynamic, { comment: 'made by mkcompressed' })),
  ),
  memberCase(
    'header-crc',
    'reads a header with its own checksum',
    ['GATHERD-6.3'],
    RFC,
    compressed(gzipMember(PLAIN.stream, dynamic, { headerCrc: true })),
  ),
  memberCase(
    'header-all',
    'reads a header with every optional field',
    ['GATHERD-6.3'],
    RFC,
    compressed(
      gzipMember(PLAIN.stream, dynamic, { extra: EXTRA, name: NAME, comment: '499 - x\n', headerCrc: true }),
    ),
  ),
  memberCase(
    'members',
    'reads concatenated members, divided within an object',
    ['GATHERD-6.6'],
    'project choice; RFC 1952',
    compressed(
      gzipMember(PLAIN.stream.subarray(0, MIDDLE), dynamic),
      gzipMember(Buffer.alloc(0), fixed),
      gzipMember(PLAIN.stream.subarray(MIDDLE), stored, { name: NAME }),
    ),
  ),
  memberCase(
    'line-end',
    'accepts one LF between the trailer and 499, for clients that look for a line that begins with 499',
    ['GATHERD-6.3'],
    'beckett; project choice',
    separated('\n'),
  ),
  memberCase(
    'line-ends',
    'accepts several line ends between the trailer and 499',
    ['GATHERD-6.3'],
    'beckett; project choice',
    separated('\r\n\n'),
  ),
  memberCase(
    'members-line-end',
    'accepts a line end between concatenated members and 499',
    ['GATHERD-6.3', 'GATHERD-6.6'],
    'beckett; project choice; RFC 1952',
    [START, ...HALVES, '\n', END],
  ),
  memberCase('end-099', 'reads 099 as the end of compressed data, like 499', ['GATHERD-3.3'], 'roads', [
    START,
    gzipMember(PLAIN.stream, dynamic),
    '099 - end of data\n',
  ]),
  memberCase(
    'other-texts',
    'decides by the numbers of 500, 400 and 499, never by their texts',
    ['GATHERD-1.6', 'GATHERD-3.4'],
    'project choice',
    [
      '400 - 900 - gzip was refused, closing without compression\n',
      gzipMember(PLAIN.stream, dynamic),
      '499 - Bad timestamp\n',
    ],
    PLAIN,
    { compression: ['500 - 900 - Compression not available'] },
  ),
  memberCase(
    'empty-texts',
    'reads 500, 400 and 499 with other short texts',
    ['GATHERD-1.6', 'GATHERD-3.4'],
    'project choice',
    ['400 - x\n', gzipMember(PLAIN.stream, dynamic), '499 - x\n'],
    PLAIN,
    { compression: ['500 - x'] },
  ),
  memberCase(
    'empty-update',
    'reads a compressed update without objects',
    ['GATHERD-4.5', 'GATHERD-6.3'],
    'inferred; beckett',
    compressed(gzipMember(updates().stream, dynamic)),
    updates(),
  ),
  {
    ...memberCase(
      'huge',
      'reads a compressed value of 10 MiB',
      ['GATHERD-6.3'],
      RFC,
      compressed(gzipMember(HUGE.stream, dynamic)),
      HUGE,
    ),
    timeoutMs: 60_000,
  },
  memberCase(
    'close-for-end-line',
    'accepts a valid trailer as the end when the server closes instead of sending 499',
    ['GATHERD-6.5'],
    'project choice',
    [START, gzipMember(PLAIN.stream, dynamic), 'close'],
  ),
];

function damagedCase(id: string, title: string, update: Parameters<typeof brokenMemberCase>[1]): ClientCase {
  const rules = ['GATHERD-6.5', 'GATHERD-11.4'];
  return brokenMemberCase(
    { id: `gzip/${id}`, title, rules, source: 'project choice', level: 'SHOULD' },
    update,
  );
}

const WHOLE = gzipMember(PLAIN.stream, dynamic);

/** GATHERD-6.5: without a valid trailer the transfer is incomplete. */
const DAMAGED_CASES: readonly ClientCase[] = [
  damagedCase('bad-crc', 'fails when the CRC of the trailer is wrong and the server closes', [
    START,
    gzipMember(PLAIN.stream, dynamic, { crc: WRONG_CRC }),
    'close',
  ]),
  damagedCase('bad-crc-end-line', 'fails when the CRC of the trailer is wrong, although 499 follows', [
    START,
    gzipMember(PLAIN.stream, dynamic, { crc: WRONG_CRC }),
    END,
  ]),
  damagedCase('bad-length', 'fails when the length of the trailer is wrong and the server closes', [
    START,
    gzipMember(PLAIN.stream, dynamic, { length: PLAIN.stream.length + 1 }),
    'close',
  ]),
  damagedCase('cut-trailer', 'fails when the server closes within the trailer', [
    START,
    WHOLE.subarray(0, -3),
    'close',
  ]),
  damagedCase('cut-data', 'fails when the server closes within the compressed data', [
    START,
    WHOLE.subarray(0, WHOLE.length >> 1),
    'close',
  ]),
  damagedCase('cut-header', 'fails when the server closes within the header', [
    START,
    WHOLE.subarray(0, 5),
    'close',
  ]),
  damagedCase('not-gzip', 'fails when data arrive in clear although compression was agreed', [
    ...inClear(PLAIN),
    'close',
  ]),
];

export const COMPRESSION_CASES: readonly ClientCase[] = [
  ...AGREEMENT_CASES,
  ...MEMBER_CASES,
  ...DAMAGED_CASES,
];
