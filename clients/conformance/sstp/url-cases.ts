// Cases about the octets and the forms of HEADER_URL (S-36, S-38, R-40, R-41): which are refused, and which are not.
import { must, type Procedure } from '../case.js';
import { bytes, printable } from '../printable.js';
import { checkServed, readReply, type SstpCase, type SstpContext } from './context.js';

/** A letter in UTF-8. */
const UMLAUT = '\xc3\xa4';

/** Hosts that no URL has. */
const BAD_HOSTS = [
  ...['a b', 'a%2fb', 'a%20b', 'a%23b', 'a^b', 'a|b', 'a<b', 'a>b', '%', '[::1', 'a:b', 'a:80x', 'a:65536'],
  ...['256.256.256.256', '1.2.3.4.5', '0x100000000'],
];
/** Texts without a scheme, or without a host. */
const NO_URLS = [
  'foo:a',
  'data:x',
  'urn:x:y',
  '1http://a/',
  'ht_tp://a/',
  '://a',
  'foo:///x',
  'http://?',
  'http://#',
];
/** URLs in odd forms. */
const ODD_URLS = [
  ...[
    'http://[::1]/',
    'http://1/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://a_b/',
    'http://a..b/',
    'http://a:/',
  ],
  ...[`http://${UMLAUT}.example/`, 'http://%C3%A4.example/', 'http://a.example/a b', 'http://a.example/%'],
  ...[
    'http://a.example/{"<>}`|^',
    'http://a.example/?a b',
    'foo://a.example',
    'gopher://a.example/',
    '\thttp://a/ ',
  ],
];
/** Names of sites in odd forms. */
const ODD_SITES = [
  ...[
    '[::1]',
    '[::1]:81',
    '1',
    '127.1',
    'a_b',
    `${UMLAUT}.example`,
    'a.example/a b',
    'a.example:',
    'a.example:65535',
  ],
  ...['gopher://a.example', 'foo://a.example:5', 'foo://a.example:5/x?y#z'],
];
/** URLs whose length is the largest one, as it is counted after the replacement of S-36. */
const LARGEST = [
  `http://a.example/${'x'.repeat(4_079)}`,
  `http://a.example/x${UMLAUT.repeat(2_039)}`,
  `http://a.example/x${'\xff'.repeat(1_359)}x`,
];
/** URLs that are longer by one octet, and one that is too long since a single octet of it is not UTF-8. */
const TOO_LONG = [
  `http://a.example/${UMLAUT.repeat(2_040)}`,
  `http://a.example/xx${'\xff'.repeat(1_359)}x`,
  `http://a.example/${UMLAUT.repeat(700)}\xff`,
];
/** Texts that are not UTF-8: a lone octet, a sequence that is cut, one that is too long, a surrogate. */
const NOT_UTF_8 = ['\xff', '\xe4', '\xc3', '\xc3x', '\xc0\xaf', '\xed\xa0\x80', `${UMLAUT}\xff`];

/** Requests that look at HEADER_URL. */
const DOCUMENTS = [81, 82, 8];
const SITES = [83, 84];

const requestOf = (code: number, value: string) =>
  `SSTP/1.0 ${String(code).padStart(3, '0')} X\r\nHEADER_URL: ${value}\r\n\r\n`;

/** The octets and the forms of URLs. */
export const urlCases: readonly SstpCase[] = [
  must('url/bad-hosts', 'R-41 R-40 R-23', 'project choice')
    .title('a host that no URL has is answered 400, in the URL of a document and in that of a site')
    .does(refused, [
      ...BAD_HOSTS.map((host) => requestOf(81, `http://${host}/`)),
      ...BAD_HOSTS.map((host) => requestOf(83, host)),
    ]),
  must('url/no-urls', 'R-41 R-23', 'project choice')
    .title('text without a scheme, or without a host, is answered 400 where a URL is needed')
    .does(
      refused,
      NO_URLS.flatMap((value) => [requestOf(82, value), requestOf(8, value)]),
    ),
  must('url/forms', 'R-41 R-39 R-34', 'project choice')
    .title('a URL in an odd form is a URL, and not refused')
    .does(served, DOCUMENTS, ODD_URLS),
  must('url/site-of-path', 'R-40 R-23', 'project choice')
    .title('a name of a site with :// in it is a URL, and answered 400 if it is not one')
    .does(
      refused,
      ['a.example/://', 'a.example?u=http://b.example/', 'a.example:80://'].flatMap((value) =>
        SITES.map((code) => requestOf(code, value)),
      ),
    ),
  must('url/site-forms', 'R-40 R-39 R-41', 'project choice')
    .title('a name of a site in an odd form, or of another scheme with a port, is not refused')
    .does(served, SITES, ODD_SITES),
  must('url/octets', 'S-36', 'project choice')
    .title('a URL that is not UTF-8 is read octet by octet, and not refused')
    .does(
      served,
      [...DOCUMENTS, ...SITES],
      NOT_UTF_8.map((octets) => `http://a.example/${octets}`),
    ),
  must('url/largest', 'S-38 S-36', 'project choice')
    .title(
      'a URL of 4096 octets is not refused, in ASCII, in UTF-8, and after the replacement of other octets',
    )
    .does(served, [...DOCUMENTS, ...SITES], LARGEST),
  must('url/too-long', 'S-38 S-36', 'project choice')
    .title('a URL of 4097 octets is answered 400, in UTF-8 and after the replacement of other octets')
    .does(
      refused,
      TOO_LONG.flatMap((value) => [81, 83, 8].map((code) => requestOf(code, value))),
    ),
  must('url/unused', 'R-22 S-38 S-36', 'seed; project choice')
    .title('a URL beside an ID may be as long as a header line, and hold any octets of a value')
    .run(async (context) => {
      for (const value of [
        'x'.repeat(8_180),
        `http://a.example/${'x'.repeat(5_000)}`,
        '\xff',
        'http://u:p@a/',
        '',
      ]) {
        const headers = `HEADER_URL: ${value}\r\nHEADER_URI_ID: 10\r\nHEADER_SERVER_ID: 1\r\n`;
        for (const code of [81, 82, ...SITES]) {
          const what = `${code} with an ID and the URL ${printable(bytes(value), 60)}`;
          checkServed(await context.ask(`SSTP/1.0 0${code} X\r\n${headers}\r\n`), code, what);
        }
      }
    }),
];

/** Sends requests that are answered 400. */
function refused(requests: readonly string[]): Procedure<SstpContext> {
  return async (context) => {
    for (const request of requests) await context.checkRefused(request, printable(bytes(request), 100));
  };
}

/** Asks for URLs, which are known or not, on one connection. */
function served(codes: readonly number[], values: readonly string[]): Procedure<SstpContext> {
  return async (context) => {
    const wire = await context.connect();
    for (const value of values) {
      for (const code of codes) {
        const what = `${code} of ${printable(bytes(value), 60)}`;
        await wire.send(requestOf(code, value));
        checkServed(await readReply(wire), code, what);
      }
    }
  };
}
