// Cases about requests that a References Server refuses. Each breaks one rule: a server that does not know this rule
// answers the request, so that the cause of a failure is decidable.
import { type ConformanceCase, must } from '../case.js';
import { PLAIN, type SstpCase, type SstpContext } from './context.js';

const HEAD = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
const SITE_HEAD = 'SSTP/1.0 083 REQ_GET_SITEREFERENCES\r\n';
const URL_HEAD = 'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\n';
const ID = 'HEADER_URI_ID: 10\r\n';
const SITE_ID = 'HEADER_SERVER_ID: 1\r\n';
const URL = 'HEADER_URL: http://a.example:81/\r\n';

type Row = readonly [name: string, what: string, rules: string, request: string];

const withHeaders = (headers: string) => `${HEAD}${headers}\r\n`;
/** A request that is valid but for these header lines. */
const beside = (lines: string) => `${HEAD}${lines}${ID}\r\n`;

const LINES: readonly Row[] = [
  ['bare-cr', 'a CR without LF', 'S-30 P-05', `SSTP/1.0 081 X\r${ID}\r\n`],
  ['twice', 'a header given twice', 'S-33 P-07', `${HEAD}${ID}${ID}\r\n`],
  ['too-large', 'a number above 4294967295', 'S-34 P-08', `${HEAD}HEADER_URI_ID: 4294967296\r\n\r\n`],
  ['negative', 'a number with a sign', 'S-34 P-08', `${HEAD}HEADER_URI_ID: -1\r\n\r\n`],
  ['no-digits', 'an empty number', 'S-34 P-08', `${HEAD}${ID}HEADER_NUMRESULTS:\r\n\r\n`],
  ['no-identifier', 'neither an ID nor a URL', 'R-21', `${HEAD}\r\n`],
  ['zero', 'an ID of 0, which is not valid', 'S-35 P-09', `${HEAD}HEADER_URI_ID: 0\r\n\r\n`],
  [
    'user-information',
    'a URL with user information',
    'R-41',
    `${HEAD}HEADER_URL: http://u:p@a.example/\r\n\r\n`,
  ],
  ['not-a-url', 'a malformed URL', 'R-23', `${HEAD}HEADER_URL: ::::\r\n\r\n`],
  ['folded', 'a folded line', 'S-32 P-10', `${HEAD}${ID} more\r\n\r\n`],
  ['no-colon', 'a line without a colon', 'S-32 P-10', `${HEAD}${ID}HEADER_URL\r\n\r\n`],
  ['no-name', 'a header without a name', 'S-32', `${HEAD}${ID}: x\r\n\r\n`],
  ['body', 'a body', 'S-37', `${HEAD}${ID}HEADER_CONTENT_LENGTH: 1\r\n\r\nx`],
  ['long-start', 'a start line of 300 octets', 'S-38 P-11', `SSTP/1.0 081 ${'x'.repeat(287)}\r\n${ID}\r\n`],
  ['long-line', 'a header line of 8200 octets', 'S-38 P-11', `${HEAD}${ID}X: ${'x'.repeat(8197)}\r\n\r\n`],
  ['many-lines', '65 header lines', 'S-38 P-11', `${HEAD}${ID}${'X: y\r\n'.repeat(64)}\r\n`],
  [
    'long-url',
    'a URL of 4097 octets',
    'S-38 P-11',
    `${HEAD}HEADER_URL: http://a.example/${'x'.repeat(4080)}\r\n\r\n`,
  ],
  ['garbage', 'a first line of no protocol', 'S-47 P-16', 'hello\r\n'],
  ['cr-in-phrase', 'a CR in the phrase', 'S-30', `SSTP/1.0 081 X\rY\r\n${ID}\r\n`],
  ['cr-in-value', 'a CR in the value of an unknown header', 'S-30', beside('X_NOTE: a\rb\r\n')],
  ['cr-in-name', 'a CR in the name of an unknown header', 'S-30 S-32', beside('X_\rNOTE: a\r\n')],
  ['cr-in-number', 'a CR in a number', 'S-30 S-34', withHeaders('HEADER_URI_ID: 1\r0\r\n')],
  ['cr-after-value', 'two CR before a LF', 'S-30', withHeaders('HEADER_URI_ID: 10\r\r\n')],
  ['cr-before-value', 'a CR before a value', 'S-30', withHeaders('HEADER_URI_ID:\r10\r\n')],
  [
    'cr-for-line-end',
    'a CR that ends the line of an unknown header',
    'S-30',
    withHeaders(`X_NOTE: a\r${ID}`),
  ],
  ['cr-for-empty-line', 'two CR in the empty line', 'S-30', `${HEAD}${ID}\r\r\n`],
  [
    'folded-unknown',
    'a folded line after an unknown header',
    'S-32 P-10',
    beside('X_NOTE: first\r\n second\r\n'),
  ],
  ['folded-tab', 'a folded line that begins with a tab', 'S-32', beside('X_NOTE: first\r\n\tsecond\r\n')],
  ['folded-number', 'a number in a folded line', 'S-32', withHeaders('HEADER_URI_ID:\r\n 10\r\n')],
  ['folded-header', 'an indented header', 'S-32', beside(' X_NOTE: a\r\n')],
  [
    'folded-first',
    'an indented header after an unknown one',
    'S-32',
    beside('X_NOTE: a\r\n HEADER_NUMRESULTS: 5\r\n'),
  ],
  ['folded-blank', 'a line of one blank', 'S-32', beside('X_NOTE: a\r\n \r\n')],
  ['folded-bare-lf', 'a folded line after LF alone', 'S-32 S-30', beside('X_NOTE: first\n second\n')],
  ['blank-before-colon', 'a blank before the colon', 'S-31 S-32', withHeaders('HEADER_URI_ID : 10\r\n')],
  ['tab-before-colon', 'a tab before the colon of an unknown header', 'S-31 S-32', beside('X_NOTE\t: a\r\n')],
  ['hyphen-in-name', 'a hyphen in the name of an unknown header', 'S-32', beside('X-Note: a\r\n')],
  ['blank-in-name', 'a blank in the name of an unknown header', 'S-32', beside('X NOTE: a\r\n')],
  ['dot-in-name', 'a dot in the name of an unknown header', 'S-32', beside('X.NOTE: a\r\n')],
  ['octet-in-name', 'an octet above 127 in the name of an unknown header', 'S-32', beside('X_\xe4: a\r\n')],
  ['word', 'a word without a colon', 'S-32 P-10', beside('X_NOTE\r\n')],
  ['equals-sign', 'an equals sign for the colon', 'S-32', beside('X_NOTE= a\r\n')],
  ['nul-in-value', 'a NUL in the value of an unknown header', 'S-36', beside('X_NOTE: a\0b\r\n')],
  [
    'control-in-value',
    'a control octet in the value of an unknown header',
    'S-36',
    beside('X_NOTE: a\x1bb\r\n'),
  ],
  ['delete-in-value', 'an octet 7F in the value of an unknown header', 'S-36', beside('X_NOTE: a\x7fb\r\n')],
];

