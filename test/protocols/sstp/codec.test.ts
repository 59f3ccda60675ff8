import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  CODES,
  codeBySymbol,
  codeEntry,
  encodeSstp,
  NO_BODY,
  parseLinkReply,
  parseRequest,
  parseUrlDescription,
  ReplyWriter,
  RequestDecoder,
  SstpDecoder,
  type SstpDecoderOptions,
  type SstpHeader,
  type SstpMessage,
  type SstpRequest,
} from '../../../protocols/sstp/index.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Messages as plain data, and the rule of the error that ended them. */
function decoded(
  role: 'request' | 'reply',
  chunks: readonly Uint8Array[],
  options: SstpDecoderOptions = {},
): { messages: SstpMessage[]; error: string | undefined } {
  const decoder = new SstpDecoder(role, options);
  const messages: SstpMessage[] = [];
  try {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        at = decoder.read(chunk, at);
        const message = decoder.takeMessage();
        if (message !== undefined)
          messages.push({
            code: message.code,
            headers: message.headers,
            body: Uint8Array.from(message.body),
          });
      }
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { messages, error: `${error.rule} at ${error.offset}` };
  }
  return { messages, error: undefined };
}

function one(role: 'request' | 'reply', text: string): SstpMessage {
  const { messages, error } = decoded(role, [bytes(text)]);
  if (error !== undefined) throw new Error(error);
  if (messages.length !== 1) throw new Error(`${messages.length} messages`);
  return messages[0]!;
}

function requests(text: string, options: { fast?: boolean } = {}): (SstpRequest | string)[] {
  const decoder = new RequestDecoder(options);
  const out: (SstpRequest | string)[] = [];
  decoder.push(bytes(text));
  try {
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) out.push(next);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    out.push(error.rule);
  }
  return out;
}

/** The rule that a call breaks. */
function broken(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof ProtocolError) return error.rule;
    throw error;
  }
  return 'none';
}

const rule = (text: string) => decoded('request', [bytes(text)]).error?.split(' ')[0];

t.test('P-01: the published codes, by number and name, and on the wire', async (t) => {
  const published: readonly [string, string][] = [
    ['001', 'REQ_GET_URLINFO'],
    ['002', 'REQ_PUT_HOST_NOTFOUND'],
    ['003', 'REQ_PUT_HOST_UNRICHABLE'],
    ['006', 'REQ_PUT_DATA'],
    ['007', 'REQ_GET_MD5'],
    ['008', 'REQ_GET_URL_BYNAME'],
    ['010', 'REQ_GET_URL_BYID'],
    ['011', 'REQ_GET_QUEUERESET'],
    ['012', 'REQ_GET_EXCLUDE'],
    ['013', 'REQ_GET_SERVICES'],
    ['014', 'REQ_GET_MIME'],
    ['015', 'REQ_GET_ARCHIVERS'],
    ['016', 'REQ_GET_PW'],
    ['017', 'REQ_GET_ALLOW'],
    ['018', 'REQ_GET_DOMAINS'],
    ['019', 'REQ_GET_ROBOTS'],
    ['020', 'REQ_PUT_ROBOTS'],
    ['021', 'REQ_RESET_ROBOTS'],
  ];
  for (const [digits, symbol] of published) {
    const wire = `SSTP/1.0 ${digits} ${symbol}\r\n\r\n`;
    const code = Number(digits);
    t.equal(Buffer.from(encodeSstp({ code, headers: [], body: NO_BODY })).toString('latin1'), wire);
    t.equal(one('request', wire).code, code);
    t.equal(codeEntry(code)?.symbol, symbol);
  }
  for (const unused of [4, 5, 9]) t.equal(codeEntry(unused), undefined);
});

t.test('P-22: both spellings of request 008 are one code', async (t) => {
  t.equal(codeBySymbol('REQ_GET_URLBYNAME')?.number, 8);
  t.equal(codeBySymbol('REQ_GET_URL_BYNAME')?.number, 8);
});

