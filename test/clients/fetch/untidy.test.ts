// Untidy but complete responses: whatever a server does wrong, the document is the same, and it is requested once.
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createFetcher } from '../../../clients/fetch/index.js';
import { assertProperty } from '../../helpers/property.js';
import { scripted, textOf } from './scripted.js';

/** A response before it is written. */
interface Message {
  statusLine: string;
  readonly fields: [name: string, value: string][];
  body: Buffer;
  framing: 'length' | 'chunked' | 'close';
}

/** What a server does wrong: with the message, or with its bytes. */
interface Fault {
  readonly name: string;
  readonly message?: (message: Message) => void;
  readonly head?: (head: string) => string;
  /** The bytes of a chunked body. */
  readonly chunks?: (body: string) => string;
}

const EXTRA: readonly (readonly [name: string, line: string])[] = [
  ['a line without a colon', 'Set Cookie nonsense line\r\n'],
  ['an empty name', ': value\r\n'],
  ['a blank in a name', 'Bad Name: v\r\n'],
  ['a blank before a colon', 'X-Blank : v\r\n'],
  ['NUL in a value', 'X-Nul: a\0b\r\n'],
  ['control characters', 'X-Control: a\x01\x7f\x1bb\r\n'],
  ['Latin-1', 'X-Caf\xe9: \xe9\r\n'],
  ['UTF-8', 'X-Utf: \xc5\xbe\r\n'],
  ['a bare CR', 'X-Cr: a\rb\r\n'],
  ['a long field', `X-Long: ${'x'.repeat(40_000)}\r\n`],
  ['a folded field', 'X-Fold: a\r\n b\r\n\tc\r\n'],
  ['a second status line', 'HTTP/1.1 200 OK\r\n'],
];

const STATUS_LINES = [
  'HTTP 200 Document follows',
  'HTTP/1.1 200',
  'HTTP/1.0 200OK',
  'http/1.1 200 ok',
  'ICY 200 OK',
  'HTTP/1.1\t200\tOK',
  'HTTP/1.1  200  OK',
  'HTTP/ 200 OK',
  'HTTP/1.1 OK',
  'HTTP/11 200 OK',
  `HTTP/1.1 200 ${'long '.repeat(5000)}`,
];

