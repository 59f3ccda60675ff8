// Tests the SSTP sessions of server and client, the choice of the protocol, and the names of servers and
// documents.
import t from 'tap';
import {
  chooseProtocol,
  kindOfCode,
  type ServerRequest,
  SstpClientSession,
  SstpServerSession,
} from '../../../protocols/sstp/index.js';
import {
  canonicalDocumentUrl,
  documentUrlParts,
  formatServerName,
  serverNameOf,
} from '../../../protocols/urls/index.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const text = (data: Uint8Array) => Buffer.from(data).toString('latin1');
const requestFor = (id: number) => `SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: ${id}\r\n\r\n`;

/** Answers every link request with its own ID as the only result. */
function serve(session: SstpServerSession): ServerRequest[] {
  const requests: ServerRequest[] = [];
  for (let next = session.next(); next !== undefined; next = session.next()) {
    requests.push(next);
    if (kindOfCode(81) === next.kind && 'id' in next)
      session.replies.writeLinks(81, 1, 0, Uint32Array.of(next.id), 0, 1);
  }
  return requests;
}

t.test('P-23: a thousand pipelined requests are answered in order, in chunks of any size', async (t) => {
  const all = bytes(Array.from({ length: 1000 }, (_, i) => requestFor(i + 1)).join(''));
  const expected = Array.from({ length: 1000 }, (_, i) => i + 1);
  for (const size of [1, 7, 1000, all.length]) {
    const session = new SstpServerSession();
    for (let offset = 0; offset < all.length; offset += size) {
      session.push(all.subarray(offset, offset + size));
      serve(session);
    }
    t.ok(session.idle);
    const out = text(session.replies.take());
    t.same(
      [...out.matchAll(/HEADER_URI_ID: (\d+)/g)].map(([, id]) => Number(id)),
      expected,
      `in chunks of ${size}`,
    );
  }
});

t.test('S-39: requests stay pending until next() is called', async (t) => {
  const session = new SstpServerSession();
  session.push(bytes(requestFor(1) + requestFor(2)));
  t.match(session.next(), { id: 1 });
  t.notOk(session.idle);
  session.push(bytes(requestFor(3)));
  t.match(session.next(), { id: 2 });
  t.match(session.next(), { id: 3 });
  t.equal(session.next(), undefined);
  t.ok(session.idle);
});

t.test('P-13: after a half-close every complete request is answered, an incomplete one is not', async (t) => {
  const session = new SstpServerSession();
  session.push(bytes(`${requestFor(1)}${requestFor(2)}SSTP/1.0 0`));
  session.end();
  t.notOk(session.closing);
  t.equal(serve(session).length, 2);
  t.ok(session.closing);
  t.equal([...text(session.replies.take()).matchAll(/SSTP/g)].length, 2);
});

t.test('P-17, P-18, S-39: after 501 the session continues, 400 and 505 end it', async (t) => {
  const session = new SstpServerSession();
  session.push(
    bytes(
      `SSTP/1.0 006 X\r\nHEADER_CONTENT_LENGTH: 3\r\n\r\nabc${requestFor(1)}SSTP/1.0 081\r\n\r\n${requestFor(2)}`,
    ),
  );
  t.match(serve(session), [
    { kind: 'unserved', code: 6 },
    { kind: 'references', id: 1 },
    { kind: 'malformed', code: 400, error: { rule: 'R-21' } },
  ]);
  t.ok(session.closing);
  session.push(bytes(requestFor(3)));
  t.equal(session.next(), undefined);
  const lines = text(session.replies.take())
    .split('\r\n')
    .filter((line) => line.startsWith('SSTP'));
  t.same(lines, [
    'SSTP/1.0 501 NOT IMPLEMENTED',
    'SSTP/1.0 081 REQ_GET_REFERENCES',
    'SSTP/1.0 400 BAD REQUEST',
  ]);
  const other = new SstpServerSession();
  other.push(bytes('SSTP/2.0 081 X\r\n'));
  t.match(serve(other), [{ kind: 'malformed', code: 505 }]);
  t.equal(text(other.replies.take()), 'SSTP/1.0 505 VERSION NOT SUPPORTED\r\n\r\n');
  t.ok(other.closing);
});

t.test('S-39: the client pairs replies with requests, and reports the end of the connection', async (t) => {
  const session = new SstpClientSession();
  session.request({ code: 81, headers: [['HEADER_URI_ID', '10']] });
  session.request({ code: 8, headers: [['HEADER_URL', 'http://a.example/']] });
  session.request({ code: 82, headers: [['HEADER_URI_ID', '1']] });
  t.equal(
    text(session.take()),
    'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 10\r\n\r\nSSTP/1.0 008 REQ_GET_URL_BYNAME\r\nHEADER_URL: http://a.example/\r\n\r\nSSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_URI_ID: 1\r\n\r\n',
  );
  t.equal(session.take().length, 0);
  t.equal(session.pending, 3);
  const replies = session.push(
    bytes('SSTP/1.0 081 X\r\nHEADER_NUMFOUND: 0\r\n\r\nSSTP/1.0 404 X\r\n\r\nSSTP'),
  );
  t.match(replies, [
    { requestCode: 81, message: { code: 81 } },
    { requestCode: 8, message: { code: 404 } },
  ]);
  t.match(session.push(bytes('/1.0 400 X\r\n\r\ngarbage')), [{ requestCode: 82, message: { code: 400 } }]);
  t.equal(session.refusal?.status, 400);
  t.throws(() => session.request({ code: 81, headers: [] }), { code: 'ERR_STATE' });
  for (const [reply, complete] of [
    ['', false],
    ['SSTP/1.0 404 X\r\n\r\n', true],
    ['SSTP/1.0 404 X\r\n\r\nSSTP', false],
  ] as const) {
    const closed = new SstpClientSession();
    closed.request({ code: 81, headers: [] });
    closed.push(bytes(reply));
    t.equal(closed.end(), complete, `closed after "${reply}"`);
  }
});

