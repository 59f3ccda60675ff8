// Bulk transfer: replies of both interfaces, with gzip members, and requests.
import { inflateRawSync } from 'node:zlib';
import { parseMessage } from '../../../protocols/broker/index.js';
import {
  BulkReplyEncoder,
  decodeDigest,
  encodeBulkRequest,
  encodeDigest,
  isDigestPrefix,
  parseTransferTime,
} from '../../../protocols/bulk/index.js';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import type { Random } from '../../helpers/random.js';
import {
  EXAMPLE,
  eventLines,
  formatEvent,
  GREETING,
  GROUPS,
  readReply,
  VERSION,
} from '../../protocols/bulk/replies.js';
import { soifObject, soifSections } from '../generators/soif.js';
import {
  allowed,
  assert,
  bytesOf,
  type FuzzTarget,
  latin1,
  randomOf,
  sameInPieces,
  wordsIn,
} from '../target.js';

const LINES = wordsIn(
  '120 - http://a/\n|125 - http://o/\n|124 - \x32\x9f\xa1\xd2\x00\x00\x00\x02ab|126 - n\n|' +
    '130 - object end\n|144 - \x00\x00\x00\x01|150 - gzip begin\n|151 - gzip end\n',
);

const reply = (input: Uint8Array): void => {
  const options = randomOf(input).once(2) ? {} : { maxLineBytes: 40, soif: { maxObjectBytes: 60 } };
  sameInPieces(input, (pieces) => {
    const { events, error } = readReply(pieces, options);
    const end = events.at(-1);
    assert(error !== undefined || end?.kind === 'end', 'a reply ends or breaks a rule');
    return [events.filter(({ kind }) => kind !== 'inflate').map(formatEvent), error?.rule];
  });
};

export const bulkShipped: FuzzTarget = {
  corpus: ['bulk'],
  seeds: [GREETING + GROUPS],
  generate: (random) => Buffer.concat([Buffer.from(GREETING), soifSections(random)]),
  run: reply,
};

const proposed = (random: Random): Uint8Array => {
  if (random.once(2))
    return Buffer.concat([
      Buffer.from(VERSION, 'latin1'),
      soifSections(random),
      Buffer.from('144 - \0\0\0\x01'),
    ]);
  return bytesOf(VERSION + random.list(10, () => random.pick(LINES)).join(''));
};

export const bulkProposed: FuzzTarget = {
  corpus: ['bulk'],
  seeds: [EXAMPLE, VERSION + GROUPS],
  generate: proposed,
  run: reply,
};

/** A gzip member in the reply, as the client feeds it. */
export const bulkCompressed: FuzzTarget = {
  seeds: [`${VERSION}150 - gzip begin\n\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0`],
  generate: (random) =>
    Buffer.concat([
      Buffer.from(`${VERSION}150 - gzip begin\n`, 'latin1'),
      Buffer.from('1f8b08000000000000030300000000000000000000', 'hex'),
      soifSections(random),
    ]),
  run: (input) => {
    const deflated = Buffer.from('0300', 'hex');
    readReply([input], {}, { plain: new Uint8Array(inflateRawSync(deflated)), deflated: deflated.length });
    if (input.length < 400) eventLines(input);
  },
};

export const bulkRequests: FuzzTarget = {
  generate: (random) => bytesOf(`${random.below(99999)} ${soifObject(random).replace('FILE', 'DIGEST')}`),
  seeds: ['0', '12 @DIGEST { 0a\nCount{1}:\t0\nDigest{32}:\t00000000000000000000000000000000\n}\n'],
  run: (input) => {
    const text = latin1(input);
    const [since = '', flags = '', digest = ''] = text.split(' ');
    parseTransferTime(text);
    const request = allowed(
      () =>
        encodeBulkRequest({
          since: Number(since),
          flags: /[\r\n"#]/.test(flags) ? '' : flags,
          interface: 2,
          ...(isDigestPrefix(digest) ? { digest } : {}),
        }),
      (error) => error instanceof RangeError,
    );
    if (request !== undefined) allowed(() => parseMessage(request.subarray(0, -2)));
    const decoder = new SoifDecoder();
    for (const item of [...decoder.push(input), ...decoder.end()]) {
      if (item.kind !== 'object') continue;
      const report = allowed(() => decodeDigest(item.object));
      if (report !== undefined) encodeDigest(report);
    }
    new BulkReplyEncoder().info({ field: 'extension', type: 'x', data: input });
  },
};