const startLine = (start: string) => `${start}\r\n${ID}\r\n`;

const START_LINES: readonly Row[] = [
  ['two-spaces', 'two spaces before the code', 'S-28', startLine('SSTP/1.0  081 X')],
  ['tab-before-code', 'a tab before the code', 'S-28', startLine('SSTP/1.0\t081 X')],
  ['tab-after-code', 'a tab after the code', 'S-28', startLine('SSTP/1.0 081\tX')],
  ['two-digits', 'a code of two digits', 'S-28 S-5', startLine('SSTP/1.0 81 X')],
  ['four-digits', 'a code of four digits', 'S-28 S-5', startLine('SSTP/1.0 0081 X')],
  ['code-and-letter', 'a letter directly after the code', 'S-28', startLine('SSTP/1.0 081X')],
  ['sign-of-code', 'a sign before the code', 'S-28 S-5', startLine('SSTP/1.0 +81 X')],
  ['no-code', 'no code', 'S-28', startLine('SSTP/1.0')],
  ['no-minor', 'a version without a minor number', 'S-28', startLine('SSTP/1 081 X')],
  ['no-version', 'no number of the version', 'S-28', startLine('SSTP/ 081 X')],
  ['small-letters', 'the version in small letters', 'S-28 S-47', startLine('sstp/1.0 081 X')],
  ['capital-and-small', 'the version with one capital', 'S-28 S-47', startLine('Sstp/1.0 081 X')],
  ['blank-first', 'a blank before the version', 'S-28 S-47', startLine(' SSTP/1.0 081 X')],
  ['empty-line-first', 'an empty line before the request', 'S-28 S-47', `\r\n${PLAIN}`],
  ['http-without-version', 'a line of HTTP without a version', 'S-47', 'GET /stat\r\n\r\n'],
  ['nul-first', 'a NUL as the first octet', 'S-47', `\0${PLAIN}`],
];

