// Tests the codec of SSTP: codes, messages, replies to requests.
import fc from 'fast-check';
import t from 'tap';
import {
  codeBySymbol,
  codeEntry,
  encodeSstp,
  NO_BODY,
  parseLinkReply,
  parseUrlDescription,
  ReplyWriter,
  SstpDecoder,
  type SstpHeader,
} from '../../../protocols/sstp/index.js';
import { assertProperty } from '../../helpers/property.js';
import { brokenRule, bytes, decodeAll, decodeOne, pieces } from './decoding.js';

t.test('P-01, S-7, S-24: the published codes, by number and name, and on the wire', async (t) => {
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
    t.equal(decodeOne('request', wire).code, code);
    t.equal(codeEntry(code)?.symbol, symbol);
  }
  for (const unused of [4, 5, 9]) t.equal(codeEntry(unused), undefined);
});

t.test('P-22: both spellings of request 008 are one code', async (t) => {
  t.equal(codeBySymbol('REQ_GET_URLBYNAME')?.number, 8);
  t.equal(codeBySymbol('REQ_GET_URL_BYNAME')?.number, 8);
});

t.test('S-28, S-43: the examples of section 10 are encoded and decoded byte for byte', async (t) => {
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
    const message = decodeOne('reply', wire);
    t.same(message.headers, headers);
    t.equal(Buffer.from(message.body).toString('latin1'), body);
  }
});

