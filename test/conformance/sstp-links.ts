// Mutants of a References Server: links, their pages, and the description of a document.
import { about } from './mutant.js';
import { misreading, misreadings, replyMutant, type SstpMutant } from './sstp-builders.js';

export const SSTP_LINK_MUTANTS: readonly SstpMutant[] = [
  ...about('R-24', ['fixture/f-01', 'fixture/f-08', 'fixture/f-10'], replyMutant, {
    'NUMFOUND is too large by one': (reply) =>
      reply.replace(/(NUMFOUND: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
  }),
  ...about('R-24', ['fixture/f-01', 'fixture/f-03', 'fixture/f-06'], replyMutant, {
    'NUMFOUND is too small by one': (reply) =>
      reply.replace(/(NUMFOUND: )([1-9]\d*)/, (_, head, n) => `${head}${Number(n) - 1}`),
  }),
  ...about('R-24', ['fixture/f-07', 'fixture/f-08', 'fixture/f-09', 'fixture/pages'], replyMutant, {
    'NUMFOUND is the number returned': (reply) => {
      const returned = /NUMRESULTS: (\d+)/.exec(reply)?.[1];
      return returned === undefined ? reply : reply.replace(/NUMFOUND: \d+/, `NUMFOUND: ${returned}`);
    },
  }),
  ...about('R-31', ['fixture/f-07', 'fixture/f-08'], replyMutant, {
    'START_RESULTS is always 0': (reply) => reply.replace(/START_RESULTS: \d+/, 'START_RESULTS: 0'),
  }),
  ...about('R-31', ['fixture/f-01'], replyMutant, {
    'START_RESULTS is too large by one': (reply) =>
      reply.replace(/(START_RESULTS: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
  }),
  ...about('R-24', ['fixture/f-01', 'fixture/f-09'], replyMutant, {
    'NUMRESULTS is too large by one': (reply) =>
      reply.replace(/(NUMRESULTS: )(\d+)/, (_, head, n) => `${head}${Number(n) + 1}`),
  }),
  ...['NUMFOUND', 'START_RESULTS', 'NUMRESULTS'].flatMap((name) => [
    ...about('R-24', ['fixture/f-01', 'fixture/f-14'], replyMutant, {
      [`HEADER_${name} is missing`]: (reply) => reply.replace(new RegExp(`HEADER_${name}: \\d+\\r\\n`), ''),
    }),
    ...about('S-33', ['fixture/f-01', 'fixture/f-16'], replyMutant, {
      [`HEADER_${name} comes twice`]: (reply) =>
        reply.replace(new RegExp(`HEADER_${name}: \\d+\\r\\n`), '$&$&'),
    }),
  ]),
  ...about('R-29', ['fixture/f-01', 'fixture/f-02', 'fixture/f-06'], replyMutant, {
    'the first ID is missing': (reply) => reply.replace(/(NUMRESULTS: .*\r\n)HEADER_URI_ID: \d+\r\n/, '$1'),
  }),
  ...about('S-21', ['fixture/f-01', 'fixture/f-17'], replyMutant, {
    'the first ID comes twice': (reply) =>
      reply.replace(/(NUMRESULTS: .*\r\n)(HEADER_URI_ID: \d+\r\n)/, '$1$2$2'),
  }),
  replyMutant(
    'IDs come in reversed order',
    'S-21',
    (reply) => {
      const ids = reply.match(/HEADER_URI_ID: \d+\r\n/g) ?? [];
      return ids.length < 2 ? reply : reply.replace(ids.join(''), ids.toReversed().join(''));
    },
    ['fixture/f-01', 'fixture/f-03', 'fixture/f-04', 'fixture/f-05', 'fixture/f-15', 'fixture/f-18'],
  ),
  ...about('S-9', ['fixture/f-01'], replyMutant, {
    'IDs are sent in one header': (reply) => {
      const ids = reply.match(/HEADER_URI_ID: \d+\r\n/g) ?? [];
      return ids.length < 2
        ? reply
        : reply.replace(ids.join(''), `HEADER_URI_ID: ${ids.map((id) => /\d+/.exec(id)?.[0]).join(',')}\r\n`);
    },
  }),
  ...about('R-24', ['fixture/f-01'], replyMutant, {
    'IDs have another header': (reply, request) =>
      / 08\d/.test(request) ? reply.replaceAll('HEADER_URI_ID', 'HEADER_ID') : reply,
  }),
  ...about('R-24', ['fixture/f-14', 'fixture/f-15'], replyMutant, {
    'IDs of sites have the header of sites': (reply) =>
      /^SSTP\/1\.0 08[34]/.test(reply) ? reply.replaceAll('HEADER_URI_ID', 'HEADER_SERVER_ID') : reply,
  }),
  ...about('R-25', ['fixture/order'], replyMutant, {
    'START_RESULTS comes before NUMFOUND': (reply) =>
      reply.replace(/(HEADER_NUMFOUND.*\r\n)(HEADER_START.*\r\n)/, '$2$1'),
    'NUMRESULTS comes last': (reply) =>
      reply.replace(/(HEADER_NUMRESULTS: .*\r\n)((?:HEADER_URI_ID: .*\r\n)+)/, '$2$1'),
  }),
  misreading('pages begin at 1', 'R-31', /START_RESULTS: (\d)/, 'START_RESULTS: 1$1', [
    'fixture/f-07',
    'fixture/pages',
  ]),
  ...misreadings('R-31', ['fixture/f-07', 'fixture/f-08', 'fixture/pages'], {
    'START_RESULTS is ignored': [/HEADER_START_RESULTS: \d+\r\n/, ''],
  }),
  ...misreadings('R-31', ['fixture/f-07', 'fixture/f-09', 'fixture/pages'], {
    'NUMRESULTS is ignored': [/HEADER_NUMRESULTS: \d+\r\n/, ''],
  }),
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
  ...misreadings('S-35', ['fixture/f-06'], {
    'an ID of 0 is an unknown document': [/URI_ID: 0\r\nHEADER_URL/, 'URI_ID: 99\r\nHEADER_URL'],
  }),
  misreading('a site needs a whole URL', 'R-40', /URL: a\.example:81/, 'URL: http://x.example/', [
    'fixture/f-16',
  ]),
  ...misreadings('R-40', ['fixture/f-17'], {
    'the site of a URL with a path is not found': [
      /URL: http:\/\/b\.example\/lonely\?q#f/,
      'URL: http://x.example/',
    ],
  }),
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
  ...misreadings('R-10', ['fixture/f-03'], {
    'referers are answered with references': [/^SSTP\/1\.0 082 X(\r\nHEADER_URI_ID: 20)/, 'SSTP/1.0 081 X$1'],
  }),
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
      ...about('R-33', ['fixture/f-20'], replyMutant, {
        [`the description has no ${name}`]: described((reply) => reply.replace(header, '')),
        [`the description has another ${name}`]: described((reply) =>
          reply.replace(header, `HEADER_${name}: 7\r\n`),
        ),
        [`the description has ${name} twice`]: described((reply) => reply.replace(header, '$&$&')),
      }),
    ];
  }),
  ...about('R-33', ['fixture/f-20'], replyMutant, {
    'the scheme is in capitals': (reply) => reply.replace('PROTOCOL: http', 'PROTOCOL: HTTP'),
  }),
  ...about('R-33', ['fixture/order'], replyMutant, {
    'the description has its headers in another order': (reply) =>
      reply.replace(/(HEADER_URI_ID: 12\r\n)(HEADER_SERVER_ID: 2\r\n)/, '$2$1'),
  }),
];
