// SSTP: requests by both paths, replies, and the sessions of both sides.
import { KitError } from '../../../protocols/errors.js';
import {
  chooseProtocol,
  encodeSstp,
  parseLinkReply,
  parseRequest,
  parseUrlDescription,
  RequestDecoder,
  SstpClientSession,
  SstpDecoder,
  SstpServerSession,
} from '../../../protocols/sstp/index.js';
import type { Random } from '../../helpers/random.js';
import { decodeAll } from '../../protocols/sstp/decoding.js';
import {
  allowed,
  assert,
  bytesOf,
  type FuzzTarget,
  randomOf,
  sameInPieces,
  shown,
  wordsIn,
} from '../target.js';

const LINES = wordsIn(
  'SSTP/1.0 081 REQ_GET_REFERENCES\r\n|SSTP/1.0 082 REQ_GET_REFERERS\r\n|' +
    'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\n|SSTP/1.0 008 REQ_GET_URL_BYNAME\r\n|HEADER_URI_ID: 10\r\n|' +
    'HEADER_NUMRESULTS: 5\r\n|HEADER_START_RESULTS: 1\r\n|HEADER_NUMFOUND: 2\r\n|' +
    'HEADER_URL: http://A.example:80/../x?q#f\r\n|HEADER_CONTENT_LENGTH: 8\r\n|X: y\r\n|\r\n|\n',
);
const requests = (random: Random): Uint8Array =>
  bytesOf(
    random
      .list(4, () => `${random.pick(LINES)}${random.list(4, () => random.pick(LINES)).join('')}\r\n`)
      .join(''),
  );

export const sstpRequests: FuzzTarget = {
  tokens: LINES,
  generate: requests,
  run: (input) => {
    const fast = !randomOf(input).once(3);
    const read = (pieces: readonly Uint8Array[], isFast: boolean): unknown[] => {
      const decoder = new RequestDecoder({ fast: isFast });
      const items: unknown[] = [];
      try {
        for (const piece of pieces) {
          decoder.push(piece);
          for (let next = decoder.next(); next !== undefined; next = decoder.next()) items.push(next);
        }
        items.push(decoder.idle);
      } catch (error) {
        if (!(error instanceof KitError)) throw error;
        items.push(error.message);
      }
      return items;
    };
    sameInPieces(input, (pieces) => read(pieces, fast));
    assert(shown(read([input], true)) === shown(read([input], false)), 'the fast path reads the same');
  },
};

export const sstpReplies: FuzzTarget = {
  tokens: LINES,
  seeds: [
    'SSTP/1.0 181 RES_OK\r\nHEADER_NUMFOUND: 2\r\nHEADER_START_RESULTS: 1\r\nHEADER_CONTENT_LENGTH: 8\r\n\r\n\0\0\0\x01\0\0\0\x02',
  ],
  generate: requests,
  run: (input) => {
    const fast = randomOf(input).once(2);
    sameInPieces(input, (pieces) => decodeAll('reply', pieces, { fast, maxBodyBytes: 4096 }));
    for (const role of ['reply', 'request'] as const) {
      for (const message of decodeAll(role, [input], { maxBodyBytes: 4096 }).messages) {
        allowed(() => parseLinkReply(message, 81));
        allowed(() => parseUrlDescription(message));
        allowed(() => parseRequest(message));
        // A number with zeros before it is read, but not written.
        const wire = allowed(
          () => encodeSstp(message),
          (error) => error instanceof TypeError,
        );
        if (wire === undefined) continue;
        const again = new SstpDecoder(role).push(wire);
        assert(again.length === 1, 'an encoded message is one message');
      }
    }
  },
};

export const sstpSessions: FuzzTarget = {
  tokens: LINES,
  generate: requests,
  run: (input) => {
    sameInPieces(input, (pieces) => {
      const session = new SstpServerSession();
      const log: string[] = [];
      for (const piece of pieces) {
        if (session.closing) break;
        session.push(piece);
        for (let next = session.next(); next !== undefined && !session.closing; next = session.next()) {
          log.push(next.kind === 'malformed' ? `malformed ${next.error.message}` : shown(next));
        }
      }
      session.end();
      return log;
    });
    const client = new SstpClientSession();
    allowed(() => {
      client.request({ code: 81, headers: [] });
      client.push(input);
    });
    const choice = chooseProtocol(input);
    for (let length = Math.min(input.length, 64); length >= 0; length--) {
      const early = chooseProtocol(input.subarray(0, length));
      assert(early === 'undecided' || early === choice, 'S-48: the choice does not depend on segments');
    }
  },
};