t.test('S-28: the examples of section 10, byte for byte', async (t) => {
  const examples: readonly [string, number, readonly SstpHeader[], string?][] = [
    [
      'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 1\r\nHEADER_START_RESULTS: 1\r\n\r\n',
      81,
      [
        ['HEADER_URI_ID', '10'],
        ['HEADER_NUMRESULTS', '1'],
        ['HEADER_START_RESULTS', '1'],
      ],
    ],
    [
      'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_URL: http://a.example/x\r\n\r\n',
      84,
      [['HEADER_URL', 'http://a.example/x']],
    ],
    [
      'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URL: http://a.example:81/\r\n\r\n',
      8,
      [['HEADER_URL', 'http://a.example:81/']],
    ],
    [
      'SSTP/1.0 017 REQ_GET_ALLOW\r\nHEADER_AUTHORIZATION: Basic bmFtZWZyb21hZG1pbjphYnJha2FkYWJyYQ==\r\n\r\n',
      17,
      [['HEADER_AUTHORIZATION', 'Basic bmFtZWZyb21hZG1pbjphYnJha2FkYWJyYQ==']],
    ],
    [
      'SSTP/1.0 017 REQ_GET_ALLOW\r\nHEADER_CONTENT_LENGTH: 24\r\n\r\n192.168.3.*\n*.turtle.ru\n',
      17,
      [['HEADER_CONTENT_LENGTH', '24']],
      '192.168.3.*\n*.turtle.ru\n',
    ],
    ['SSTP/1.0 403 FORBIDDEN\r\n\r\n', 403, []],
  ];
  for (const [wire, code, headers, body = ''] of examples) {
    t.equal(Buffer.from(encodeSstp({ code, headers, body: bytes(body) })).toString('latin1'), wire);
    const message = one('reply', wire);
    t.same(message.headers, headers);
    t.equal(Buffer.from(message.body).toString('latin1'), body);
  }
});

