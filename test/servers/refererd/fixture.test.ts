// The requests and replies of section R13, over TCP.
import t from 'tap';
import { exchange, serveFixture } from './helpers.js';

/** Returns a request with this code and these headers, which are given without `HEADER_`. */
function request(code: string, ...headers: string[]): string {
  return `SSTP/1.0 ${code} X\r\n${headers.map((header) => `HEADER_${header}\r\n`).join('')}\r\n`;
}

/** Returns the reply of a link request: the number found, the first position, the IDs. */
function linkReply(code: string, found: number, start: number, ids: readonly number[]): string {
  const symbols: Record<string, string> = {
    '081': 'REQ_GET_REFERENCES',
    '082': 'REQ_GET_REFERERS',
    '083': 'REQ_GET_SITEREFERENCES',
    '084': 'REQ_GET_SITEREFERERS',
  };
  return [
    `SSTP/1.0 ${code} ${symbols[code]}`,
    `HEADER_NUMFOUND: ${found}`,
    `HEADER_START_RESULTS: ${start}`,
    `HEADER_NUMRESULTS: ${ids.length}`,
    ...ids.map((id) => `HEADER_URI_ID: ${id}`),
    '',
    '',
  ].join('\r\n');
}

const NOT_FOUND = 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n';
const BAD = 'SSTP/1.0 400 BAD REQUEST\r\n\r\n';

/** The cases of section R13, and two more. */
const CASES: readonly (readonly [name: string, request: string, reply: string])[] = [
  ['F-01', request('081', 'URI_ID: 10'), linkReply('081', 3, 0, [11, 20, 12])],
  ['F-02', request('082', 'URI_ID: 10'), linkReply('082', 3, 0, [11, 20, 12])],
  ['F-03', request('082', 'URI_ID: 20'), linkReply('082', 2, 0, [10, 11])],
  ['F-04', request('081', 'URL: http://A.example:80'), linkReply('081', 3, 0, [11, 20, 12])],
  ['F-05', request('081', 'URI_ID: 10', 'URL: http://b.example/'), linkReply('081', 3, 0, [11, 20, 12])],
  ['F-06', request('081', 'URI_ID: 0', 'URL: http://b.example/'), linkReply('081', 1, 0, [10])],
  ['F-07', request('081', 'URI_ID: 10', 'NUMRESULTS: 1', 'START_RESULTS: 1'), linkReply('081', 3, 1, [20])],
  ['F-08', request('081', 'URI_ID: 10', 'START_RESULTS: 5'), linkReply('081', 3, 5, [])],
  ['F-09', request('081', 'URI_ID: 10', 'NUMRESULTS: 0'), linkReply('081', 3, 0, [])],
  ['F-10', request('081', 'URI_ID: 21'), linkReply('081', 0, 0, [])],
  ['F-11', request('081', 'URI_ID: 99'), NOT_FOUND],
  ['F-12', request('082', 'URL: http://nowhere.example/'), NOT_FOUND],
  ['F-13', request('081'), BAD],
  ['F-14', request('083', 'SERVER_ID: 1'), linkReply('083', 2, 0, [20, 12])],
  ['F-15', request('084', 'SERVER_ID: 1'), linkReply('084', 2, 0, [20, 12])],
  ['F-16, C-24', request('083', 'URL: a.example:81'), linkReply('083', 2, 0, [10, 11])],
  ['F-17', request('084', 'URL: http://b.example/lonely?q#f'), linkReply('084', 2, 0, [10, 11])],
  ['F-18', request('084', 'SERVER_ID: 3', 'URL: a.example'), linkReply('084', 2, 0, [10, 11])],
  ['F-19', request('084', 'URL: c.example'), NOT_FOUND],
  [
    'F-20',
    request('008', 'URL: http://a.example:81/'),
    [
      'SSTP/1.0 008 REQ_GET_URL_BYNAME',
      'HEADER_URI_ID: 12',
      'HEADER_SERVER_ID: 2',
      'HEADER_SERVER_PROTOCOL: http',
      'HEADER_SERVER_NAME: a.example',
      'HEADER_SERVER_PORT: 81',
      'HEADER_URI: /',
      'HEADER_URI_TIME: 1000000120',
      'HEADER_URL_CHECKTIME: 1000001200',
      'HEADER_URI_LEN: 1200',
      '',
      '',
    ].join('\r\n'),
  ],
  ['F-21', request('008'), BAD],
  ['R-34: unknown URL', request('008', 'URL: http://nowhere.example/'), NOT_FOUND],
  ['R-27: unknown server', request('083', 'SERVER_ID: 9'), NOT_FOUND],
];

t.test('C-01, R-24 to R-34: each case of the fixture, byte for byte', async (t) => {
  const { address } = await serveFixture(t);
  for (const [name, request, reply] of CASES) {
    t.equal(await exchange(t, address.port, request), reply, name);
  }
});

t.test('S-39, P-23: pipelined requests get their replies in order', async (t) => {
  const { address } = await serveFixture(t);
  // A bad request closes the connection.
  const valid = CASES.filter(([, , reply]) => reply !== BAD);
  const rounds = 50;
  const requests = valid
    .map(([, request]) => request)
    .join('')
    .repeat(rounds);
  const replies = valid
    .map(([, , reply]) => reply)
    .join('')
    .repeat(rounds);
  t.equal(await exchange(t, address.port, requests), replies);
});

t.test('S-46, P-17, P-18: unknown request codes and major versions are refused', async (t) => {
  const { address } = await serveFixture(t);
  const send = (text: string) => exchange(t, address.port, text);
  for (const code of ['001', '006', '999']) {
    t.equal(await send(`SSTP/1.0 ${code} X\r\n\r\n`), 'SSTP/1.0 501 NOT IMPLEMENTED\r\n\r\n', code);
  }
  t.equal(
    await send('SSTP/2.0 081 X\r\nHEADER_URI_ID: 10\r\n\r\n'),
    'SSTP/1.0 505 VERSION NOT SUPPORTED\r\n\r\n',
  );
  t.equal(await send('SSTP/1.7 081 X\r\nHEADER_URI_ID: 20\r\n\r\n'), linkReply('081', 1, 0, [10]));
});
