// Tests which requests are accepted, and the rule of each refusal.
import t from 'tap';
import { CODES, linkRequestMessage, parseRequest, requestedName } from '../../../protocols/sstp/index.js';
import { brokenRule, bytes, decodeOne, requestsIn, ruleOfRequest } from './decoding.js';

t.test('P-03, P-04, P-05, P-06: phrase, case, bare LF and unknown headers have no effect', async (t) => {
  const expected = { kind: 'references', id: 10, name: '', start: 0, count: 2 };
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
    t.same(requestsIn(text), [expected], JSON.stringify(text));
  }
});

t.test('S-36: a URL that is not UTF-8 is percent-encoded byte by byte, so that two stay two', (t) => {
  const nameOf = (url: string) => requestsIn(`SSTP/1.0 081 X\r\nHEADER_URL: http://a.test/${url}\r\n\r\n`);
  t.match(nameOf('\xe9'), [{ name: 'http://a.test/%E9' }]);
  t.match(nameOf('\xe8'), [{ name: 'http://a.test/%E8' }]);
  t.match(nameOf('\xc3\xa9'), [{ name: 'http://a.test/%C3%A9' }]);
  t.match(nameOf('?{x}'), [{ name: 'http://a.test/?{x}' }]);
  t.end();
});

t.test('P-05, P-10, S-28, S-36, S-46: a malformed message is refused with its rule', async (t) => {
  const head = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
  t.equal(ruleOfRequest('SSTP/1.0 081 X\rHEADER_URI_ID: 1\r\n\r\n'), 'S-30');
  t.equal(ruleOfRequest('SSTP/1.0 081 X\r\r\n\r\n'), 'S-30');
  t.equal(ruleOfRequest(`${head} folded: 1\r\n\r\n`), 'S-32');
  t.equal(ruleOfRequest(`${head}\tfolded\r\n\r\n`), 'S-32');
  t.equal(ruleOfRequest(`${head}no colon\r\n\r\n`), 'S-32');
  t.equal(ruleOfRequest(`${head}: empty\r\n\r\n`), 'S-32');
  t.equal(ruleOfRequest(`${head}HEADER_URL : x\r\n\r\n`), 'S-32');
  t.equal(ruleOfRequest(`${head}HEADER_URL: a\0b\r\n\r\n`), 'S-36');
  for (const start of (
    '|GET / HTTP/1.0|sstp/1.0 081|SSTP/1.0 81 X|SSTP/1.0  081|SSTP/1.0 0811|SSTP/1 081|' + 'SSTP/1.0 081X'
  ).split('|'))
    t.equal(ruleOfRequest(`${start}\r\n\r\n`), 'S-28', start);
  for (const start of ['SSTP/1.0\t081 X', 'SSTP/1.0x', 'SSTP/2', 'SSTP/2.'])
    t.equal(ruleOfRequest(`${start}\r\n\r\n`), 'S-28', start);
  for (const start of ['SSTP/2.0 081 X', 'SSTP/0.9 081 X', 'SSTP/10.0 whatever', 'SSTP/2.0'])
    t.equal(ruleOfRequest(`${start}\r\n`), 'S-46', start);
});

t.test('S-28, S-46: what is a version, and which is served', async (t) => {
  for (const version of ['1.0', '01.0', '1.00', '001.7', '1.99999999999999999999'])
    t.match(requestsIn(`SSTP/${version} 081\r\nHEADER_URI_ID: 1\r\n\r\n`), [{ id: 1 }], version);
  const long = `2.0 ${'x'.repeat(300)}`;
  const cases: readonly (readonly [version: string, rule: string])[] = [
    ...['2', '1', '1.', '.0', '2.0x', '2.0\t081', '1.0.0 081', '-1.0 081', '2.0\x01'].map(
      (text) => [text, 'S-28'] as const,
    ),
    ...['2.0', '02.0 X', '0.1 081', '99999999999999999999.0'].map((text) => [text, 'S-46'] as const),
    [long, 'S-38'],
  ];
  for (const [version, rule] of cases) t.equal(ruleOfRequest(`SSTP/${version}\r\n`), rule, version);
});

