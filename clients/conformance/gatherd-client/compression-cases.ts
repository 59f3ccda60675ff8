// Cases about compressed transfers (GATHERD section 6).
import { check, NotApplicable, type Procedure, should } from '../case.js';
import type { ClientContext } from './bench.js';
import {
  brokenMember,
  type ClientCase,
  checkComplete,
  completeMember,
  linesOf,
  mustReceive,
  requestedCompression,
  WITHOUT_COMPRESSION,
} from './checks.js';
import { ALL_BYTES, around, FORGED_END, largeValue } from './data-cases.js';
import { compressed, inClear, type Step } from './dialogue.js';
import {
  type Deflate,
  dynamic,
  fixed,
  flushed,
  gzipMember,
  type MemberOptions,
  stored,
} from './gzip-member.js';
import { PLAIN, updates, wireObject } from './objects.js';

const START = '400 - Sending all objects\n';
const END = '499 - Sent all objects\n';

/** Refuses compression; the client must continue in clear. */
function continuesAfter(answer: string): Procedure<ClientContext> {
  return async (context) => {
    const behavior = { ...WITHOUT_COMPRESSION, compression: [answer] };
    const observation = await context.bench.observe(behavior, context);
    if (!requestedCompression(observation)) {
      throw new NotApplicable('the client does not request compression');
    }
    check(linesOf(observation, 'SEND-UPDATE').length > 0, 'the client gives up when compression is refused', {
      expected: 'SEND-UPDATE in clear',
      received: 'none',
    });
    await checkComplete(observation, PLAIN, context);
  };
}

/** GATHERD-6.1, 6.2, 6.9: agreeing on compression. */
const AGREEMENT_CASES: readonly ClientCase[] = [
  mustReceive('compression/refused', 'GATHERD-6.9', 'project choice')
    .title('continues in clear after 900')
    .does(continuesAfter, '900 - Compression not available'),
  mustReceive('compression/other-answer', 'GATHERD-6.9 GATHERD-3.13', 'project choice')
    .title('continues in clear after another number of the hundred of SET')
    .does(continuesAfter, '599 - gzip is not installed here'),
  mustReceive('compression/unknown-codes', 'GATHERD-3.13 GATHERD-1.7', 'beckett; project choice')
    .title('skips unknown numbers before the answer to SET, and reads compressed data after 500')
    .does(completeMember, compressed(gzipMember(PLAIN.stream, dynamic)), PLAIN, {
      compression: ['123 - built in 1996', '350 - one moment', '500 - Compression enabled'],
    }),
  mustReceive('compression/refused-with-text', 'GATHERD-1.6 GATHERD-6.9', 'project choice')
    .title('continues in clear after 900, although its text says that compression is enabled')
    .does(continuesAfter, '900 - 500 - Compression enabled'),
];

/** Sends the two ordinary objects as one member. */
function plainMember(deflate: Deflate, options?: MemberOptions): Procedure<ClientContext> {
  return completeMember(compressed(gzipMember(PLAIN.stream, deflate, options)));
}

/** A member and its end line with these bytes between them. */
function separated(gap: string): readonly Step[] {
  return [START, gzipMember(PLAIN.stream, dynamic), gap, END];
}

const RFC = 'beckett; inferred (RFC 1952)';
const FORGED = around(['Body', FORGED_END]);
const BINARY = around(['Data', ALL_BYTES], ['Abstract', ''], ['Body', '}\n@UPDATE {\n499 - x']);
/** More than two stored blocks. */
const LONG = around(['Full-Text', largeValue(150_000)]);
const NAME = 'All-Templates';
const EXTRA = Buffer.from('HK\x06\x00\n499 -', 'latin1');
/** Where members are divided: within an attribute of the first object. */
const MIDDLE = PLAIN.stream.indexOf('Description') + 5;
const HALVES = [
  gzipMember(PLAIN.stream.subarray(0, MIDDLE), dynamic),
  gzipMember(PLAIN.stream.subarray(MIDDLE), stored),
];