const number = (value: string) => withHeaders(`HEADER_URI_ID: ${value}\r\n`);
const page = (header: string, value: string) => withHeaders(`${ID}HEADER_${header}: ${value}\r\n`);

const NUMBERS: readonly Row[] = [
  ['modulo-id', 'an ID that is 10 modulo 2^32', 'S-34', number('4294967306')],
  ['modulo-64', 'an ID that is 10 modulo 2^64', 'S-34', number('18446744073709551626')],
  ['many-digits', 'an ID of twenty digits', 'S-34', number('99999999999999999999')],
  [
    'modulo-server',
    'the ID of a server that is 1 modulo 2^32',
    'S-34',
    `${SITE_HEAD}HEADER_SERVER_ID: 4294967297\r\n\r\n`,
  ],
  ['modulo-results', 'a number of results that is 5 modulo 2^32', 'S-34', page('NUMRESULTS', '4294967301')],
  ['modulo-start', 'a start that is 0 modulo 2^32', 'S-34', page('START_RESULTS', '4294967296')],
  [
    'modulo-length',
    'a length of the body that is 0 modulo 2^32',
    'S-34 S-37',
    page('CONTENT_LENGTH', '4294967296'),
  ],
  ['plus', 'a number with a plus', 'S-34', number('+10')],
  ['minus-zero', 'a start of -0', 'S-34', page('START_RESULTS', '-0')],
  ['negative-results', 'a number of results below 0', 'S-34', page('NUMRESULTS', '-1')],
  ['negative-start', 'a start below 0', 'S-34', page('START_RESULTS', '-1')],
  ['decimal-point', 'a number with a decimal point', 'S-34', number('10.0')],
  ['exponent', 'a number with an exponent', 'S-34', number('1e1')],
  ['hexadecimal', 'a hexadecimal number', 'S-34', number('0x0a')],
  ['blank-in-number', 'a blank in a number', 'S-34', number('1 0')],
  ['two-numbers', 'two numbers with a comma', 'S-34', number('10,10')],
  ['letters-after-number', 'a letter after a number', 'S-34', number('10a')],
  ['word-for-number', 'a word for a number', 'S-34', page('NUMRESULTS', 'all')],
  ['no-start', 'an empty start', 'S-34', page('START_RESULTS', '')],
  ['wide-digits', 'digits outside of ASCII', 'S-34', number('\xef\xbc\x91\xef\xbc\x90')],
];

const TWICE: readonly Row[] = [
  [
    'twice-any-case',
    'a header given twice in other letters',
    'S-33 S-31',
    withHeaders(`${ID}header_uri_id: 10\r\n`),
  ],
  [
    'twice-apart',
    'a header given twice with another between',
    'S-33',
    withHeaders(`${ID}X_Y: z\r\nHEADER_URI_ID: 11\r\n`),
  ],
  [
    'twice-results',
    'the number of results given twice',
    'S-33',
    withHeaders(`${ID}${'HEADER_NUMRESULTS: 5\r\n'.repeat(2)}`),
  ],
  [
    'twice-start',
    'the start given twice',
    'S-33',
    withHeaders(`${ID}${'HEADER_START_RESULTS: 0\r\n'.repeat(2)}`),
  ],
  ['twice-url', 'a URL given twice beside an ID', 'S-33 R-22', withHeaders(`${ID}${URL}${URL}`)],
  ['twice-url-alone', 'a URL given twice', 'S-33', withHeaders(URL + URL)],
  ['twice-server', 'the ID of a server given twice', 'S-33', `${SITE_HEAD}${SITE_ID}${SITE_ID}\r\n`],
  [
    'twice-length',
    'the length of the body given twice',
    'S-33',
    withHeaders(`${ID}${'HEADER_CONTENT_LENGTH: 0\r\n'.repeat(2)}`),
  ],
  ['twice-description', '008 with two URLs', 'S-33', `${URL_HEAD}${URL}${URL}\r\n`],
];