const FAULTS: readonly Fault[] = [
  ...EXTRA.map(([name, line]) => ({
    name,
    // Not before a folded first line.
    head: (head: string) => head.replace('\r\n', `\r\n${line}`),
  })),
  ...STATUS_LINES.map((statusLine) => ({
    name: statusLine.slice(0, 30),
    message: (message: Message) => {
      message.statusLine = statusLine;
    },
  })),
  { name: 'a folded Content-Type', head: (head) => head.replace('; charset', ';\r\n charset') },
  { name: 'blanks before colons', head: (head) => head.replaceAll(/^([\w-]+):/gm, '$1 \t:') },
  { name: 'no blanks after colons', head: (head) => head.replaceAll(': ', ':') },
  { name: 'bare LF', head: (head) => head.replaceAll('\r\n', '\n') },
  { name: 'some bare LF', head: (head) => head.replace(/\r\n(?=C)/, '\n') },
  { name: 'CR CR LF', head: (head) => head.replaceAll('\r\n', '\r\r\n') },
  { name: 'a byte order mark', head: (head) => `\xef\xbb\xbf${head}` },
  { name: 'empty lines before', head: (head) => `\r\n\n${head}` },
  { name: 'bytes of an earlier body', head: (head) => `xx\n${head}`.replace('\n', 'y') },
  { name: 'early hints', head: (head) => `HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n${head}` },
  { name: 'an unrequested 100', head: (head) => `HTTP/1.1 100 Continue\n\n${head}` },
  { name: 'names in capitals', head: (head) => head.replaceAll(/^[\w-]+:/gm, (name) => name.toUpperCase()) },
  {
    name: 'a length twice',
    head: (head) => head.replace(/Content-Length: \d+\r\n/, (line) => line + line),
  },
  { name: 'a list of lengths', head: (head) => head.replace(/(Content-Length: )(\d+)/, '$1$2, $2') },
  { name: 'a length with a sign', head: (head) => head.replace(/(Content-Length: )(\d+)/, '$1+$2') },
  { name: 'a length with zeros', head: (head) => head.replace(/(Content-Length: )(\d+)/, '$100$2') },
  { name: 'a length in quotes', head: (head) => head.replace(/(Content-Length: )(\d+)/, '$1"$2"') },
  { name: 'no length', head: (head) => head.replace(/(Content-Length: )\d+/, '$1') },
  { name: 'identity', head: (head) => head.replace('\r\n', '\r\nTransfer-Encoding: identity\r\n') },
  { name: 'Chunked', head: (head) => head.replace('Encoding: chunked', 'Encoding: Chunked') },
  { name: 'chunked in quotes', head: (head) => head.replace('Encoding: chunked', 'Encoding: "chunked"') },
  {
    name: 'a length beside chunks',
    head: (head) => head.replace('Transfer-Encoding: c', 'Content-Length: 3\r\nTransfer-Encoding: c'),
  },
  { name: 'sizes with blanks', chunks: (body) => body.replaceAll(/^([0-9a-f]+)\r\n/gm, ' $1 \r\n') },
  { name: 'sizes with zeros', chunks: (body) => body.replaceAll(/^([0-9a-f]+)\r\n/gm, '000$1\r\n') },
  { name: 'sizes with extensions', chunks: (body) => body.replaceAll(/^([0-9a-f]+)\r\n/gm, '$1;a="b"\r\n') },
  { name: 'sizes with 0x', chunks: (body) => body.replaceAll(/^([0-9a-f]+)\r\n/gm, '0x$1\r\n') },
  { name: 'chunks with bare LF', chunks: (body) => body.replaceAll('\r\n', '\n') },
  { name: 'no CRLF after the last chunk', chunks: (body) => body.slice(0, -2) },
  { name: 'nothing after the last size', chunks: (body) => body.slice(0, -4) },
  { name: 'trailers', chunks: (body) => `${body.slice(0, -2)}X: y\r\nno colon\r\n\r\n` },
  ...(
    [
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['GZIP;q=1', gzipSync],
      ['deflate', deflateSync],
      ['deflate', deflateRawSync],
      ['deflate', gzipSync],
      ['gzip', deflateSync],
      ['br', gzipSync],
      ['gzip', (bytes: Uint8Array) => Buffer.concat([gzipSync(bytes), Buffer.from('\n<!-- junk -->')])],
      ['gzip', (bytes: Uint8Array) => Buffer.concat([gzipSync(bytes), Buffer.alloc(9)])],
      ['gzip', (bytes: Uint8Array) => Buffer.concat([gzipSync(bytes), Buffer.from([0x1f, 0x8b, 8, 1])])],
      ['gzip, gzip', gzipSync],
      ['gzip', (bytes: Uint8Array) => bytes],
      ['br', (bytes: Uint8Array) => bytes],
      ['deflate', (bytes: Uint8Array) => bytes],
      ['utf-8', (bytes: Uint8Array) => bytes],
      ['text/html', (bytes: Uint8Array) => bytes],
    ] as const
  ).map(([coding, encode], i) => ({
    name: `Content-Encoding ${i}: ${coding}`,
    message: (message: Message) => {
      if (message.fields.some(([name]) => name === 'Content-Encoding')) return;
      message.fields.push(['Content-Encoding', coding]);
      message.body = Buffer.from(encode(message.body));
    },
  })),
  {
    name: 'chunked without chunks',
    message: (message) => {
      if (message.framing !== 'close') return;
      message.fields.push(['Transfer-Encoding', 'chunked']);
      // A body that does not begin with digits.
      if (/^\s*[0-9a-f]/i.test(message.body.toString('latin1'))) message.fields.pop();
    },
  },
];

/** Returns the bytes of a response with these faults, as Latin-1. */
function written(body: string, framing: Message['framing'], faults: readonly Fault[]): string {
  const message: Message = {
    statusLine: 'HTTP/1.1 200 OK',
    fields: [['Content-Type', 'text/html; charset=utf-8']],
    body: Buffer.from(body),
    framing,
  };
  for (const fault of faults) fault.message?.(message);
  if (framing === 'length') message.fields.push(['Content-Length', String(message.body.length)]);
  if (framing === 'chunked') message.fields.push(['Transfer-Encoding', 'chunked']);
  const lines = message.fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  let head = `${message.statusLine}\r\n${lines}\r\n`;
  for (const fault of faults) head = fault.head?.(head) ?? head;
  const content = message.body.toString('latin1');
  if (framing !== 'chunked') return head + content;
  // One line: the sizes are those lines that are hexadecimal.
  let chunks = `${content.length.toString(16)}\r\n\u{1}\r\n0\r\n\r\n`;
  for (const fault of faults) chunks = fault.chunks?.(chunks) ?? chunks;
  return head + chunks.replace('\u{1}', () => content);
}