/** GATHERD-6.3, 6.5, 6.6: the compressed data. */
const MEMBER_CASES: readonly ClientCase[] = [
  mustReceive('gzip/dynamic', 'GATHERD-6.3 GATHERD-6.6', RFC)
    .title('reads blocks with dynamic codes, and 499 directly after the trailer')
    .does(plainMember, dynamic),
  mustReceive('gzip/fixed', 'GATHERD-6.3', RFC)
    .title('reads blocks with fixed codes')
    .does(plainMember, fixed),
  mustReceive('gzip/stored', 'GATHERD-6.3', RFC)
    .title('reads stored blocks, more than one of them')
    .does(completeMember, compressed(gzipMember(LONG.stream, stored)), LONG),
  mustReceive('gzip/empty-blocks', 'GATHERD-6.3', RFC)
    .title('reads empty blocks before, between and after the others')
    .does(plainMember, flushed),
  mustReceive('gzip/end-line-in-member', 'GATHERD-6.6 GATHERD-3.7', 'inferred')
    .title('finds the end of the member by decoding, not by a line "499 - " in its bytes')
    .does(completeMember, compressed(gzipMember(FORGED.stream, stored)), FORGED),
  mustReceive('gzip/values', 'SOIF-1.2 GATHERD-6.3', RFC)
    .title('keeps every byte of compressed values')
    .does(completeMember, compressed(gzipMember(BINARY.stream, fixed)), BINARY),
  mustReceive('gzip/header-name', 'GATHERD-6.3', RFC)
    .title('reads a header with a file name, as gzip writes it')
    .does(plainMember, dynamic, { name: NAME }),
  mustReceive('gzip/header-extra', 'GATHERD-6.3 GATHERD-6.6', RFC)
    .title('reads a header with an extra field that looks like an end line')
    .does(plainMember, dynamic, { extra: EXTRA }),
  mustReceive('gzip/header-comment', 'GATHERD-6.3', RFC)
    .title('reads a header with a comment')
    .does(plainMember, dynamic, { comment: 'made by mkcompressed' }),
  mustReceive('gzip/header-crc', 'GATHERD-6.3', RFC)
    .title('reads a header with its own checksum')
    .does(plainMember, dynamic, { headerCrc: true }),
  mustReceive('gzip/header-all', 'GATHERD-6.3', RFC)
    .title('reads a header with every optional field')
    .does(plainMember, dynamic, { extra: EXTRA, name: NAME, comment: '499 - x\n', headerCrc: true }),
  mustReceive('gzip/members', 'GATHERD-6.6', 'project choice; RFC 1952')
    .title('reads concatenated members, divided within an object')
    .does(
      completeMember,
      compressed(
        gzipMember(PLAIN.stream.subarray(0, MIDDLE), dynamic),
        gzipMember(Buffer.alloc(0), fixed),
        gzipMember(PLAIN.stream.subarray(MIDDLE), stored, { name: NAME }),
      ),
    ),
  mustReceive('gzip/line-end', 'GATHERD-6.3', 'beckett; project choice')
    .title(
      'accepts one LF between the trailer and 499, for clients that look for a line that begins with 499',
    )
    .does(completeMember, separated('\n')),
  mustReceive('gzip/line-ends', 'GATHERD-6.3', 'beckett; project choice')
    .title('accepts several line ends between the trailer and 499')
    .does(completeMember, separated('\r\n\n')),
  mustReceive('gzip/members-line-end', 'GATHERD-6.3 GATHERD-6.6', 'beckett; project choice; RFC 1952')
    .title('accepts a line end between concatenated members and 499')
    .does(completeMember, [START, ...HALVES, '\n', END]),
  mustReceive('gzip/end-099', 'GATHERD-3.3', 'roads')
    .title('reads 099 as the end of compressed data, like 499')
    .does(completeMember, [START, gzipMember(PLAIN.stream, dynamic), '099 - end of data\n']),
  mustReceive('gzip/other-texts', 'GATHERD-1.6 GATHERD-3.4', 'project choice')
    .title('decides by the numbers of 500, 400 and 499, never by their texts')
    .does(
      completeMember,
      [
        '400 - 900 - gzip was refused, closing without compression\n',
        gzipMember(PLAIN.stream, dynamic),
        '499 - Bad timestamp\n',
      ],
      PLAIN,
      { compression: ['500 - 900 - Compression not available'] },
    ),
  mustReceive('gzip/empty-texts', 'GATHERD-1.6 GATHERD-3.4', 'project choice')
    .title('reads 500, 400 and 499 with other short texts')
    .does(completeMember, ['400 - x\n', gzipMember(PLAIN.stream, dynamic), '499 - x\n'], PLAIN, {
      compression: ['500 - x'],
    }),
  mustReceive('gzip/empty-update', 'GATHERD-4.5 GATHERD-6.3', 'inferred; beckett')
    .title('reads a compressed update without objects')
    .does(completeMember, compressed(gzipMember(updates().stream, dynamic)), updates()),
  mustReceive('gzip/huge', 'GATHERD-6.3', RFC)
    .title('reads a compressed value of 10 MiB')
    .within(60_000)
    .run((context) => {
      const value = largeValue(10 << 20);
      const huge = updates(wireObject('http://gatherer.example.org/huge', [['Full-Text', value]]));
      return completeMember(compressed(gzipMember(huge.stream, dynamic)), huge)(context);
    }),
  mustReceive('gzip/close-for-end-line', 'GATHERD-6.5', 'project choice')
    .title('accepts a valid trailer as the end when the server closes instead of sending 499')
    .does(completeMember, [START, gzipMember(PLAIN.stream, dynamic), 'close']),
];

