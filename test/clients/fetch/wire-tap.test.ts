// The tap of an exchange: however the bytes of a response arrive, an archive gets the same record (WARC 1.1,
// 6.3; RFC 9112, 7.1).
import fc from 'fast-check';
import t from 'tap';
import { BoundedBody } from '../../../clients/fetch/bounded-body.js';
import { beginningOf } from '../../../clients/fetch/stored-body.js';
import { type KeepWire, MAX_FRAMING, type WireResponse, WireTap } from '../../../clients/fetch/wire-tap.js';
import { ProtocolError } from '../../../protocols/errors.js';
import { HttpResponseReader } from '../../../protocols/http/index.js';
import { assertProperty } from '../../helpers/property.js';

/** A response, and what must be kept of it. */
interface Message {
  readonly bytes: Buffer;
  readonly head: string;
  /** The body with its transfer coding; undefined without one. */
  readonly framed: string | undefined;
}

const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
const value = fc.stringMatching(/^[ -~\u00a0-\u00ff]{0,20}$/);
const field = fc
  .tuple(token, value)
  .filter(([name]) => !/^(?:content-length|transfer-encoding|connection)$/i.test(name))
  .map(([name, text]) => `${name}: ${text}\r\n`);
const fields = fc.array(field, { maxLength: 4 }).map((lines) => lines.join(''));
const latin1 = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const chunk = fc
  .tuple(latin1, fc.boolean(), fc.constantFrom('', ';a=b', ';q="x y"', ';only'))
  .filter(([text]) => text !== '')
  .map(([text, upper, extension]) => {
    const size = text.length.toString(16);
    return `${upper ? size.toUpperCase() : size}${extension}\r\n${text}\r\n`;
  });

const interim = fc
  .tuple(fc.constantFrom('100 Continue', '102 Processing', '103 Early Hints'), fields)
  .map(([status, lines]) => `HTTP/1.1 ${status}\r\n${lines}\r\n`);

const chunked = fc
  .tuple(fields, fc.array(chunk, { maxLength: 6 }), fields)
  .map(([lines, chunks, trailers]) => ({
    head: `HTTP/1.1 200 OK\r\n${lines}Transfer-Encoding: chunked\r\n\r\n`,
    body: `${chunks.join('')}0\r\n${trailers}\r\n`,
    isFramed: true,
  }));
const counted = fc.tuple(fields, latin1).map(([lines, body]) => ({
  head: `HTTP/1.0 404 Not  Here\r\n${lines}Content-Length: ${body.length}\r\n\r\n`,
  body,
  isFramed: false,
}));
const bodiless = fields.map((lines) => ({
  head: `HTTP/1.1 304 Not Modified\r\n${lines}Content-Length: 7\r\n\r\n`,
  body: '',
  isFramed: false,
}));

const message: fc.Arbitrary<Message> = fc
  .tuple(fc.array(interim, { maxLength: 2 }), fc.oneof(chunked, counted, bodiless))
  .map(([before, { head, body, isFramed }]) => ({
    bytes: Buffer.from(before.join('') + head + body, 'latin1'),
    head,
    framed: isFramed ? body : undefined,
  }));

const keep: fc.Arbitrary<KeepWire> = fc.constantFrom('messages', 'framing');
const cuts = fc.array(fc.nat({ max: 1000 }), { maxLength: 40 });

/** Gives a tap the bytes in pieces that end at these offsets. */
function tapped(bytes: Uint8Array, ends: readonly number[], maxBytes: number, kept: KeepWire) {
  const tap = new WireTap(kept, () => new BoundedBody(maxBytes + MAX_FRAMING));
  const reader = new HttpResponseReader();
  let at = 0;
  for (const end of [...ends].sort((a, b) => a - b).concat(bytes.length)) {
    if (end < at || end > bytes.length) continue;
    // The buffer of a connection is used again.
    const piece = Uint8Array.from(bytes.subarray(at, end));
    try {
      for (const event of reader.push(piece)) tap.take(event);
    } catch (error) {
      if (error instanceof ProtocolError) break;
      throw error;
    }
    at = end;
  }
  return tap.response();
}

const comparable = async (tap: Promise<WireResponse | undefined>) => {
  const response = await tap;
  return (
    response && {
      ...response,
      head: Buffer.from(response.head).toString('latin1'),
      framed: response.framed && Buffer.from(await beginningOf(response.framed, 1e6)).toString('latin1'),
    }
  );
};

t.test('RFC 9112, 7.1: any chunking gives the head and the chunks as they were sent', async () => {
  await assertProperty(
    fc.asyncProperty(message, cuts, keep, latin1, async ({ bytes, head, framed }, ends, kept, next) => {
      // What follows belongs to the next response on the connection.
      const stream = Buffer.concat([bytes, Buffer.from(next, 'latin1')]);
      const expected = {
        head,
        framed: kept === 'framing' ? framed : undefined,
        truncated: false,
      };
      const all = await comparable(tapped(stream, [], 10_000, kept));
      const cut = await comparable(tapped(stream, ends, 10_000, kept));
      t.strictSame({ ...all, framed: all?.framed }, expected);
      t.strictSame(cut, all);
    }),
    { numRuns: 300 },
  );
});

t.test('any chunking of any bytes gives the same', async () => {
  const damaged = fc
    .tuple(message, fc.nat(), fc.uint8Array({ maxLength: 20 }), fc.nat({ max: 8 }))
    .map(([{ bytes }, seed, garbage, removed]) => {
      const at = seed % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at + removed)]);
    });
  const any = fc.oneof(damaged, fc.uint8Array({ maxLength: 300 }));
  await assertProperty(
    fc.asyncProperty(any, cuts, keep, fc.nat({ max: 40 }), async (bytes, ends, kept, maxBytes) => {
      const all = await comparable(tapped(bytes, [], maxBytes, kept));
      t.strictSame(await comparable(tapped(bytes, ends, maxBytes, kept)), all);
      t.strictSame(
        await comparable(tapped(bytes, Array.from(bytes.keys()), maxBytes, kept)),
        all,
        'bytewise',
      );
    }),
    { numRuns: 500 },
  );
});

t.test('chunks above the limit of the body and 64 KiB are dropped and marked', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  await assertProperty(
    fc.asyncProperty(
      fc.integer({ min: 10_900, max: 10_950 }),
      fc.integer({ min: 0, max: 120 }),
      fc.array(fc.nat({ max: 66_000 }), { maxLength: 20 }),
      async (count, maxBytes, ends) => {
        const framed = `${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`;
        const kept = await comparable(tapped(Buffer.from(head + framed), ends, maxBytes, 'framing'));
        const limit = maxBytes + 65_536;
        t.strictSame(kept, { head, framed: framed.slice(0, limit), truncated: framed.length > limit });
      },
    ),
    { numRuns: 40 },
  );
});