t.test('R-25: the replies of sstp.md 10.1 to 10.4 and 10.5, byte for byte', async (t) => {
  const writer = new ReplyWriter();
  const taken = () => Buffer.from(writer.take()).toString('latin1');
  writer.writeLinks(81, 3, 1, Uint32Array.of(11, 20, 12), 1, 2);
  t.equal(
    taken(),
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 3\r\nHEADER_START_RESULTS: 1\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: 20\r\n\r\n',
  );
  writer.writeLinks(84, 2, 0, Uint32Array.of(20, 12), 0, 2);
  t.equal(
    taken(),
    'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_NUMFOUND: 2\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 2\r\nHEADER_URI_ID: 20\r\nHEADER_URI_ID: 12\r\n\r\n',
  );
  writer.writeLinks(82, 0, 0, new Uint32Array(0), 0, 0);
  t.equal(
    taken(),
    'SSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_NUMFOUND: 0\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 0\r\n\r\n',
  );
  writer.writeNotFound();
  t.equal(taken(), 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n');
  writer.writeDescription({
    id: 12,
    serverId: 2,
    protocol: 'http',
    host: 'a.example',
    port: 81,
    uri: '/',
    time: 1000000120,
    checkTime: 1000001200,
    length: 1200,
  });
  t.equal(
    taken(),
    'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URI_ID: 12\r\nHEADER_SERVER_ID: 2\r\nHEADER_SERVER_PROTOCOL: http\r\nHEADER_SERVER_NAME: a.example\r\nHEADER_SERVER_PORT: 81\r\nHEADER_URI: /\r\nHEADER_URI_TIME: 1000000120\r\nHEADER_URL_CHECKTIME: 1000001200\r\nHEADER_URI_LEN: 1200\r\n\r\n',
  );
  writer.writeBody(17, bytes('192.168.3.*\n*.turtle.ru\n'));
  t.equal(
    taken(),
    'SSTP/1.0 017 REQ_GET_ALLOW\r\nHEADER_CONTENT_LENGTH: 24\r\n\r\n192.168.3.*\n*.turtle.ru\n',
  );
  t.notOk(writer.closes);
  writer.writeError(501);
  t.notOk(writer.closes, 'S-39: 501 does not close');
  writer.writeError(503);
  t.ok(writer.closes, 'S-39: 503 closes');
  t.equal(taken(), 'SSTP/1.0 501 NOT IMPLEMENTED\r\n\r\nSSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n');
  t.equal(writer.length, 0);
});

t.test('S-34, R-33: a number beyond a u32 is sent as unknown', async (t) => {
  const writer = new ReplyWriter();
  writer.writeDescription({
    id: 4_294_967_295,
    serverId: 1,
    protocol: 'ftp',
    host: 'a.example',
    port: 21,
    uri: '/disc.iso',
    time: 4_294_967_295,
    checkTime: 4_294_967_296,
    length: 4_700_372_992,
  });
  const text = Buffer.from(writer.take()).toString('latin1');
  t.match(text, '\r\nHEADER_URI_ID: 4294967295\r\n');
  t.ok(
    text.endsWith('\r\nHEADER_URI_TIME: 4294967295\r\nHEADER_URL_CHECKTIME: 0\r\nHEADER_URI_LEN: 0\r\n\r\n'),
    text,
  );
});

t.test('S-34: every number of a reply is written without leading zeros, whatever its length', async (t) => {
  const edges = [
    0, 1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 10_001, 99_999, 100_000, 9_999_999, 10_000_000,
  ];
  const more = [
    99_999_999, 100_000_000, 100_000_001, 999_999_999, 1_000_000_000, 4_294_967_295, 2_147_483_648,
  ];
  const ids = Uint32Array.from([...edges, ...more]);
  const writer = new ReplyWriter();
  writer.writeLinks(81, 4_294_967_295, 12_345, ids, 0, ids.length);
  const lines = Buffer.from(writer.take()).toString('latin1').split('\r\n');
  t.same(lines.slice(0, 4), [
    'SSTP/1.0 081 REQ_GET_REFERENCES',
    'HEADER_NUMFOUND: 4294967295',
    'HEADER_START_RESULTS: 12345',
    `HEADER_NUMRESULTS: ${ids.length}`,
  ]);
  t.same(
    lines.slice(4, -2),
    [...ids].map((id) => `HEADER_URI_ID: ${id}`),
  );
});

t.test('P-03, P-04, P-05, P-06: phrase, case, bare LF and unknown headers have no effect', async (t) => {
  const wanted = { kind: 'references', id: 10, name: '', start: 0, count: 2 };
  for (const text of [
    'SSTP/1.0 081 SOMETHING else\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 2\r\n\r\n',
    'SSTP/1.0 081\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 2\r\n\r\n',
    'SSTP/1.0 081 \r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 2\r\n\r\n',
    'SSTP/1.7 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 2\r\n\r\n',
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nheader_uri_id:10\r\nHeader_NumResults: \t 2 \t\r\n\r\n',
    'SSTP/1.0 081 REQ_GET_REFERENCES\nHEADER_URI_ID: 10\nHEADER_NUMRESULTS: 2\n\n',
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nX_NEW: a: b\r\nX_NEW: c\r\nHEADER_URI_ID: 00000000010\r\nHEADER_NUMRESULTS: 2\r\n\r\n',
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMRESULTS: 2\r\nHEADER_URI_ID: 10\r\n\r\n',
  ]) {
    t.same(requests(text), [wanted], JSON.stringify(text));
  }
});

t.test('P-05, P-10, S-28, S-36, S-46: refused messages, and the rule of each', async (t) => {
  const head = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
  t.equal(rule('SSTP/1.0 081 X\rHEADER_URI_ID: 1\r\n\r\n'), 'S-30');
  t.equal(rule('SSTP/1.0 081 X\r\r\n\r\n'), 'S-30');
  t.equal(rule(`${head} folded: 1\r\n\r\n`), 'S-32');
  t.equal(rule(`${head}\tfolded\r\n\r\n`), 'S-32');
  t.equal(rule(`${head}no colon\r\n\r\n`), 'S-32');
  t.equal(rule(`${head}: empty\r\n\r\n`), 'S-32');
  t.equal(rule(`${head}HEADER_URL : x\r\n\r\n`), 'S-32');
  t.equal(rule(`${head}HEADER_URL: a\0b\r\n\r\n`), 'S-36');
  for (const start of [
    '',
    'GET / HTTP/1.0',
    'sstp/1.0 081',
    'SSTP/1.0 81 X',
    'SSTP/1.0  081',
    'SSTP/1.0 0811',
    'SSTP/1 081',
    'SSTP/1.0 081X',
  ])
    t.equal(rule(`${start}\r\n\r\n`), 'S-28', start);
  for (const start of ['SSTP/2.0 081 X', 'SSTP/0.9 081 X', 'SSTP/10.0 whatever'])
    t.equal(rule(`${start}\r\n`), 'S-46', start);
});

t.test('P-07, P-08, P-09: single values, the range of numbers, ID 0', async (t) => {
  const head = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
  t.same(requests(`${head}HEADER_URI_ID: 1\r\nHEADER_URI_ID: 1\r\n\r\n`), ['S-33']);
  t.same(requests(`${head}HEADER_URI_ID: 1\r\nHEADER_NUMRESULTS: 1\r\nheader_numresults: 1\r\n\r\n`), [
    'S-33',
  ]);
  t.match(requests(`${head}HEADER_URI_ID: 4294967295\r\n\r\n`), [{ id: 4294967295 }]);
  for (const value of ['4294967296', '-1', '', '+1', '1 2', '0x1', '99999999999999999999'])
    t.same(requests(`${head}HEADER_URI_ID: ${value}\r\n\r\n`), ['S-34'], value);
  t.same(requests(`${head}HEADER_URI_ID: 0\r\n\r\n`), ['R-21']);
  t.match(requests(`${head}HEADER_URI_ID: 0\r\nHEADER_URL: http://b.example/\r\n\r\n`), [
    { id: 0, name: 'http://b.example/' },
  ]);
  t.same(requests(`${head}\r\n`), ['R-21']);
  t.match(
    requests(`${head}HEADER_URI_ID: 5\r\nHEADER_URL: ::not a url::\r\n\r\n`),
    [{ id: 5, name: '' }],
    'R-22',
  );
  t.same(requests(`${head}HEADER_URL: not a url\r\n\r\n`), ['R-23']);
  t.same(requests(`${head}HEADER_URL: http://u:p@a.example/\r\n\r\n`), ['R-41']);
  t.same(requests('SSTP/1.0 008 X\r\n\r\n'), ['R-33']);
  t.same(requests('SSTP/1.0 008 X\r\nHEADER_URL: HTTP://A.example:80\r\nHEADER_NUMRESULTS: x\r\n\r\n'), [
    { kind: 'url-by-name', url: 'http://a.example/' },
  ]);
  t.match(requests('SSTP/1.0 083 X\r\nHEADER_URI_ID: 7\r\nHEADER_URL: a.example:81\r\n\r\n'), [
    { kind: 'site-references', id: 0, name: 'a.example:81' },
  ]);
  t.same(requests('SSTP/1.0 999 X\r\n\r\nSSTP/1.0 001 X\r\n\r\n'), [
    { kind: 'unserved', code: 999 },
    { kind: 'unserved', code: 1 },
  ]);
});

t.test('P-11: the limits of S-38, at the limit and beyond it, and S-37', async (t) => {
  const head = 'SSTP/1.0 081 X\r\n';
  t.equal(rule(`SSTP/1.0 081 ${'x'.repeat(256 - 13)}\r\n\r\n`), undefined);
  t.equal(rule(`SSTP/1.0 081 ${'x'.repeat(257 - 13)}\r\n\r\n`), 'S-38');
  t.equal(rule(`${head}X: ${'x'.repeat(8192 - 3)}\r\n\r\n`), undefined);
  t.equal(rule(`${head}X: ${'x'.repeat(8193 - 3)}`), 'S-38', 'said before the line ends');
  t.equal(rule(`${head}${'X: y\r\n'.repeat(64)}\r\n`), undefined);
  t.equal(rule(`${head}${'X: y\r\n'.repeat(65)}`), 'S-38');
  const long = `X: ${'x'.repeat(8187)}\r\n`;
  t.equal(long.length, 8192);
  t.equal(rule(`${head}${long.repeat(8)}\r\n`), undefined);
  t.equal(rule(`${head}${long.repeat(8)}X`), 'S-38');
  const url = (length: number) => `http://a.example/${'x'.repeat(length - 17)}`;
  t.match(requests(`${head}HEADER_URL: ${url(4096)}\r\n\r\n`), [{ name: url(4096) }]);
  t.same(requests(`${head}HEADER_URL: ${url(4097)}\r\n\r\n`), ['S-38']);
  t.equal(rule(`${head}HEADER_CONTENT_LENGTH: 1\r\n\r\nx`), 'S-37');
  t.equal(rule(`${head}HEADER_CONTENT_LENGTH: 0\r\n\r\n`), undefined);
  t.equal(rule(`${head}HEADER_CONTENT_LENGTH: 0\r\nHEADER_CONTENT_LENGTH: 0\r\n\r\n`), 'S-33');
  t.equal(rule('SSTP/1.0 006 X\r\nHEADER_CONTENT_LENGTH: 99999999\r\n\r\n'), 'S-38');
  const reply = `SSTP/1.0 081 X\r\n${'HEADER_URI_ID: 7\r\n'.repeat(100_000)}\r\n`;
  t.equal(one('reply', reply).headers.length, 100_000, 'a client accepts 100000 lines');
});

t.test('P-19, P-20, S-42: replies to a link request', async (t) => {
  const found0 = 'SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 0\r\n\r\n';
  const notFound = 'SSTP/1.0 404 X\r\nHEADER_NUMFOUND: 0\r\n\r\n';
  const both = [found0, notFound].map((text) => parseLinkReply(one('reply', text), 81));
  t.same(
    both.map(({ found, ids }) => [found, ids.length]),
    [
      [0, 0],
      [0, 0],
    ],
  );
  t.same(
    both.map(({ known }) => known),
    [true, false],
  );
  const mixed =
    'SSTP/1.0 081 X\r\nHEADER_URI_ID: 5\r\nHEADER_NUMFOUND: 9\r\nHEADER_URI_ID: 03\r\nHEADER_URI_ID: 4\r\nHEADER_START_RESULTS: 2\r\n\r\n';
  t.same(parseLinkReply(one('reply', mixed), 81), {
    found: 9,
    start: 2,
    ids: Uint32Array.of(5, 3, 4),
    known: true,
  });
  const [message] = new SstpDecoder('reply').push(bytes(mixed));
  t.same(parseLinkReply(message!, 81).ids, Uint32Array.of(5, 3, 4), 'the fast way too');
  for (const code of ['400', '403', '500', '501', '082'])
    t.throws(() => parseLinkReply(one('reply', `SSTP/1.0 ${code} X\r\n\r\n`), 81), {
      code: 'ERR_PEER',
      status: Number(code),
    });
  const none = 'SSTP/1.0 081 X\r\n\r\n';
  const miscounted = 'SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 1\r\nHEADER_NUMRESULTS: 1\r\n\r\n';
  for (const text of [none, miscounted])
    t.equal(
      broken(() => parseLinkReply(one('reply', text), 81)),
      'R-24',
    );
  const cut = 'SSTP/1.0 008 X\r\nHEADER_URI_ID: 1\r\n\r\n';
  t.equal(
    broken(() => parseUrlDescription(one('reply', cut))),
    'R-33',
  );
  t.equal(parseUrlDescription(one('reply', notFound)), undefined);
});

t.test('S-28: a message that cannot be sent is a RangeError or a TypeError', async (t) => {
  const message = (code: number, headers: readonly SstpHeader[]) => ({ code, headers, body: NO_BODY });
  for (const code of [1000, -1]) t.throws(() => encodeSstp(message(code, [])), RangeError);
  const bad: readonly [number, readonly SstpHeader[]][] = [
    [81, [['HEADER URL', 'x']]],
    [81, [['HEADER_URL', 'a\r\nHEADER_URI_ID: 1']]],
    [81, [['HEADER_URL', ' x']]],
    [81, [['HEADER_CONTENT_LENGTH', '3']]],
  ];
  for (const [code, headers] of bad) t.throws(() => encodeSstp(message(code, headers)), TypeError);
});

const name = fc
  .stringMatching(/^[A-Za-z0-9_]{1,20}$/)
  .filter((text) => !/^header_content_length$/i.test(text));
const value = fc
  .string({ unit: 'binary', maxLength: 40 })
  .map((text) => text.replace(/[\0-\x1f\x7f]|[\ud800-\udfff]/g, '').trim());

t.test('S-27: an encoded message decodes to the same message, in any pieces', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 999 }).filter((code) => codeEntry(code)?.bodyless !== true),
      fc.array(fc.tuple(name, value), { maxLength: 20 }),
      fc.uint8Array({ maxLength: 50 }),
      fc.integer({ min: 1, max: 30 }),
      (code, headers, body, size) => {
        const wire = encodeSstp({ code, headers, body });
        const { messages, error } = decoded('reply', pieces(wire, size));
        const length: SstpHeader[] = body.length > 0 ? [['HEADER_CONTENT_LENGTH', String(body.length)]] : [];
        t.equal(error, undefined);
        t.same(messages, [
          {
            code,
            headers: [...headers.map(([key, text]): SstpHeader => [key.toUpperCase(), text]), ...length],
            body,
          },
        ]);
      },
    ),
    { numRuns: 100 },
  );
});

