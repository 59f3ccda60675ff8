// Mutants of a References Server: which first lines it takes for HTTP, its pages, and the forms of URLs.
import { isUtf8 } from 'node:buffer';
import { about, whole } from './mutant.js';
import { accepting, misreading, misreadings, refusing, type SstpMutant } from './sstp-builders.js';
import type { SstpChange } from './sstp-link.js';

const HTTP: readonly SstpMutant[] = [
  ...misreadings('S-47', ['pages/almost-http'], {
    'HTTP has several blanks': [/^GET {2}/, 'GET '],
    'HTTP has a tab': [/^GET\t/, 'GET '],
    'HTTP needs no target': [/^GET HTTP/, 'GET / HTTP'],
    'a target has blanks': [/^GET \/st at/, 'GET /st%20at'],
    'a target has control octets': [/^GET \/st\x01at/, 'GET /stat'],
    'HTTP is spelled in small letters': [/ http\/1\.0\r/, ' HTTP/1.0\r'],
    'a version of HTTP needs no minor number': [/HTTP\/1\r/, 'HTTP/1.0\r'],
    'a version of HTTP has more digits': [/HTTP\/1\.10\r/, 'HTTP/1.1\r'],
    'a version of HTTP has a letter': [/HTTP\/1\.x\r/, 'HTTP/1.0\r'],
    'a blank ends a line of HTTP': [/HTTP\/1\.0 \r/, 'HTTP/1.0\r'],
    'a method has any octets': [/^G[(\xc4]T/, 'GET'],
    'HTTP needs no method': [/^\/stat/, 'GET /stat'],
    'SSTP needs no slash': [/^SSTP 081[\s\S]*/, 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 10\r\n\r\n'],
  }),
  ...misreadings('S-47', ['pages/long-method'], { 'a method has any length': [/^A{33}/, 'GET'] }),
  ...misreadings('S-47', ['pages/choice-limit'], {
    'a first line may have no end': [/^GET \/x+$/, 'GET / HTTP/1.0\r\n\r\n'],
    'a first line without end is one of SSTP': [/^GET \/x+$/, 'SSTP/1.0 999 X\r\n\r\n'],
  }),
  refusing('a first line of HTTP has 1000 octets at most', 'S-47', /^GET \/x{990}.* HTTP/, [
    'pages/long-line',
  ]),
  ...about('S-48', ['pages/one-at-a-time'], whole<SstpChange>, {
    'the first octet of HTTP alone is malformed': { chunk: (text) => (text === 'G' ? '?' : text) },
    'the first three octets of HTTP come together': { chunk: (text) => (/^[ET]$/.test(text) ? '' : text) },
  }),
];

const answered = (pattern: RegExp, replacement: string): SstpChange => ({
  http: (answer) => answer.replace(pattern, replacement),
});
const AUTHENTICATE = /^www-authenticate: .*$/im;

const PAGES: readonly SstpMutant[] = [
  ...misreadings('R-46', ['pages/methods'], {
    'DELETE is GET': [/^DELETE /, 'GET '],
    'PUT is POST': [/^PUT /, 'POST '],
    'OPTIONS is HEAD': [/^OPTIONS /, 'HEAD '],
    'an unknown path has every method': [/^(?:PATCH|TRACE|PUT) \/nowhere/, 'GET /nowhere'],
    'credentials come before the method': [/^(?:PATCH|TRACE) \/stat/, 'GET /stat'],
  }),
  ...about('R-46', ['pages/methods'], whole<SstpChange>, {
    'other methods get 501': answered(/^(HTTP\S+) 405/, '$1 501'),
    'other methods get 400': answered(/^(HTTP\S+) 405/, '$1 400'),
  }),
  ...misreadings('R-46', ['pages/unknown'], {
    'credentials come before the path': [/^(\w+) \/nowhere/, '$1 /stat'],
    'a query has the path': [/^(\w+) \/nowhere\?/, '$1 '],
    'a path is known by its beginning': [/^(\w+) \/stat\w* /, '$1 /stat '],
    'a path is known by its first part': [/^(\w+) \/stat\/x/, '$1 /stat'],
    'a path is known by its last part': [/^(\w+) \/x\/stat/, '$1 /stat'],
    'paths of pages have any case': [/^(\w+) \/STAT/, '$1 /stat'],
  }),
  ...about('R-46', ['pages/unknown'], whole<SstpChange>, {
    'unknown paths get 400': answered(/^(HTTP\S+) 404/, '$1 400'),
    'unknown paths are found': answered(/^(HTTP\S+) 404/, '$1 200'),
    'unknown paths lead to another': answered(/^(HTTP\S+) 404/, '$1 302'),
  }),
  ...misreadings('R-44', ['pages/no-credentials'], {
    'the statistics are public': [/^GET \/stat /, 'GET / '],
    'the statistics are public to POST': [/^POST \/stat/, 'POST /'],
    'the statistics are public to HEAD': [/^HEAD \/stat/, 'HEAD /'],
  }),
  ...misreadings('R-45', ['pages/no-credentials'], {
    'everyone may clear the statistics': [/^HEAD \/clean/, 'HEAD /'],
    'everyone may reload': [/^HEAD \/reload/, 'HEAD /'],
  }),
  ...misreadings('R-46', ['pages/no-credentials'], {
    'a query makes another path': [/^(\w+ \/\w+)\?/, '$1x?'],
    'the pages have no HEAD': [/^HEAD /, 'PUT '],
    'the pages have no POST': [/^POST /, 'PUT '],
    '/reload is not known': [/^HEAD \/reload/, 'HEAD /nowhere'],
  }),
  ...about('R-46', ['pages/no-credentials', 'pages/malformed-credentials'], whole<SstpChange>, {
    'missing credentials get 403': answered(/^(HTTP\S+) 401/, '$1 403'),
    'missing credentials get 404': answered(/^(HTTP\S+) 401/, '$1 404'),
    'a 401 asks for no credentials': answered(/^www-authenticate:.*\r\n/im, ''),
    'a 401 has another realm': answered(AUTHENTICATE, 'www-authenticate: Basic realm="statistics"'),
    'a 401 asks for a digest': answered(AUTHENTICATE, 'www-authenticate: Digest realm="refererd"'),
  }),
  ...misreadings('R-44', ['pages/malformed-credentials'], {
    'credentials of another scheme are right': [/^GET \/stat(?=[\s\S]*: Bearer)/, 'GET /'],
    'a user needs no password': [/^GET \/stat(?=[\s\S]*: Basic YQ)/, 'GET /'],
    'credentials may be empty': [/^GET \/stat(?=[\s\S]*: Basic\r)/, 'GET /'],
    'credentials need no base64': [/^GET \/stat(?=[\s\S]*: a:b)/, 'GET /'],
  }),
  misreading('any password is right', 'R-44', /^GET \/stat(?=[\s\S]*: Basic bm8)/, 'GET /', [
    'pages/wrong-credentials',
  ]),
];

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
/** A server that reads requests that are not UTF-8 otherwise. */
const encoded = (
  name: string,
  rule: string,
  edit: (text: string) => string,
  fails: readonly string[],
): SstpMutant => ({
  name,
  rule,
  change: { request: (request) => (isUtf8(bytesOf(request)) ? request : edit(request)) },
  fails,
});
const REFUSED = 'SSTP/1.0 081 X\r\n\r\n';

const URLS: readonly SstpMutant[] = [
  ...about('R-41', ['url/bad-hosts'], accepting, {
    'a host has blanks': /URL: http:\/\/a(?: |%20)b\//,
    'a host has slashes': /URL: http:\/\/a%2fb/,
    'a host has signs of all kinds': /URL: http:\/\/a[\^|<>]b/,
    'brackets need no end': /URL: http:\/\/\[::1\//,
    'numbers of an address are names above 255': /URL: http:\/\/(?:256|1\.2\.3\.4\.5)/,
    'an address has any number': /URL: http:\/\/0x100000000/,
    'a port is read as far as it has digits': /URL: http:\/\/a:80x/,
    'a port is a number modulo 2^16': /URL: http:\/\/a:65536/,
    'a port is a word': /URL: http:\/\/a:b\//,
  }),
  ...about('R-40', ['url/bad-hosts'], accepting, {
    'a name of a site has blanks': /URL: a(?: |%20)b\r/,
    'a name of a site has any port': /URL: a:(?:b|80x|65536)\r/,
    'a name of a site is not decoded': /URL: a%2[0f3]/,
  }),
  ...about('R-41', ['url/no-urls'], accepting, {
    'a URL needs no host': /URL: (?:foo:a|data:x|urn:x:y)\r/,
    'a scheme begins with a digit': /URL: 1http/,
    'a scheme has an underscore': /URL: ht_tp/,
    'a scheme may be empty': /URL: :\/\/a/,
    'a host may be empty': /URL: (?:foo:\/\/\/x|http:\/\/[?#])/,
  }),
  ...about('R-40', ['url/site-of-path'], accepting, {
    'a site is a URL if it begins as one': /URL: a\.example\/:\/\//,
    'a query of a site may be a URL': /URL: a\.example\?u=/,
  }),
  ...about('R-41', ['url/forms'], refusing, {
    'an address of IPv6 is no host': /08[12][\s\S]*URL: http:\/\/\[::1\]/,
    'a number is no host': /URL: http:\/\/(?:1|0x7f\.1)\//,
    'a host has letters, digits and hyphens': /URL: http:\/\/a_b/,
    'a host is ASCII': /URL: http:\/\/\xc3/,
    'a host is not decoded': /URL: http:\/\/%C3/,
    'a path has no blanks': /URL: http:\/\/a\.example\/a b/,
    'a percent sign needs two digits': /URL: http:\/\/a\.example\/%\r/,
    'a path has no brackets': /URL: http:\/\/a\.example\/\{/,
    'a query has no blanks': /URL: http:\/\/a\.example\/\?a b/,
    'a URL has a known scheme': /08[12][\s\S]*URL: (?:foo|gopher):/,
    'a port has digits': /URL: http:\/\/a:\//,
  }),
  ...about('R-40', ['url/site-forms'], refusing, {
    'an address of IPv6 is no site': /URL: \[::1\]/,
    'a site is ASCII': /URL: \xc3/,
    'a site has a known scheme, also with a port': /URL: foo:\/\/a\.example:5/,
    'gopher has no port': /URL: gopher:\/\/a\.example\r/,
    'a port of a site has digits': /URL: a\.example:\r/,
    'a port of a site has 15 bits': /URL: a\.example:65535/,
    'the path of a site has no blanks': /URL: a\.example\/a b/,
  }),
  encoded('URLs are UTF-8', 'S-36', () => REFUSED, ['url/octets', 'url/largest']),
  refusing('a URL has no lone octet above 127', 'S-36', /URL: http:\/\/a\.example\/\xff\r/, ['url/octets']),
  refusing('surrogates are refused', 'S-36', /URL: .*\xed\xa0\x80/, ['url/octets']),
  ...about('S-38', ['url/largest'], refusing, {
    'URLs have 4095 octets': /example\/x{150}/,
    'the octets of URLs are counted as they are sent in the end': /example\/x(?:\xc3\xa4){150}/,
    'URLs that are not UTF-8 have 1000 octets': /example\/x\xff{1000}/,
  }),
  encoded('a URL that is not UTF-8 is Latin-1', 'S-36', (text) => Buffer.from(text).toString('latin1'), [
    'url/too-long',
  ]),
  encoded(
    'octets that are not UTF-8 are replaced by a sign',
    'S-36',
    (text) => Buffer.from(bytesOf(text).toString()).toString('latin1'),
    ['url/too-long'],
  ),
  encoded('octets above 127 are left out', 'S-36', (text) => text.replace(/[\x80-\xff]/g, ''), [
    'url/too-long',
  ]),
  accepting('characters of URLs are counted, not octets', 'S-38', /example\/(?:\xc3\xa4){1000}/, [
    'url/too-long',
  ]),
  ...about('S-38', ['url/unused'], refusing, {
    'a URL beside an ID has the limit of a URL': /URL: http:\/\/a\.example\/x{150}[\s\S]*_ID/,
    'a URL beside an ID has 8000 octets': /URL: x{150}[\s\S]*_ID/,
  }),
  ...about('R-22', ['url/unused'], refusing, {
    'a URL beside an ID is UTF-8': /URL: \xff\r\n[\s\S]*_ID/,
    'a URL beside an ID has no user': /URL: http:\/\/u:p@a\/\r\n[\s\S]*_ID/,
    'a URL beside an ID is not empty': /URL: \r\n[\s\S]*_ID/,
  }),
];

const MESSAGES: readonly SstpMutant[] = [
  ...misreadings('S-46', ['request/other-versions'], {
    'another version needs one blank': [/^SSTP\/2\.0 {2}/, 'SSTP/x'],
    'another version needs three digits': [/^SSTP\/2\.0 81\r/, 'SSTP/x'],
    'another version alone is malformed': [/^SSTP\/2\.0\r/, 'SSTP/x'],
  }),
  ...misreadings('S-46', ['request/version-before-headers'], {
    'names of headers are checked before the version': [/^SSTP\/2\.0(?=[^\n]*\nX N)/, 'SSTP/x'],
    'lines are checked before the version': [/^SSTP\/2\.0(?=[^\n]*\n(?:no colon|X: a\r\n ))/, 'SSTP/x'],
    'headers are counted before the version': [/^SSTP\/2\.0(?=[^\n]*\nHEADER_URI_ID)/, 'SSTP/x'],
    'octets of values are checked before the version': [/^SSTP\/2\.0(?=[\s\S]*\0)/, 'SSTP/x'],
  }),
  accepting('ends of lines do not count in the block', 'S-38', /(X: x{8187}\r\n){3}/, [
    'refuse/block-of-65537',
  ]),
];

export const SSTP_PAGE_MUTANTS: readonly SstpMutant[] = [...HTTP, ...PAGES, ...URLS, ...MESSAGES];