t.test('R-25, S-9, S-24: the replies of S6, S10 and S-52 are written byte for byte', async (t) => {
  const writer = new ReplyWriter();
  const output = () => Buffer.from(writer.take()).toString('latin1');
  writer.writeLinks(81, 3, 1, Uint32Array.of(11, 20, 12), 1, 2);
  t.equal(
    output(),
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 3\r\nHEADER_START_RESULTS: 1\r\nHEADER_NUMRESULTS: 1\r\nHEADER_URI_ID: 20\r\n\r\n',
  );
  writer.writeLinks(84, 2, 0, Uint32Array.of(20, 12), 0, 2);
  t.equal(
    output(),
    'SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_NUMFOUND: 2\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 2\r\nHEADER_URI_ID: 20\r\nHEADER_URI_ID: 12\r\n\r\n',
  );
  writer.writeLinks(82, 0, 0, new Uint32Array(0), 0, 0);
  t.equal(
    output(),
    'SSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_NUMFOUND: 0\r\nHEADER_START_RESULTS: 0\r\nHEADER_NUMRESULTS: 0\r\n\r\n',
  );
  writer.writeLinks(81, 3, 1, Uint32Array.of(11, 20, 12), 1, 2, 4_294_967_295);
  t.equal(
    output(),
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_NUMFOUND: 3\r\nHEADER_START_RESULTS: 1\r\nHEADER_NUMRESULTS: 1\r\nHEADER_GENERATION: 4294967295\r\nHEADER_URI_ID: 20\r\n\r\n',
  );
  writer.writeNotFound(7);
  t.equal(output(), 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\nHEADER_GENERATION: 7\r\n\r\n');
  writer.writeNotFound();
  t.equal(output(), 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n');
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
    output(),
    'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URI_ID: 12\r\nHEADER_SERVER_ID: 2\r\nHEADER_SERVER_PROTOCOL: http\r\nHEADER_SERVER_NAME: a.example\r\nHEADER_SERVER_PORT: 81\r\nHEADER_URI: /\r\nHEADER_URI_TIME: 1000000120\r\nHEADER_URL_CHECKTIME: 1000001200\r\nHEADER_URI_LEN: 1200\r\n\r\n',
  );
  writer.writeBody(17, bytes('192.168.3.*\n*.turtle.ru\n'));
  t.equal(
    output(),
    'SSTP/1.0 017 REQ_GET_ALLOW\r\nHEADER_CONTENT_LENGTH: 24\r\n\r\n192.168.3.*\n*.turtle.ru\n',
  );
  t.notOk(writer.closes);
  writer.writeError(501);
  t.notOk(writer.closes, 'S-39: 501 does not close');
  writer.writeError(503);
  t.ok(writer.closes, 'S-39: 503 closes');
  t.equal(output(), 'SSTP/1.0 501 NOT IMPLEMENTED\r\n\r\nSSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n');
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

t.test('P-19, P-20, S-42: replies to a link request are parsed', async (t) => {
  const found0 = 'SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 0\r\n\r\n';
  const notFound = 'SSTP/1.0 404 X\r\nHEADER_NUMFOUND: 0\r\n\r\n';
  const both = [found0, notFound].map((text) => parseLinkReply(decodeOne('reply', text), 81));
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
  t.same(parseLinkReply(decodeOne('reply', mixed), 81), {
    found: 9,
    start: 2,
    ids: Uint32Array.of(5, 3, 4),
    known: true,
  });
  const [message] = new SstpDecoder('reply').push(bytes(mixed));
  t.same(parseLinkReply(message!, 81).ids, Uint32Array.of(5, 3, 4), 'the fast path too');
  for (const code of ['400', '403', '500', '501', '082'])
    t.throws(() => parseLinkReply(decodeOne('reply', `SSTP/1.0 ${code} X\r\n\r\n`), 81), {
      code: 'ERR_PEER',
      status: Number(code),
    });
  const empty = 'SSTP/1.0 081 X\r\n\r\n';
  const miscounted = 'SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 1\r\nHEADER_NUMRESULTS: 1\r\n\r\n';
  for (const text of [empty, miscounted])
    t.equal(
      brokenRule(() => parseLinkReply(decodeOne('reply', text), 81)),
      'R-24',
    );
  const cut = 'SSTP/1.0 008 X\r\nHEADER_URI_ID: 1\r\n\r\n';
  t.equal(
    brokenRule(() => parseUrlDescription(decodeOne('reply', cut))),
    'R-33',
  );
  t.equal(parseUrlDescription(decodeOne('reply', notFound)), undefined);
});

t.test('R-24, S-35, S-42: what a client accepts in a reply, and refuses', async (t) => {
  const reply = (...headers: readonly string[]) =>
    parseLinkReply(decodeOne('reply', ['SSTP/1.0 081 X', ...headers, '', ''].join('\r\n')), 81);
  const found = 'HEADER_NUMFOUND: 3';
  const idsOf = (...headers: readonly string[]) => [...reply(found, ...headers).ids];
  t.same(idsOf('HEADER_URI_ID: 5'), [5], 'HEADER_NUMRESULTS is missing');
  t.same(idsOf('HEADER_START_RESULTS: 3', 'HEADER_NUMRESULTS: 1', 'HEADER_URI_ID: 5'), [5], 'counted from 1');
  t.match(reply(found, 'HEADER_START_RESULTS: 9', 'HEADER_NUMRESULTS: 0'), { found: 3, start: 9 });
  for (const wrong of [
    ['HEADER_URI_ID: 0'],
    ['HEADER_URI_ID: 7', 'HEADER_URI_ID: 000', 'X: y', 'HEADER_URI_ID: 8'],
  ])
    t.equal(
      brokenRule(() => idsOf(...wrong)),
      'R-24',
      `${wrong}: 0 is no ID`,
    );
  t.equal(
    brokenRule(() => reply('HEADER_NUMFOUND: 0', 'HEADER_URI_ID: 7')),
    'R-24',
  );
  const error = 'SSTP/1.0 501 X\r\nHEADER_CONTENT_LENGTH: 3\r\n\r\nabc';
  const [first, second] = new SstpDecoder('reply').push(bytes(`${error}SSTP/1.0 404 X\r\n\r\n`));
  t.throws(() => parseLinkReply(first!, 81), { code: 'ERR_PEER', status: 501 }, 'its body is dropped');
  t.match(parseLinkReply(second!, 81), { found: 0, known: false });
});

t.test('S-28: encoding an impossible message throws a RangeError or TypeError', async (t) => {
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

t.test('S-27: an encoded message decodes to the same message, in any pieces (property)', async (t) => {
  assertProperty(
    fc.property(
      fc.integer({ min: 0, max: 999 }).filter((code) => codeEntry(code)?.bodyless !== true),
      fc.array(fc.tuple(name, value), { maxLength: 20 }),
      fc.uint8Array({ maxLength: 50 }),
      fc.integer({ min: 1, max: 30 }),
      (code, headers, body, size) => {
        const wire = encodeSstp({ code, headers, body });
        const { messages, error } = decodeAll('reply', pieces(wire, size));
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