/** Pieces of streams that are nearly valid, so that every rule is broken at times. */
const fragment = fc.constantFrom(
  'SSTP/1.0 081 REQ_GET_REFERENCES\r\n',
  'SSTP/1.0 082 REQ_GET_REFERERS\r\n',
  'SSTP/1.0 083 REQ_GET_SITEREFERENCES\r\n',
  'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\n',
  'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\n',
  'SSTP/1.0 081 X\n',
  'HEADER_URI_ID: 10\r\n',
  'HEADER_URI_ID: 11\r\n',
  'HEADER_URI_ID: 4294967295\r\n',
  'HEADER_URI_ID: 4294967296\r\n',
  'HEADER_URI_ID: 010\n',
  'HEADER_URI_ID: 0\r\n',
  'HEADER_URI_ID:  7\r\n',
  'HEADER_URI_ID: \r\n',
  'HEADER_SERVER_ID: 3\r\n',
  'HEADER_NUMRESULTS: 5\r\n',
  'HEADER_NUMRESULTS: 99999999999\r\n',
  'HEADER_START_RESULTS: 1\r\n',
  'HEADER_NUMFOUND: 2\r\n',
  'HEADER_URL: http://a.example/\r\n',
  'HEADER_URL: http://A.example:80/../x?q#f\r\n',
  'HEADER_URL: a.example:81\r\n',
  'HEADER_URL: http://a b/\r\n',
  'HEADER_CONTENT_LENGTH: 2\r\n',
  'X: y\r\n',
  '\r\n',
  '\r\n',
  '\r\n',
  '\n',
  '\r',
  ' ',
  'x',
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

function pieces(all: Uint8Array, size: number): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += size) out.push(all.subarray(at, at + size));
  return out;
}

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

