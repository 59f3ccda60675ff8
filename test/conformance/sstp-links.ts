// Mutants of a References Server: links, their pages, and the description of a document.
import { misreading, replyMutant, type SstpMutant } from './sstp-builders.js';

export const SSTP_LINK_MUTANTS: readonly SstpMutant[] = [
  replyMutant(
    'NUMFOUND is too large by one',
    'R-24',
    (reply) => reply.replace(/(NUMFOUND: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
    ['fixture/f-01', 'fixture/f-08', 'fixture/f-10'],
  ),
  replyMutant(
    'NUMFOUND is too small by one',
    'R-24',
    (reply) => reply.replace(/(NUMFOUND: )([1-9]\d*)/, (_, head, n) => `${head}${Number(n) - 1}`),
    ['fixture/f-01', 'fixture/f-03', 'fixture/f-06'],
  ),
  replyMutant(
    'NUMFOUND is the number returned',
    'R-24',
    (reply) => {
      const returned = /NUMRESULTS: (\d+)/.exec(reply)?.[1];
      return returned === undefined ? reply : reply.replace(/NUMFOUND: \d+/, `NUMFOUND: ${returned}`);
    },
    ['fixture/f-07', 'fixture/f-08', 'fixture/f-09', 'fixture/pages'],
  ),
  replyMutant(
    'START_RESULTS is always 0',
    'R-31',
    (reply) => reply.replace(/START_RESULTS: \d+/, 'START_RESULTS: 0'),
    ['fixture/f-07', 'fixture/f-08'],
  ),
  replyMutant(
    'START_RESULTS is too large by one',
    'R-31',
    (reply) => reply.replace(/(START_RESULTS: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
    ['fixture/f-01'],
  ),
  replyMutant(
    'NUMRESULTS is too large by one',
    'R-24',
    (reply) => reply.replace(/(NUMRESULTS: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
    ['fixture/f-01', 'fixture/f-09'],
  ),
  ...['NUMFOUND', 'START_RESULTS', 'NUMRESULTS'].flatMap((name) => [
    replyMutant(
      `HEADER_${name} is missing`,
      'R-24',
      (reply) => reply.replace(new RegExp(`HEADER_${name}: \\d+\\r\\n`), ''),
      ['fixture/f-01', 'fixture/f-14'],
    ),
    replyMutant(
      `HEADER_${name} comes twice`,
      'S-33',
      (reply) => reply.replace(new RegExp(`HEADER_${name}: \\d+\\r\\n`), '$&$&'),
      ['fixture/f-01', 'fixture/f-16'],
    ),
  ]),
  replyMutant(
    'the first ID is missing',
    'R-29',
    (reply) => reply.replace(/(NUMRESULTS: .*\r\n)HEADER_URI_ID: \d+\r\n/, '$1'),
    ['fixture/f-01', 'fixture/f-02', 'fixture/f-06'],
  ),
  replyMutant(
    'the first ID comes twice',
    'S-21',
    (reply) => reply.replace(/(NUMRESULTS: .*\r\n)(HEADER_URI_ID: \d+\r\n)/, '$1$2$2'),
    ['fixture/f-01', 'fixture/f-17'],
  ),
  replyMutant(
    'IDs come in reversed order',
    'S-21',
    (reply) => {
      const ids = reply.match(/HEADER_URI_ID: \d+\r\n/g) ?? [];
      return ids.length < 2 ? reply : reply.replace(ids.join(''), ids.toReversed().join(''));
    },
    ['fixture/f-01', 'fixture/f-03', 'fixture/f-04', 'fixture/f-05', 'fixture/f-15', 'fixture/f-18'],
  ),
  replyMutant(
    'IDs are sent in one header',
    'S-9',
    (reply) => {
      const ids = reply.match(/HEADER_URI_ID: \d+\r\n/g) ?? [];
      return ids.length < 2
        ? reply
        : reply.replace(ids.join(''), `HEADER_URI_ID: ${ids.map((id) => /\d+/.exec(id)?.[0]).join(',')}\r\n`);
    },
    ['fixture/f-01'],
  ),
  replyMutant(
    'IDs have another header',
    'R-24',
    (reply, request) => (/ 08\d/.test(request) ? reply.replaceAll('HEADER_URI_ID', 'HEADER_ID') : reply),
    ['fixture/f-01'],
  ),
  replyMutant(
    'IDs of sites have the header of sites',
    'R-24',
    (reply) =>
      /^SSTP\/1\.0 08[34]/.test(reply) ? reply.replaceAll('HEADER_URI_ID', 'HEADER_SERVER_ID') : reply,
    ['fixture/f-14', 'fixture/f-15'],
  ),
  replyMutant(
    'START_RESULTS comes before NUMFOUND',
    'R-25',
    (reply) => reply.replace(/(HEADER_NUMFOUND.*\r\n)(HEADER_START.*\r\n)/, '$2$1'),
    ['fixture/order'],
  ),
  replyMutant(
    'NUMRESULTS comes last',
    'R-25',
    (reply) => reply.replace(/(HEADER_NUMRESULTS: .*\r\n)((?:HEADER_URI_ID: .*\r\n)+)/, '$2$1'),
    ['fixture/order'],
  ),
  misreading('pages begin at 1', 'R-31', /START_RESULTS: (\d)/, 'START_RESULTS: 1$1', [
    'fixture/f-07',
    'fixture/pages',
  ]),
  misreading('START_RESULTS is ignored', 'R-31', /HEADER_START_RESULTS: \d+\r\n/, '', [
    'fixture/f-07',
    'fixture/f-08',
    'fixture/pages',
  ]),
  misreading('NUMRESULTS is ignored', 'R-31', /HEADER_NUMRESULTS: \d+\r\n/, '', [
    'fixture/f-07',
    'fixture/f-09',
    'fixture/pages',
  ]),
  misreading('a count of 0 means all', 'R-31', /HEADER_NUMRESULTS: 0\r\n/, '', ['fixture/f-09']),
  misreading('a start after the end is the end', 'R-31', /START_RESULTS: 5/, 'START_RESULTS: 3', [
    'fixture/f-08',
  ]),
  misreading('URLs are compared with capitals', 'R-41', /http:\/\/A\.example:80/, 'http://x.example/', [
    'fixture/f-04',
  ]),
  misreading('the URL counts before the ID', 'R-22', /HEADER_URI_ID: 10\r\n(HEADER_URL: http:\/\/b)/, '$1', [
    'fixture/f-05',
  ]),
  misreading('the URL counts before the ID of a site', 'R-22', /HEADER_SERVER_ID: 3\r\n/, '', [
    'fixture/f-18',
  ]),
  misreading(
    'an ID of 0 is an unknown document',
    'S-35',
    /URI_ID: 0\r\nHEADER_URL/,
    'URI_ID: 99\r\nHEADER_URL',
    ['fixture/f-06'],
  ),
  misreading('a site needs a whole URL', 'R-40', /URL: a\.example:81/, 'URL: http://x.example/', [
    'fixture/f-16',
  ]),
  misreading(
    'the site of a URL with a path is not found',
    'R-40',
    /URL: http:\/\/b\.example\/lonely\?q#f/,
    'URL: http://x.example/',
    ['fixture/f-17'],
  ),
  misreading('the port of a site is ignored', 'R-38', /a\.example:81\r/, 'a.example\r', ['fixture/f-16']),
  misreading('an unknown site is the first one', 'R-26', /URL: c\.example/, 'URL: a.example', [
    'fixture/f-19',
  ]),
  misreading('an unknown document is the first one', 'R-26', /URI_ID: 99/, 'URI_ID: 10', ['fixture/f-11']),
  misreading('a document without links has those of another', 'R-26', /URI_ID: 21/, 'URI_ID: 10', [
    'fixture/f-10',
  ]),
  misreading('an unknown URL is the first document', 'R-26', /nowhere\.example/, 'a.example', [
    'fixture/f-12',
  ]),
  misreading(
    'referers are answered with references',
    'R-10',
    /^SSTP\/1\.0 082 X(\r\nHEADER_URI_ID: 20)/,
    'SSTP/1.0 081 X$1',
    ['fixture/f-03'],
  ),
  ...[
    'URI_ID',
    'SERVER_ID',
    'SERVER_PROTOCOL',
    'SERVER_NAME',
    'SERVER_PORT',
    'URI',
    'URI_TIME',
    'URL_CHECKTIME',
    'URI_LEN',
  ].flatMap((name) => {
    const header = new RegExp(`HEADER_${name}: (.*)\\r\\n`);
    const described = (edit: (reply: string) => string) => (reply: string) =>
      reply.startsWith('SSTP/1.0 008') ? edit(reply) : reply;
    return [
      replyMutant(
        `the description has no ${name}`,
        'R-33',
        described((reply) => reply.replace(header, '')),
        ['fixture/f-20'],
      ),
      replyMutant(
        `the description has another ${name}`,
        'R-33',
        described((reply) => reply.replace(header, `HEADER_${name}: 7\r\n`)),
        ['fixture/f-20'],
      ),
      replyMutant(
        `the description has ${name} twice`,
        'R-33',
        described((reply) => reply.replace(header, '$&$&')),
        ['fixture/f-20'],
      ),
    ];
  }),
  replyMutant(
    'the scheme is in capitals',
    'R-33',
    (reply) => reply.replace('PROTOCOL: http', 'PROTOCOL: HTTP'),
    ['fixture/f-20'],
  ),
  replyMutant(
    'the description has its headers in another order',
    'R-33',
    (reply) => reply.replace(/(HEADER_URI_ID: 12\r\n)(HEADER_SERVER_ID: 2\r\n)/, '$2$1'),
    ['fixture/order'],
  ),
];