t.test('S-33, S-36: octets and names are checked in every header, known or not', async (t) => {
  const head = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n';
  for (const [line, rule] of [
    ['HEADER_NUMFOUND: a\x07', 'S-36'],
    ['X_A: a\x7f', 'S-36'],
    ['X_A: a\rb', 'S-30'],
    ['X-A: 1', 'S-32'],
    ['X A: 1', 'S-32'],
    ['HEADER_CONTENT_LENGTH: 0\r\nHEADER_CONTENT_LENGTH: 0', 'S-33'],
  ] as const)
    t.equal(ruleOfRequest(`${head}${line}\r\n\r\n`), rule, line);
  t.match(requestsIn(`${head}HEADER_NUMFOUND: -1\r\nHEADER_NUMFOUND: x\t\xff\r\n\r\n`), [{ id: 1 }]);
});

t.test('S-36, R-41: a client writes a URL in visible ASCII, whatever its user typed', async (t) => {
  const sent = (url: string) => linkRequestMessage({ kind: 'references', url }).headers[0]?.[1];
  for (const url of ['http://a.example/%7e?q#f', 'a.example:81', '::::', 'HTTP://A/..'])
    t.equal(sent(url), url, 'ASCII is unchanged');
  for (const url of [
    'http://ä.example/ä b?é=\u{1f600}',
    ' http://a.example/\ta\ud800 ',
    '\x01http://a.example/\x02\n\x7f?\x03 ',
    'бюро.example',
  ]) {
    const ascii = sent(url) ?? '';
    t.match(ascii, /^[\x21-\x7e]+$/, url);
    const kind = url.includes('://') ? 'references' : 'site-references';
    t.equal(requestedName(kind, ascii), requestedName(kind, url), 'the server reads the same URL');
  }
});

t.test('P-07, P-08, P-09: repeated values, numbers out of range and ID 0 are refused', async (t) => {
  const head = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
  t.same(requestsIn(`${head}HEADER_URI_ID: 1\r\nHEADER_URI_ID: 1\r\n\r\n`), ['S-33']);
  t.same(requestsIn(`${head}HEADER_URI_ID: 1\r\nHEADER_NUMRESULTS: 1\r\nheader_numresults: 1\r\n\r\n`), [
    'S-33',
  ]);
  t.match(requestsIn(`${head}HEADER_URI_ID: 4294967295\r\n\r\n`), [{ id: 4294967295 }]);
  for (const value of ['4294967296', '-1', '', '+1', '1 2', '0x1', '99999999999999999999'])
    t.same(requestsIn(`${head}HEADER_URI_ID: ${value}\r\n\r\n`), ['S-34'], value);
  t.same(requestsIn(`${head}HEADER_URI_ID: 0\r\n\r\n`), ['R-21']);
  t.match(requestsIn(`${head}HEADER_URI_ID: 0\r\nHEADER_URL: http://b.example/\r\n\r\n`), [
    { id: 0, name: 'http://b.example/' },
  ]);
  t.same(requestsIn(`${head}\r\n`), ['R-21']);
  t.match(
    requestsIn(`${head}HEADER_URI_ID: 5\r\nHEADER_URL: ::not a url::\r\n\r\n`),
    [{ id: 5, name: '' }],
    'R-22',
  );
  t.same(requestsIn(`${head}HEADER_URL: not a url\r\n\r\n`), ['R-23']);
  t.same(requestsIn(`${head}HEADER_URL: http://u:p@a.example/\r\n\r\n`), ['R-41']);
  t.same(requestsIn('SSTP/1.0 008 X\r\n\r\n'), ['R-33']);
  t.same(requestsIn('SSTP/1.0 008 X\r\nHEADER_URL: HTTP://A.example:80\r\nHEADER_NUMRESULTS: x\r\n\r\n'), [
    { kind: 'url-by-name', url: 'http://a.example/' },
  ]);
  t.match(requestsIn('SSTP/1.0 083 X\r\nHEADER_URI_ID: 7\r\nHEADER_URL: a.example:81\r\n\r\n'), [
    { kind: 'site-references', id: 0, name: 'a.example:81' },
  ]);
  t.same(requestsIn('SSTP/1.0 999 X\r\n\r\nSSTP/1.0 001 X\r\n\r\n'), [
    { kind: 'unserved', code: 999 },
    { kind: 'unserved', code: 1 },
  ]);
});