const WHOLE = gzipMember(PLAIN.stream, dynamic);
const HALF = WHOLE.subarray(0, WHOLE.length >> 1);
const WRONG_LENGTH = gzipMember(PLAIN.stream, dynamic, { length: PLAIN.stream.length + 1 });
/** Its CRC-32 is wrong for these bytes. */
const WRONG_CRC = gzipMember(PLAIN.stream, dynamic, { crc: 0x12345678 });

const DAMAGED: readonly (readonly [name: string, when: string, ...update: Step[]])[] = [
  ['bad-crc', 'the CRC of the trailer is wrong and the server closes', START, WRONG_CRC, 'close'],
  ['bad-crc-end-line', 'the CRC of the trailer is wrong, although 499 follows', START, WRONG_CRC, END],
  ['bad-length', 'the length of the trailer is wrong and the server closes', START, WRONG_LENGTH, 'close'],
  ['cut-trailer', 'the server closes within the trailer', START, WHOLE.subarray(0, -3), 'close'],
  ['cut-data', 'the server closes within the compressed data', START, HALF, 'close'],
  ['cut-header', 'the server closes within the header', START, WHOLE.subarray(0, 5), 'close'],
  [
    'cut-stream',
    'a whole member ends within an object and the server closes',
    START,
    gzipMember(PLAIN.stream.subarray(0, MIDDLE), dynamic),
    'close',
  ],
  ['gives-up', 'the server gives up after a whole member', START, WHOLE, '900 - Disk error\n'],
  ['not-gzip', 'data arrive in clear although compression was agreed', ...inClear(PLAIN), 'close'],
];

/** GATHERD-6.5: without a valid trailer the transfer is incomplete. */
const DAMAGED_CASES: readonly ClientCase[] = DAMAGED.map(([name, when, ...update]) =>
  should(`gzip/${name}`, 'GATHERD-6.5 GATHERD-11.4', 'project choice')
    .title(`fails when ${when}`)
    .does(brokenMember, ...update),
);

export const COMPRESSION_CASES: readonly ClientCase[] = [
  ...AGREEMENT_CASES,
  ...MEMBER_CASES,
  ...DAMAGED_CASES,
];