t.test('S-39, R-64: a reply without a request is an error, a refusal is not', async (t) => {
  t.throws(() => new SstpClientSession().push(bytes('SSTP/1.0 081 X\r\n\r\n')), { code: 'ERR_PROTOCOL' });
  const refused = new SstpClientSession();
  t.same(refused.push(bytes('SSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n')), []);
  t.equal(refused.refusal?.status, 503);
});

function chosenByteByByte(octets: Uint8Array): string {
  for (let length = 1; length <= octets.length; length++) {
    const choice = chooseProtocol(octets.subarray(0, length));
    if (choice !== 'undecided') return choice;
  }
  return 'undecided';
}

t.test('P-15, P-16, S-48: the first bytes choose the protocol, also byte by byte', async (t) => {
  const cases: readonly [string, string][] = [
    ['SSTP/1.0 081', 'sstp'],
    ['SSTP/', 'sstp'],
    ['GET /stat HTTP/1.0\r\n', 'http'],
    ['S-METHOD / HTTP/1.1\n', 'http'],
    ['GET /stat\r\n', 'neither'],
    ['GET  / HTTP/1.0\r\n', 'neither'],
    ['GET / HTTP/1.0 \r\n', 'neither'],
    ['\r\n', 'neither'],
    ['sstp/1.0 081\r\n', 'neither'],
    ['\x16\x03\x01', 'neither'],
    ['SST\r\n', 'neither'],
    [`GET /${'x'.repeat(9000)}`, 'neither'],
    ['GET /\x01 HTTP/1.0\r\n', 'neither'],
    ['GET /\x7f HTTP/1.0\r\n', 'neither'],
    ['GET /\rx HTTP/1.0\r\n', 'neither'],
    ['GET /\xe9 HTTP/1.0\r\n', 'http'],
    [`${'M'.repeat(32)} / HTTP/1.0\r\n`, 'http'],
    [`${'M'.repeat(33)} / HTTP/1.0\r\n`, 'neither'],
    [`GET /${'x'.repeat(8178)} HTTP/1.0\n`, 'http'],
    [`GET /${'x'.repeat(8179)} HTTP/1.0\n`, 'neither'],
  ];
  for (const [start, expected] of cases) {
    const octets = Buffer.from(start, 'latin1');
    t.equal(chooseProtocol(octets), expected, JSON.stringify(start.slice(0, 30)));
    t.equal(chosenByteByByte(octets), expected, `byte by byte: ${JSON.stringify(start.slice(0, 30))}`);
  }
  for (const start of ['', 'S', 'SSTP', 'GET', 'GET / HTTP/1.0', 'GET / HTTP/1.0\r'])
    t.equal(chooseProtocol(bytes(start)), 'undecided', JSON.stringify(start));
});

t.test('R-38, R-39, R-40: a server name is parsed from a host or a URL', async (t) => {
  const cases: readonly [string, string][] = [
    ['a.example', 'a.example:80'],
    ['a.example:81', 'a.example:81'],
    ['a.example/x', 'a.example:80'],
    ['A.Example./x?y#z', 'a.example:80'],
    ['http://b.example/lonely?q#f', 'b.example:80'],
    ['https://b.example', 'b.example:443'],
    ['ftp://b.example/', 'b.example:21'],
    ['http://b.example:0443/', 'b.example:443'],
    ['b\u00fccher.example', 'xn--bcher-kva.example:80'],
    ['[::1]:81', '[::1]:81'],
  ];
  for (const [input, expected] of cases) t.equal(formatServerName(serverNameOf(input)), expected, input);
  for (const bad of '| |http://|a b|http://u:p@a.example|a.example:99999|wais://a.example|...'.split('|'))
    t.throws(() => serverNameOf(bad), { code: 'ERR_PROTOCOL' }, JSON.stringify(bad));
});

t.test('R-41, R-42: the canonical URL of a document', async (t) => {
  const cases: readonly [string, string][] = [
    ['http://A.example:80', 'http://a.example/'],
    ['HTTP://a.example./x/../y#f', 'http://a.example/y'],
    ['http://a.example:81/', 'http://a.example:81/'],
    ['http://a.example/?q=%7e&r', 'http://a.example/?q=%7e&r'],
    ['http://a.example/a/%2e%2e/b', 'http://a.example/b'],
    ['http://a.example/a/./b', 'http://a.example/a/b'],
    ['http://a.example/a//b/', 'http://a.example/a//b/'],
    ['http://a.example/a b', 'http://a.example/a%20b'],
    ['http://127.1/', 'http://127.0.0.1/'],
    ['https://a.example:443/x', 'https://a.example/x'],
    ['http://\u0430.example/', 'http://xn--80a.example/'],
    ['http://0../', 'http://0.0.0.0/'],
  ];
  for (const [input, expected] of cases) {
    t.equal(canonicalDocumentUrl(input), expected, input);
    t.equal(canonicalDocumentUrl(expected), expected, `${expected} is canonical`);
    t.equal(new URL(expected).href, expected, `${expected} is canonical for the URL standard`);
  }
  for (const bad of [
    '',
    'a.example',
    '/x',
    'mailto:x@y',
    'http://u@a.example/',
    'http:///',
    'http://1.2.3.999../',
  ])
    t.throws(() => canonicalDocumentUrl(bad), { code: 'ERR_PROTOCOL' }, JSON.stringify(bad));
  t.same(documentUrlParts('http://a.example:81/x?y#z'), {
    host: 'a.example',
    port: 81,
    scheme: 'http',
    path: '/x?y',
  });
});
