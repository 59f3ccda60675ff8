// Tests the lenient reader of HTTP responses: what browsers and archiving crawlers accept, limits, and
// properties of any input.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  type HttpEvent,
  type HttpResponseLimits,
  HttpResponseReader,
} from '../../../protocols/http/index.js';
import { assertProperty } from '../../helpers/property.js';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const text = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString('latin1');

interface Reading {
  /** Pieces of the body in a row are one. */
  readonly events: readonly unknown[];
  readonly status: number | undefined;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
  readonly raw: string;
  readonly problem: string | undefined;
  readonly deviations: readonly string[];
  readonly ended: boolean;
  readonly error: { readonly rule: string; readonly offset: number; readonly problem: string } | undefined;
}

/** Reads pieces and then the end of the connection. */
function read(pieces: readonly Uint8Array[], limits: HttpResponseLimits = {}): Reading {
  const reader = new HttpResponseReader(limits);
  const events: HttpEvent[] = [];
  let error: Reading['error'];
  try {
    for (const piece of pieces) for (const event of reader.push(piece)) events.push(event);
    for (const event of reader.end()) events.push(event);
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown;
    error = { rule: thrown.rule, offset: thrown.offset, problem: thrown.problem };
  }
  const head = events.findLast((event) => event.kind === 'head');
  const end = events.findLast((event) => event.kind === 'end');
  const fieldsOf = (event: HttpEvent) =>
    'fields' in event ? event.fields.map(({ name, value }) => [name, value]) : [];
  const joined: unknown[][] = [];
  for (const event of events) {
    const raw = 'raw' in event ? text([event.raw]) : '';
    const last = joined.at(-1);
    if (event.kind === 'data' && last?.[0] === 'data') last[1] = String(last[1]) + raw;
    else joined.push([event.kind, raw, fieldsOf(event)]);
  }
  return {
    events: joined,
    status: head?.status,
    fields: head?.fields.map(({ name, value }) => [name, value] as const) ?? [],
    body: text(events.flatMap((event) => (event.kind === 'data' ? [event.raw] : []))),
    raw: text(events.flatMap((event) => ('raw' in event ? [event.raw] : []))),
    problem: end?.problem,
    deviations: end?.deviations ?? [],
    ended: end !== undefined,
    error,
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';

interface Case {
  readonly name: string;
  readonly wire: string;
  readonly body?: string;
  readonly status?: number;
  readonly fields?: readonly (readonly [string, string])[];
  readonly deviations?: readonly string[];
  /** A regular expression. */
  readonly problem?: string;
}

/**
 * A message by its rule or deviation in each line; the body is `hello` and the status 200 unless the line says
 * otherwise.
 */
const ACCEPTED: readonly Case[] = JSON.parse(
  readFileSync(
    new URL('test/protocols/http/fixtures/responses.json', import.meta.resolve('#package.json')),
    'utf8',
  ),
);

for (const { name, wire, body = 'hello', status = 200, fields, deviations, problem } of ACCEPTED) {
  t.test(name, async (t) => {
    const whole = read([bytes(wire)]);
    t.equal(whole.error, undefined);
    t.equal(whole.body, body);
    t.equal(whole.status, status);
    if (fields !== undefined) t.strictSame(whole.fields, fields);
    t.strictSame(whole.deviations, deviations);
    if (problem === undefined) t.equal(whole.problem, undefined);
    else t.match(whole.problem, new RegExp(problem));
    t.strictSame(read([...bytes(wire)].map((byte) => Uint8Array.of(byte))), whole, 'byte by byte');
    t.ok(wire.startsWith(whole.raw), 'the raw bytes of the events are the message');
  });
}

t.test('header of 1 MB: one field, or many', async (t) => {
  const long = 'x'.repeat(1024 * 1024);
  t.equal(read([bytes(`${OK}X: ${long}\r\n\r\nhello`)]).fields[0]?.[1], long);
  const many = Array.from({ length: 40_000 }, (_, i) => `X-${i}: ${'y'.repeat(16)}\r\n`).join('');
  const result = read([bytes(`${OK}${many}\r\nhello`)]);
  t.equal(result.fields.length, 40_000);
  t.equal(result.body, 'hello');
});

const REFUSED: readonly (readonly [string, string, HttpResponseLimits, string, number])[] = [
  ['no byte', '', {}, 'RFC 9112 8', 0],
  ['a cut line of the header', `${OK}Cont`, {}, 'RFC 9112 8', 21],
  ['a cut status line', 'HTTP/1.1 200', {}, 'RFC 9112 8', 12],
  ['an impossible status', '\r\nHTTP/1.1 20 OK\r\n\r\n', {}, 'RFC 9112 4', 2],
  ['a TLS alert', '\x15\x03\x01\0\x02\x02\x46', {}, 'RFC 9112 9.7', 0],
  ['101', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', {}, 'RFC 9110 15.2.2', 0],
  ['an interim response only', 'HTTP/1.1 100 Continue\r\n\r\n', {}, 'RFC 9112 8', 25],
  ['a long header', `${OK}${'X: y\r\n'.repeat(100)}`, { maxHeadBytes: 500 }, 'RFC 9110 5.4', 0],
  [
    'interim responses without end',
    'HTTP/1.1 100 x\r\n\r\n'.repeat(100),
    { maxHeadBytes: 500 },
    'RFC 9110 5.4',
    486,
  ],
  ['many fields', `${OK}A: b\r\nC: d\r\nE: f\r\n\r\n`, { maxFields: 2 }, 'RFC 9110 5.4', 29],
  [
    'trailers without end',
    `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n${'X: y\r\n'.repeat(100)}`,
    { maxHeadBytes: 500 },
    'RFC 9110 5.4',
    56,
  ],
  [
    'a long extension',
    `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1;${'x'.repeat(100)}`,
    { maxChunkLineBytes: 50 },
    'RFC 9112 7.1.1',
    51,
  ],
  [
    'many extensions',
    `${OK}Transfer-Encoding: chunked\r\n\r\n${'1;xxxx\r\nx\r\n'.repeat(100)}`,
    { maxExtensionBytes: 12 },
    'RFC 9112 7.1.1',
    67,
  ],
  [
    'a first size above 2^53',
    `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx`,
    {},
    'RFC 9112 7.1',
    47,
  ],
];

for (const [name, wire, limits, rule, offset] of REFUSED) {
  t.test(`refused with rule and offset: ${name}`, async (t) => {
    const whole = read([bytes(wire)], limits);
    t.match(whole.error, { rule, offset });
    t.strictSame(
      read(
        [...bytes(wire)].map((byte) => Uint8Array.of(byte)),
        limits,
      ),
      whole,
      'byte by byte',
    );
  });
}

t.test('chunked is announced, the body has no line: it is a body after the limit of a line', async (t) => {
  const body = 'x'.repeat(40_000);
  const { body: found, error } = read([bytes(`${OK}Transfer-Encoding: chunked\r\n\r\n${body}`)]);
  t.equal(error, undefined);
  t.equal(found, body);
});

/** Pieces of messages, right and wrong, so that garbage reaches the inner states. */
const FRAGMENTS = [
  OK,
  'HTTP/1.0 404 x\n',
  'HTTP/1.1 100 C\r\n\r\n',
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  ',',
  'X: y\r\n',
  ' folded\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 7, x\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  '\r\n\r\n',
  '5\r\nhello\r\n',
  '3;e\nabc\n',
  '0\r\n\r\n',
  'ffff',
  'hello',
  'HTTP/',
  'ICY ',
  '\x15\x03',
];
const garbage = fc.oneof(
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 14 }).map((parts) => bytes(parts.join(''))),
  fc
    .tuple(fc.constantFrom(...FRAGMENTS), fc.uint8Array({ maxLength: 60 }))
    .map(([begin, rest]) => bytes(begin + text([rest]))),
);
const small = fc.constantFrom<HttpResponseLimits>(
  {},
  { maxHeadBytes: 60, maxFields: 2 },
  { maxChunkLineBytes: 6, maxExtensionBytes: 3 },
);

t.test('property: any chunking gives the same events, and only ProtocolErrors', async () => {
  assertProperty(
    fc.property(garbage, small, fc.array(fc.nat(120), { maxLength: 6 }), (input, limits, cuts) => {
      const whole = read([input], limits);
      const ends = [...cuts.map((cut) => Math.min(cut, input.length)), input.length].sort((a, b) => a - b);
      const pieces = ends.map((end, i) => input.slice(i === 0 ? 0 : ends[i - 1], end));
      t.strictSame(read(pieces, limits), whole);
      if (!text([input]).startsWith(whole.raw)) throw new Error('raw bytes differ');
      if (whole.error === undefined ? !whole.ended : whole.error.offset > input.length)
        throw new Error('neither an end nor an error within the input');
    }),
    { numRuns: 3000 },
  );
});

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const value = fc.stringMatching(
  /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e\x80-\xff])?$/,
);
const ordinary = fc
  .array(fc.tuple(token, value), { maxLength: 8 })
  .map((fields) => fields.filter(([name]) => !/^(?:content-length|transfer-encoding)$/i.test(name)));

t.test('property: a well-formed message is read as it was written, without deviations', async (t) => {
  assertProperty(
    fc.property(
      ordinary,
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 }),
      fc.constantFrom('length', 'chunked', 'close'),
      fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
      (fields, chunks, kind, status) => {
        const body = text(chunks);
        const framed =
          kind === 'length'
            ? [['Content-Length', String(body.length)] as const]
            : kind === 'chunked'
              ? [['Transfer-Encoding', 'chunked'] as const]
              : [];
        const all = [...fields, ...framed];
        const head = [`HTTP/1.1 ${status} Reason`, ...all.map(([name, text]) => `${name}: ${text}`), '', ''];
        const sent =
          kind === 'chunked'
            ? `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${text([chunk])}\r\n`).join('')}0\r\n\r\n`
            : body;
        const wire = head.join('\r\n') + sent;
        const found = read([bytes(wire)]);
        t.strictSame(
          [found.status, found.fields, found.body, found.deviations, found.problem, found.raw],
          [status, all, body, [], undefined, wire],
        );
      },
    ),
    { numRuns: 500 },
  );
});