const url = (value: string) => withHeaders(`HEADER_URL: ${value}\r\n`);
const site = (value: string) => `${SITE_HEAD}HEADER_URL: ${value}\r\n\r\n`;
const described = (value: string) => `${URL_HEAD}HEADER_URL: ${value}\r\n\r\n`;

const URLS: readonly Row[] = [
  ['empty-url', 'an empty URL', 'R-23', url('')],
  ['url-without-scheme', 'a URL without a scheme in a document request', 'R-23 R-41', url('a.example/x')],
  ['url-without-host', 'a URL without a host', 'R-23 R-41', url('http://')],
  ['url-of-mail', 'a URL that names no host', 'R-23 R-41', url('mailto:a@b')],
  ['url-port', 'a port above 65535', 'R-23 R-41', url('http://a.example:65616/')],
  ['url-user', 'a URL with a user name', 'R-41', url('http://u@a.example/')],
  ['site-empty', 'an empty name of a site', 'R-23', site('')],
  ['site-user', 'a user name in the name of a site', 'R-40 R-41', site('u@a.example')],
  ['site-port-0', 'the port 0 of a site', 'R-39 R-40', site('a.example:0')],
  ['site-scheme', 'a site of another scheme without a port', 'R-39 R-40', site('foo://a.example')],
  ['site-no-identifier', 'a site request with neither an ID nor a URL', 'R-21', `${SITE_HEAD}\r\n`],
  ['site-zero', 'the ID 0 of a server', 'S-35 R-21', `${SITE_HEAD}HEADER_SERVER_ID: 0\r\n\r\n`],
  ['site-other-id', 'the ID of a document in a site request', 'R-21 S-33', `${SITE_HEAD}${ID}\r\n`],
  ['server-id', 'the ID of a server in a document request', 'R-21 S-33', withHeaders(SITE_ID)],
  ['description-empty', '008 with an empty URL', 'R-23 R-33', described('')],
  ['description-not-a-url', '008 with a malformed URL', 'R-23 R-33', described('::::')],
  ['description-user', '008 of a URL with user information', 'R-41', described('http://u:p@a.example:81/')],
];

/** Header lines of so many octets, from 57345 to 65536. */
const block = (octets: number) =>
  [...Array<number>(7).fill(8_192), octets - 7 * 8_192]
    .map((length) => `X: ${'x'.repeat(length - 5)}\r\n`)
    .join('');

/** Requests that pass a limit of S-38 by one. */
const LIMITS: readonly Row[] = [
  ['start-of-257', 'a start line of 257 octets', 'S-38', `SSTP/1.0 081 ${'x'.repeat(244)}\r\n${ID}\r\n`],
  ['line-of-8193', 'a header line of 8193 octets', 'S-38', beside(`X: ${'x'.repeat(8190)}\r\n`)],
  [
    'large-block',
    'header lines of 66000 octets',
    'S-38',
    withHeaders(`${ID}${`X: ${'x'.repeat(1195)}\r\n`.repeat(55)}`),
  ],
  ['block-of-65537', 'header lines of 65537 octets', 'S-38', beside(block(65_537 - ID.length))],
  [
    'long-url-of-site',
    'a URL of 4097 octets in a site request',
    'S-38',
    site(`http://a.example/${'x'.repeat(4080)}`),
  ],
  [
    'long-url-of-description',
    'a URL of 4097 octets in 008',
    'S-38',
    described(`http://a.example/${'x'.repeat(4080)}`),
  ],
];

/** Requests that are answered 400, after which the connection is closed. */
export const refusalCases: readonly SstpCase[] = [
  ...LINES,
  ...START_LINES,
  ...NUMBERS,
  ...TWICE,
  ...URLS,
  ...LIMITS,
].map(
  ([name, what, rules, request]): ConformanceCase<SstpContext> =>
    must(`refuse/${name}`, `${rules} S-39`, 'project choice')
      .title(`${what} is answered 400, and the connection is closed`)
      .run((context: SstpContext) => context.checkRefused(request, what)),
);
