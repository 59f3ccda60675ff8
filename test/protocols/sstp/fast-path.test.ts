// Property tests: the fast paths of the decoders give the same as the slow ones.
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import { RequestDecoder } from '../../../protocols/sstp/index.js';
import { assertProperty } from '../../helpers/property.js';
import { bytes, decodeAll, pieces } from './decoding.js';

/** Pieces of streams that are almost valid, so that the property tests break every rule at times. */
const fragment = fc.constantFrom(
  ...(
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\n|SSTP/1.0 082 REQ_GET_REFERERS\r\n|' +
    'SSTP/1.0 083 REQ_GET_SITEREFERENCES\r\n|SSTP/1.0 084 REQ_GET_SITEREFERERS\r\n|' +
    'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\n|SSTP/1.0 081 X\n|HEADER_URI_ID: 10\r\n|' +
    'HEADER_URI_ID: 11\r\n|HEADER_URI_ID: 4294967295\r\n|HEADER_URI_ID: 4294967296\r\n|' +
    'HEADER_URI_ID: 010\n|HEADER_URI_ID: 0\r\n|HEADER_URI_ID:  7\r\n|HEADER_URI_ID: \r\n|' +
    'HEADER_SERVER_ID: 3\r\n|HEADER_NUMRESULTS: 5\r\n|HEADER_NUMRESULTS: 99999999999\r\n|' +
    'HEADER_START_RESULTS: 1\r\n|HEADER_NUMFOUND: 2\r\n|HEADER_GENERATION: 0\r\n|' +
    'HEADER_GENERATION: 12345678901\r\n|HEADER_URL: http://a.example/\r\n|' +
    'HEADER_URL: http://A.example:80/../x?q#f\r\n|HEADER_URL: a.example:81\r\n|' +
    'HEADER_URL: http://a b/\r\n|HEADER_CONTENT_LENGTH: 2\r\n|X: y\r\n|\r\n|\r\n|\r\n|\n|\r| |x'
  ).split('|'),
);
/** Mostly well-formed requests, sometimes garbage. */
const stream = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('SSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_URI_ID: 12\r\n\r\n') },
      {
        weight: 2,
        arbitrary: fc.constant(
          'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_URL: a.example\r\nHEADER_NUMRESULTS: 9\r\n\r\n',
        ),
      },
      { weight: 4, arbitrary: fragment },
      {
        weight: 3,
        arbitrary: fc
          .array(fragment, { maxLength: 6 })
          .map((lines) => `SSTP/1.0 081 REQ_GET_REFERENCES\r\n${lines.join('')}\r\n`),
      },
    ),
    { maxLength: 12 },
  )
  .map((parts) => bytes(parts.join('')));

/** Everything that the decoder of requests returns and throws. */
function requestsOf(chunks: readonly Uint8Array[], fast: boolean): unknown[] {
  const decoder = new RequestDecoder({ fast });
  const out: unknown[] = [];
  try {
    for (const chunk of chunks) {
      decoder.push(chunk);
      for (let next = decoder.next(); next !== undefined; next = decoder.next()) out.push(next);
    }
    out.push(decoder.idle);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    out.push([error.rule, error.offset, error.message]);
  }
  return out;
}

t.test('S-22: the fast path of requests is the slow path, in any pieces (property)', async (t) => {
  t.doesNotThrow(
    () =>
      assertProperty(
        fc.property(stream, fc.integer({ min: 1, max: 200 }), (all, size) => {
          const expected = JSON.stringify(requestsOf([all], false));
          for (const fast of [true, false])
            for (const length of [size, 1_000_000])
              if (JSON.stringify(requestsOf(pieces(all, length), fast)) !== expected)
                throw new Error(`${fast} ${length}`);
        }),
        { numRuns: 600 },
      ),
    'no difference',
  );
});

t.test('S-22: the fast path of replies is the slow path, at the limits too (property)', async (t) => {
  t.doesNotThrow(
    () =>
      assertProperty(
        fc.property(
          stream,
          fc.integer({ min: 1, max: 100 }),
          fc.integer({ min: 1, max: 8 }),
          fc.integer({ min: 10, max: 200 }),
          (all, size, maxHeaderLines, maxHeaderBytes) => {
            for (const limits of [{}, { maxHeaderLines }, { maxHeaderBytes }]) {
              const expected = JSON.stringify(decodeAll('reply', [all], { fast: false, ...limits }));
              for (const fast of [true, false])
                for (const length of [size, 1_000_000]) {
                  const actual = JSON.stringify(decodeAll('reply', pieces(all, length), { fast, ...limits }));
                  if (actual !== expected)
                    throw new Error(`${fast} ${length}: ${actual} instead of ${expected}`);
                }
            }
          },
        ),
        { numRuns: 400 },
      ),
    'no difference',
  );
});
