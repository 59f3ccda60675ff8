// Mutants of a References Server: names of documents and sites, parts of results, and all data of the fixture.
import { about } from './mutant.js';
import { misreadings, refusing, replyMutant, type SstpMutant } from './sstp-builders.js';

type Edit = (value: string) => string;

/** A server that reads the URLs of some requests otherwise. */
const spelling =
  (codes: RegExp) =>
  (name: string, rule: string, edit: Edit, fails: readonly string[]): SstpMutant => ({
    name,
    rule,
    change: {
      request: (request) =>
        codes.test(request)
          ? request.replace(
              /^(HEADER_URL: )(.*)(?=\r\n)/m,
              (_, head: string, value: string) => head + edit(value),
            )
          : request,
    },
    fails,
  });
const document = spelling(/^SSTP\/1\.0 08[12]/);
const site = spelling(/^SSTP\/1\.0 08[34]/);
const description = spelling(/^SSTP\/1\.0 008/);
/** A URL that no document has, for spellings that match. */
const unknown =
  (pattern: RegExp): Edit =>
  (value) =>
    pattern.test(value) ? 'http://x.example/' : value;
const known =
  (pattern: RegExp, replacement: string): Edit =>
  (value) =>
    value.replace(pattern, replacement);

const DOCUMENTS: readonly SstpMutant[] = [
  ...about('R-41', ['fixture/url-forms'], document, {
    'schemes in capitals are not known': unknown(/^HTTP:/),
    'hosts in capitals are not known': unknown(/EXAMPLE/),
    'a dot after the host makes another host': unknown(/example\.[:/]/),
    'a usual port makes another URL': unknown(/:80\//),
    'zeros before a port make another port': unknown(/:00/),
    'an empty port makes another URL': unknown(/example:\//),
    'two dots are a segment': unknown(/\.\./),
    'a dot is a segment': unknown(/\/\.\//),
    'an encoded dot is a segment': unknown(/%2e/),
    'a fragment is a part of a URL': unknown(/#/),
    'an encoded host is not decoded': unknown(/%61/),
    'a backslash is a part of a host': unknown(/\\/),
    'a URL needs a path': unknown(/\.example$/),
    'paths have any case': (value) =>
      value.replace(/\/X$/, '/x').replace('LONELY', 'lonely').replace('/lonely', '/'),
    'a slash at the end does not count': known(/x\/$/, 'x'),
    'an empty query does not count': known(/\?$/, ''),
    'letters are decoded': known(/%78/, 'x'),
    'an encoded number sign begins a fragment': known(/%23.*/, ''),
    'two slashes are one': known(/example\/\/x/, 'example/x'),
    'https is http': known(/^https:/, 'http:'),
    'ftp is http': known(/^ftp:/, 'http:'),
    'ports of documents do not count': known(/:8080/, ''),
    'www does not count': known(/www\./, ''),
    'an unknown path is that of the site': known(/(a\.example:81)\/x/, '$1/'),
    'a URL is found by its prefix': known(/\/x.+$/, '/x'),
  }),
];

const SITES: readonly SstpMutant[] = [
  ...about('R-40', ['fixture/site-forms'], site, {
    'names of sites in capitals are not known': unknown(/A\.E/),
    'a dot after the name of a site makes another one': unknown(/\.$|\.:/),
    'a path makes another site': unknown(/^[ab]\.example\/\w/),
    'a site has no query': unknown(/\?/),
    'the usual port makes another site': unknown(/example:80$/),
    'zeros before the port of a site make another one': unknown(/:0081/),
    'a site with a scheme has the port of the scheme': known(/^(https:\/\/a\.example):80/, '$1'),
    'a site of ftp is not known': unknown(/^ftp:.*:81/),
    'a site is named by its host alone': unknown(/^http:\/\/b/),
  }),
  ...about('R-38', ['fixture/site-forms'], site, {
    'https has the port 80': known(/^https:/, 'http:'),
    'ftp has the port 80': known(/^ftp:/, 'http:'),
    'the port 443 is 80': known(/:443/, ''),
    'a host has one site': known(/(b\.example):81/, '$1'),
    'www does not count in sites': known(/www\./, ''),
    'a domain is its first site': known(/^example$/, 'a.example'),
  }),
];

const IDS: readonly SstpMutant[] = [
  ...misreadings('R-26', ['fixture/unknown-ids'], {
    'an unknown ID is the one before it': [/URI_ID: 1?13\r/, 'URI_ID: 12\r'],
    'an unknown ID is the one after it': [/URI_ID: 9\r/, 'URI_ID: 10\r'],
    'IDs count from the first document': [/URI_ID: 1\r/, 'URI_ID: 10\r'],
    'IDs have three digits': [/URI_ID: 1(010)\r/, 'URI_ID: $1\r'],
    'IDs have 31 bits': [/URI_ID: 4294967295\r/, 'URI_ID: 10\r'],
    'an unknown server is the last one': [/SERVER_ID: 4\r/, 'SERVER_ID: 3\r'],
    'the ID of a document names its server': [/SERVER_ID: 1[01]\r/, 'SERVER_ID: 1\r'],
  }),
  ...misreadings('S-35', ['fixture/server-zero'], {
    'a server of the ID 0 is an unknown one': [/SERVER_ID: 0\r\n(?=HEADER_URL)/, 'SERVER_ID: 9\r\n'],
    'a server of the ID 0 after the URL is an unknown one': [/(81\r\nHEADER_SERVER_ID: )0/, '$19'],
  }),
];

/** Start and number of results of a request. */
const paged =
  (edit: (start: number, count: number) => readonly [start: number, count: number]) =>
  (request: string): string => {
    const start = Number(/START_RESULTS: (\d+)/.exec(request)?.[1] ?? 0);
    const count = Number(/NUMRESULTS: (\d+)/.exec(request)?.[1] ?? Number.NaN);
    if (Number.isNaN(count) || !/^SSTP\/1\.0 08/.test(request)) return request;
    const [newStart, newCount] = edit(start, count);
    return request
      .replace(/(START_RESULTS: )\d+/, `$1${newStart}`)
      .replace(/(NUMRESULTS: )\d+/, `$1${newCount}`);
  };
const paging = (
  name: string,
  rule: string,
  edit: (start: number, count: number) => readonly [number, number],
  fails: readonly string[],
): SstpMutant => ({ name, rule, change: { request: paged(edit) }, fails });

const PARTS: readonly SstpMutant[] = [
  ...about('R-31', ['fixture/parts'], paging, {
    'the end of a part is counted modulo 2^32': (start, count) => [
      start,
      start + count >= 2 ** 32 ? 0 : count,
    ],
    'the number of results has 31 bits': (start, count) => [start, count >= 2 ** 31 ? 0 : count],
    'a part has one result more': (start, count) => [start, count === 0 || count > 9 ? count : count + 1],
    'a part has one result less': (start, count) => [start, count > 1 && count < 9 ? count - 1 : count],
    'a part has two results at most': (start, count) => [start, Math.min(2, count)],
    'a part ends at the number of results': (start, count) => [start, Math.max(0, count - start)],
    'a number of results above the total counts as 0': (start, count) => [start, count > 3 ? 0 : count],
    'a number of results of 0 is 1 after the begin': (start, count) => [
      start,
      start > 0 && count === 0 ? 1 : count,
    ],
  }),
  ...about('R-31', ['fixture/site-parts'], paging, {
    'parts of sites begin at 1': (start, count) => [start === 1 ? 0 : start, count],
    'parts of sites have the rest': (start, count) => [start, count === 1 ? 2 : count],
  }),
  ...about('R-31', ['fixture/parts'], replyMutant, {
    'a start beyond the end is the total': (reply) =>
      reply.replace(/START_RESULTS: \d{5,}/, 'START_RESULTS: 3'),
    'a start beyond the end is answered 404': (reply) =>
      /START_RESULTS: \d{5,}/.test(reply)
        ? 'SSTP/1.0 404 REQ_PUT_NOT_FOUND\r\nHEADER_NUMFOUND: 0\r\n\r\n'
        : reply,
    'the total is that of the rest': (reply) =>
      reply.replace(
        /NUMFOUND: 3(\r\nHEADER_START_RESULTS: )([12])\r/,
        (_, middle: string, start: string) => `NUMFOUND: ${3 - Number(start)}${middle}${start}\r`,
      ),
    'the number returned is the one that is asked for': (reply, request) => {
      const asked = /NUMRESULTS: (\d+)/.exec(request)?.[1];
      return asked === undefined ? reply : reply.replace(/NUMRESULTS: \d+/, `NUMRESULTS: ${asked}`);
    },
    'the last ID of a part is missing': (reply) => reply.replace(/HEADER_URI_ID: \d+\r\n\r\n$/, '\r\n'),
    'a large start is written as a negative number': (reply) =>
      reply.replace(/START_RESULTS: (\d{10})/, (_, start: string) => `START_RESULTS: ${Number(start) | 0}`),
  }),
];

/** Replies to requests that match. */
const answers =
  (pattern: RegExp, edit: (reply: string) => string) =>
  (reply: string, request: string): string =>
    pattern.test(request) ? edit(reply) : reply;
const ids = (from: string, to: string) => (reply: string) => {
  const list = (text: string) =>
    text === ''
      ? ''
      : text
          .split(' ')
          .map((id) => `HEADER_URI_ID: ${id}\r\n`)
          .join('');
  const count = (text: string) => (text === '' ? 0 : text.split(' ').length);
  return reply.replace(list(from), list(to)).replace(/(NUM(?:FOUND|RESULTS): )\d+/g, `$1${count(to)}`);
};

const LINKS: readonly SstpMutant[] = [
  ...about('R-10', ['fixture/all-documents'], replyMutant, {
    'links of 11 come in another order': answers(
      / 081 [\s\S]*(?:URI_ID: 11|example\/x)\r/,
      ids('10 20', '20 10'),
    ),
    'a link of 12 is missing': answers(/ 081 [\s\S]*(?:URI_ID: 12|:81\/)\r/, ids('10 11', '10')),
    'a referer of 11 is missing': answers(/ 082 [\s\S]*(?:URI_ID: 11|example\/x)\r/, ids('10 12', '10')),
    'references and referers of 12 are the same': answers(
      / 082 [\s\S]*(?:URI_ID: 12|:81\/)\r/,
      ids('10', '10 11'),
    ),
    'a document without links has itself': answers(/ 08[12] [\s\S]*(?:URI_ID: 21|lonely)\r/, (reply) =>
      reply
        .replace(/NUMFOUND: 0/, 'NUMFOUND: 1')
        .replace(/NUMRESULTS: 0\r\n/, 'NUMRESULTS: 1\r\nHEADER_URI_ID: 21\r\n'),
    ),
  }),
  ...about('R-32', ['fixture/all-sites'], replyMutant, {
    'links of a site have its own pages': answers(
      / 083 [\s\S]*(?:SERVER_ID: 1|a\.example)\r/,
      ids('20 12', '11 20 12'),
    ),
    'another port is the same site': answers(/ 083 [\s\S]*(?:SERVER_ID: 1|a\.example)\r/, ids('20 12', '20')),
    'links of the site 2 are missing': answers(/ 083 [\s\S]*(?:SERVER_ID: 2|:81)\r/, ids('10 11', '')),
  }),
  ...about('R-29', ['fixture/all-sites'], replyMutant, {
    'links of a site have a document twice': answers(
      / 083 [\s\S]*(?:SERVER_ID: 1|a\.example)\r/,
      ids('20 12', '20 12 20'),
    ),
    'links of a site are in the order of their IDs': answers(
      / 083 [\s\S]*(?:SERVER_ID: 1|a\.example)\r/,
      ids('20 12', '12 20'),
    ),
    'referers of the site 3 come in another order': answers(
      / 084 [\s\S]*(?:SERVER_ID: 3|b\.example)\r/,
      ids('10 11', '11 10'),
    ),
    'references and referers of the site 3 are the same': answers(
      / 083 [\s\S]*(?:SERVER_ID: 3|b\.example)\r/,
      ids('10', '10 11'),
    ),
  }),
  ...about('R-30', ['fixture/all-sites'], replyMutant, {
    'the total of a site counts a document twice': answers(
      / 083 [\s\S]*(?:SERVER_ID: 1|a\.example)\r/,
      (reply) => reply.replace('NUMFOUND: 2', 'NUMFOUND: 3'),
    ),
  }),
];

const described = (pattern: RegExp, replacement: string) => (reply: string) =>
  reply.startsWith('SSTP/1.0 008') ? reply.replace(pattern, replacement) : reply;

const DESCRIPTIONS: readonly SstpMutant[] = [
  ...about('R-33', ['fixture/all-descriptions'], replyMutant, {
    'the usual port is 0': described(/PORT: 80\r/, 'PORT: 0\r'),
    'the port is a part of the host': described(/(SERVER_NAME: a\.example)\r/, '$1:80\r'),
    'the length of 11 is that of 10': described(/LEN: 1100/, 'LEN: 1000'),
    'the times of 20 change places': described(
      /(URI_TIME: )1000000200(\r\n\S+ )1000002000/,
      '$11000002000$21000000200',
    ),
    'the server of 21 is its ID': described(/(URI_ID: 21\r\nHEADER_SERVER_ID: )3/, '$121'),
    'the host has www': described(/SERVER_NAME: b/, 'SERVER_NAME: www.b'),
    'the scheme has a colon': described(/PROTOCOL: http/, 'PROTOCOL: http:'),
    'a time of check above 1000002000 is unknown': described(/CHECKTIME: 1000002100/, 'CHECKTIME: 0'),
  }),
  ...about('R-42', ['fixture/all-descriptions'], replyMutant, {
    'a path has no slash': described(/URI: \/(?=\w)/, 'URI: '),
    'a path has a slash at its end': described(/(URI: \/\w+)\r/, '$1/\r'),
    'a path is a whole URL': described(/URI: \/x/, 'URI: http://a.example/x'),
  }),
  ...about('R-41', ['fixture/all-descriptions'], description, {
    'a fragment is not known in 008': unknown(/#f/),
    'a host in capitals is not known in 008': unknown(/A\.E|EXAMPLE/),
    'dots are not resolved in 008': unknown(/\.\.\/|\/\.\//),
  }),
  ...about('R-34', ['fixture/no-description'], description, {
    'paths have any case in 008': known(/\/X$/, '/x'),
    'ports do not count in 008': known(/:8080/, ''),
    'https is http in 008': known(/^https:/, 'http:'),
    'an empty query does not count in 008': known(/\?$/, ''),
  }),
  ...about('R-34', ['fixture/no-description'], replyMutant, {
    'the 404 of 008 has no total': answers(/ 008 /, (reply) => reply.replace(/HEADER_NUMFOUND: 0\r\n/, '')),
    'an unknown URL is described by nothing': answers(/ 008 /, (reply) =>
      reply.replace(/^SSTP\/1\.0 404.*\r\n[\s\S]*/, 'SSTP/1.0 008 REQ_GET_URL_BYNAME\r\n\r\n'),
    ),
  }),
  ...about('R-34', ['fixture/description-parameters'], refusing, {
    '008 takes one ID': /^SSTP\/1\.0 008[\s\S]*URI_ID[\s\S]*URI_ID/,
    '008 checks the number of an ID': /^SSTP\/1\.0 008[\s\S]*URI_ID: x/,
    '008 has no paging': /^SSTP\/1\.0 008[\s\S]*NUMRESULTS/,
  }),
  ...misreadings('R-34', ['fixture/description-parameters'], {
    '008 takes the ID before the URL': [
      /^(SSTP\/1\.0 008 X\r\n)HEADER_URI_ID: 10[\s\S]*/,
      '$1HEADER_URL: http://a.example/\r\n\r\n',
    ],
  }),
  ...about('R-27', ['fixture/total-of-404'], replyMutant, {
    'a 404 has no total': (reply) => reply.replace(/^(SSTP\/1\.0 404.*\r\n)HEADER_NUMFOUND: 0\r\n/, '$1'),
    'a 404 has a total of 1': (reply) => reply.replace(/^(SSTP\/1\.0 404.*\r\nHEADER_NUMFOUND: )0/, '$11'),
    'a 404 has a start': (reply) =>
      reply.replace(/^(SSTP\/1\.0 404[\s\S]*)\r\n$/, '$1HEADER_START_RESULTS: 0\r\n\r\n'),
  }),
];

/** What a server must understand, and this one refuses. */
const STRICT: readonly SstpMutant[] = [
  refusing('headers have an order', 'S-21', /NUMRESULTS[\s\S]*URI_ID/, ['request/header-order']),
  refusing('a phrase is ASCII', 'S-29', /^SSTP[^\n]*[\x80-\xff]/, ['request/phrase-octets']),
  refusing('a phrase has no NUL', 'S-29', /^SSTP[^\n]*\0/, ['request/phrase-octets']),
  refusing('a phrase is not empty', 'S-29', /^SSTP\/1\.0 081 \r/, ['request/phrase-empty']),
  refusing('a phrase is not that of another code', 'S-29', /^SSTP\/1\.0 081 404/, [
    'request/phrase-of-another',
  ]),
  refusing('minor versions have one digit', 'S-46', /^SSTP\/1\.\d\d/, ['request/minor-version-large']),
  refusing('values are ASCII', 'S-36', /X_Y: .*[\x80-\xff]/, ['request/value-octets']),
  refusing('values have no tab', 'S-36', /X_Y: a\t/, ['request/value-octets']),
  refusing('values have no colon', 'S-31', /X_Y:: /, ['request/value-colon']),
  refusing('values are not empty', 'S-31', /X_[YZ]: ?\r/, ['request/value-empty']),
  refusing('names begin with a letter', 'S-31', /^[0_]: /m, ['request/short-name']),
  refusing('other parameters are refused', 'S-33', / 081 [\s\S]*SERVER_ID/, ['request/other-parameters']),
  refusing('numbers of other parameters are checked', 'S-33', /NUMFOUND: -1/, ['request/other-parameters']),
  refusing('other parameters may not come twice', 'S-33', /SERVER_PORT[\s\S]*SERVER_PORT/, [
    'request/other-parameters',
  ]),
  refusing('an identification is checked', 'S-43', /AUTHORIZATION/, ['request/authorization']),
  refusing('start lines have 255 octets', 'S-38', /^SSTP\/1\.0 081 x{243}\r/, ['request/largest-line']),
  refusing('header lines have 8191 octets', 'S-38', /^X: x{8189}\r/m, ['request/largest-line']),
  refusing('63 header lines are the most', 'S-38', /(X: y\r\n){62}/, ['request/most-lines']),
  refusing('header lines have 65535 octets together', 'S-38', /(X: x{1995}\r\n){20}/, [
    'request/largest-block',
  ]),
  ...['0.9', '3.0', '10.0', '11.7', '4294967297.0'].map(
    (version): SstpMutant => ({
      name: `SSTP/${version} is read as 1.0`,
      rule: 'S-46',
      change: { request: (request) => request.replace(`SSTP/${version}`, 'SSTP/1.0') },
      fails: ['request/other-versions'],
    }),
  ),
  refusing('another version needs a code', 'S-46', /^SSTP\/2\.0 no/, ['request/other-versions']),
  ...['002', '016', '085', '404'].map(
    (code): SstpMutant => ({
      name: `${code} is served too`,
      rule: 'R-20',
      change: { request: (request) => request.replace(`SSTP/1.0 ${code}`, 'SSTP/1.0 081') },
      fails: ['request/unserved'],
    }),
  ),
];

export const SSTP_DATA_MUTANTS: readonly SstpMutant[] = [
  ...DOCUMENTS,
  ...SITES,
  ...IDS,
  ...PARTS,
  ...LINKS,
  ...DESCRIPTIONS,
  ...STRICT,
];