async function openServer(t: Test) {
  const state = { wire: '', requests: 0 };
  const { port } = await scripted(t, (socket) => {
    socket.on('data', () => {
      state.requests++;
      socket.end(state.wire, 'latin1');
    });
  });
  const read = async (wire: string) => {
    Object.assign(state, { wire, requests: 0 });
    await using fetcher = createFetcher({ userAgent: 'example/1.0' });
    const result = await fetcher.fetch({ url: `http://127.0.0.1:${port}/`, timeoutMs: 20_000 });
    const { status, contentType, charset, body, lenient } = result;
    return {
      document: [status, contentType, charset, textOf(body)],
      requests: state.requests,
      problem: lenient?.problem,
      deviations: lenient?.deviations ?? [],
    };
  };
  return { read };
}

const BODY = '<title>A page</title><p>words';

t.test('RFC 9112: each fault alone leaves the document as it is, with one request', async (t) => {
  const { read } = await openServer(t);
  for (const framing of ['length', 'chunked', 'close'] as const)
    for (const fault of FAULTS) {
      const { deviations: _, ...found } = await read(written(BODY, framing, [fault]));
      t.strictSame(
        found,
        { document: [200, 'text/html', 'utf-8', BODY], requests: 1, problem: undefined },
        `${framing}: ${fault.name}`,
      );
    }
});

t.test('RFC 9112: so do any faults together', async (t) => {
  const { read } = await openServer(t);
  const text = fc.string({ minLength: 5, maxLength: 200, unit: fc.constantFrom(...'<p>abc 123\r\n') });
  await assertProperty(
    fc.asyncProperty(
      text.map((words) => `<title>${words}`),
      fc.constantFrom('length' as const, 'chunked' as const, 'close' as const),
      fc.subarray([...FAULTS], { maxLength: 5 }),
      async (body, framing, faults) => {
        const { deviations: _, ...found } = await read(written(body, framing, faults));
        const expected = { document: [200, 'text/html', 'utf-8', body], requests: 1, problem: undefined };
        t.strictSame(found, expected, faults.map(({ name }) => name).join(', '));
      },
    ),
    { numRuns: 150 },
  );
});

t.test('what is not known is refused with the rule and the offset, after one request', async (t) => {
  const { read } = await openServer(t);
  const refused: readonly (readonly [wire: string, message: RegExp])[] = [
    ['HTTP/1.1 20 OK\r\n\r\nx', /"20 OK" is not a status \(RFC 9112 4, offset 0\)/],
    ['\r\nHTTP/1.1 2000 OK\r\n\r\nx', /"2000 OK" is not a status \(RFC 9112 4, offset 2\)/],
    ['HTTP/1.1 101 Switching\r\n\r\nx', /switches to another protocol \(RFC 9110 15\.2\.2, offset 0\)/],
    ['HTTP/1.1 200 OK\rContent-Length: 1\r\rx', /ended within the header \(RFC 9112 8, offset 36\)/],
    ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx', /9 bytes were announced, 1 sent \(RFC 9112 8\)/],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n',
      /the last chunk is missing \(RFC 9112 8\)/,
    ],
    ['HTTP/1.1 100 Continue\r\n\r\n', /ended before a response \(RFC 9112 8, offset 25\)/],
    ['', /the server broke the connection/],
    ['HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x80\x08\x01\x02', /cannot be decoded as gzip/],
    ['220 mail.test ESMTP\r\n', /the server speaks another protocol \(RFC 9112 4, offset 0\)/],
    ['SSH-2.0-x\r\n', /the server speaks another protocol/],
    ['\x15\x03\x01\0\x02\x02\x28', /the server speaks TLS on this port/],
    ['HTTP/1.1 200 OK\r\nContent-Encoding: compress\r\n\r\nx', /unknown content coding "compress"/],
    [
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff\xff',
      /cannot be decoded as gzip/,
    ],
    ['HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x89PNG\r\n\x1a\n\0\0', /cannot be decoded as gzip/],
  ];
  for (const [wire, message] of refused) await t.rejects(read(wire), { message }, JSON.stringify(wire));
});

t.test('RFC 9112 9.3: what follows a response is never the next one', async (t) => {
  const wires = [
    'HTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ];
  const planted = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted';
  for (const wire of wires) {
    const server = await scripted(t, (socket) => {
      let answers = 0;
      socket.on('data', () => {
        answers++;
        socket.write(answers === 1 && !wire.includes('1\r\n\r\nx') ? wire : `${wire}${planted}`, 'latin1');
      });
    });
    const fetcher = createFetcher({ userAgent: 'example/1.0' });
    t.teardown(() => fetcher.close());
    const request = { url: `http://127.0.0.1:${server.port}/`, timeoutMs: 20_000 };
    for (let i = 0; i < 3; i++) t.not(textOf((await fetcher.fetch(request)).body), 'planted', wire);
    t.equal(server.connections(), 3, 'each has a connection of its own');
  }
});