t.test('S-33, S-34: HEADER_GENERATION requests the number of the data; it is single and a u32', async (t) => {
  const head = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 1\r\n';
  for (const fast of [true, false]) {
    t.match(requestsIn(`${head}HEADER_GENERATION: 0\r\n\r\n`, { fast }), [{ id: 1, generation: true }]);
    t.match(requestsIn(`${head}header_generation:4294967295\r\n\r\n`, { fast }), [{ generation: true }]);
    t.same(requestsIn(`${head}HEADER_GENERATION: 4294967296\r\n\r\n`, { fast }), ['S-34']);
    t.same(requestsIn(`${head}HEADER_GENERATION: 1\r\nHEADER_GENERATION: 1\r\n\r\n`, { fast }), ['S-33']);
  }
  t.same(requestsIn('SSTP/1.0 008 X\r\nHEADER_URL: http://a.example/\r\nHEADER_GENERATION: x\r\n\r\n'), [
    { kind: 'url-by-name', url: 'http://a.example/' },
  ]);
});

t.test('P-11, S-37: the limits of S-38 hold, at the limit and beyond it', async (t) => {
  const head = 'SSTP/1.0 081 X\r\n';
  t.equal(ruleOfRequest(`SSTP/1.0 081 ${'x'.repeat(256 - 13)}\r\n\r\n`), undefined);
  t.equal(ruleOfRequest(`SSTP/1.0 081 ${'x'.repeat(257 - 13)}\r\n\r\n`), 'S-38');
  t.equal(ruleOfRequest(`${head}X: ${'x'.repeat(8192 - 3)}\r\n\r\n`), undefined);
  t.equal(ruleOfRequest(`${head}X: ${'x'.repeat(8193 - 3)}`), 'S-38', 'refused before the line ends');
  t.equal(ruleOfRequest(`${head}${'X: y\r\n'.repeat(64)}\r\n`), undefined);
  t.equal(ruleOfRequest(`${head}${'X: y\r\n'.repeat(65)}`), 'S-38');
  const long = `X: ${'x'.repeat(8187)}\r\n`;
  t.equal(long.length, 8192);
  t.equal(ruleOfRequest(`${head}${long.repeat(8)}\r\n`), undefined);
  t.equal(ruleOfRequest(`${head}${long.repeat(8)}X`), 'S-38');
  for (const end of ['\r\n', '\n']) {
    const line = (octets: number) => `X: ${'x'.repeat(octets - 3 - end.length)}${end}`;
    t.equal(ruleOfRequest(`${head}${long.repeat(7)}${line(8192)}\r\n`), undefined, 'a block of 65536 octets');
    t.equal(ruleOfRequest(`${head}${long.repeat(7)}${line(8193)}\r\n`), 'S-38', 'the end of a line counts');
  }
  const url = (length: number) => `http://a.example/${'x'.repeat(length - 17)}`;
  t.match(requestsIn(`${head}HEADER_URL: ${url(4096)}\r\n\r\n`), [{ name: url(4096) }]);
  t.same(requestsIn(`${head}HEADER_URL: ${url(4097)}\r\n\r\n`), ['S-38']);
  t.equal(ruleOfRequest(`${head}HEADER_CONTENT_LENGTH: 1\r\n\r\nx`), 'S-37');
  t.equal(ruleOfRequest(`${head}HEADER_CONTENT_LENGTH: 0\r\n\r\n`), undefined);
  t.equal(ruleOfRequest(`${head}HEADER_CONTENT_LENGTH: 0\r\nHEADER_CONTENT_LENGTH: 0\r\n\r\n`), 'S-33');
  t.equal(ruleOfRequest('SSTP/1.0 006 X\r\nHEADER_CONTENT_LENGTH: 99999999\r\n\r\n'), 'S-38');
  const reply = `SSTP/1.0 081 X\r\n${'HEADER_URI_ID: 7\r\n'.repeat(100_000)}\r\n`;
  t.equal(decodeOne('reply', reply).headers.length, 100_000, 'a client accepts 100000 lines');
});

t.test('S-37: parseRequest refuses a body where the request has none', async (t) => {
  const { number: code } = CODES.references;
  const message = { code, headers: [['HEADER_URI_ID', '1'] as const], body: bytes('x') };
  t.equal(
    brokenRule(() => parseRequest(message)),
    'S-37',
  );
});