t.test(
  'S-22: the fast path of requests gives the same as the slow path, for any input in any pieces',
  async (t) => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 200 }), (all, size) => {
        const wanted = JSON.stringify(requestsOf([all], false));
        for (const fast of [true, false])
          for (const length of [size, 1_000_000])
            if (JSON.stringify(requestsOf(pieces(all, length), fast)) !== wanted)
              throw new Error(`${fast} ${length}`);
      }),
      { numRuns: 600 },
    );
    t.pass('no difference');
  },
);

t.test('S-22: the fast path of replies gives the same, also at the limits', async (t) => {
  fc.assert(
    fc.property(
      stream,
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 10, max: 200 }),
      (all, size, maxHeaderLines, maxHeaderBytes) => {
        for (const limits of [{}, { maxHeaderLines }, { maxHeaderBytes }]) {
          const wanted = JSON.stringify(decoded('reply', [all], { fast: false, ...limits }));
          for (const fast of [true, false])
            for (const length of [size, 1_000_000]) {
              const got = JSON.stringify(decoded('reply', pieces(all, length), { fast, ...limits }));
              if (got !== wanted) throw new Error(`${fast} ${length}: ${got} instead of ${wanted}`);
            }
        }
      },
    ),
    { numRuns: 400 },
  );
  t.pass('no difference');
});

t.test('S-37: parseRequest refuses a body for a request without a body', async (t) => {
  const { number: code } = CODES.references;
  const message = { code, headers: [['HEADER_URI_ID', '1'] as const], body: bytes('x') };
  t.equal(
    broken(() => parseRequest(message)),
    'S-37',
  );
});
