// Cases about all data of the fixture of section R13, for a server that serves it: documents, sites, pages, names.
import { check, checkEqual, must, NotApplicable, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { checkCode, formatReply, resultOf, type SstpCase, type SstpContext, valuesOf } from './context.js';
import { onFixture } from './fixture-cases.js';

/** The documents of R13: ID, URL, server, time, time of check, length. */
const DOCUMENTS = [
  [10, 'http://a.example/', 1, 1_000_000_100, 1_000_001_000, 1_000],
  [11, 'http://a.example/x', 1, 1_000_000_110, 1_000_001_100, 1_100],
  [12, 'http://a.example:81/', 2, 1_000_000_120, 1_000_001_200, 1_200],
  [20, 'http://b.example/', 3, 1_000_000_200, 1_000_002_000, 2_000],
  [21, 'http://b.example/lonely', 3, 1_000_000_210, 1_000_002_100, 2_100],
] as const;

/** Who links to whom: the IDs that each request returns. */
const LINKS = {
  '081': { 10: '11 20 12', 11: '10 20', 12: '10 11', 20: '10', 21: '' },
  '082': { 10: '11 20 12', 11: '10 12', 12: '10', 20: '10 11', 21: '' },
} as const;
const SITE_LINKS = {
  '083': { 1: '20 12', 2: '10 11', 3: '10' },
  '084': { 1: '20 12', 2: '10', 3: '10 11' },
} as const;
/** Names of the servers. */
const SITES = { 1: 'a.example', 2: 'a.example:81', 3: 'b.example' } as const;

/** Spellings of the URLs of documents. */
const URLS: Readonly<Record<number, readonly string[]>> = {
  10: [
    'http://a.example',
    'http://a.example:80/',
    'HTTP://A.EXAMPLE/',
    'http://a.example./',
    'http://a.example/#f',
  ],
  11: [
    'http://a.example/x',
    'HTTP://a.example.:0080/x',
    'http://a.example/y/../x',
    'http://a.example/./x',
    'http://a.example/%2e/x',
    'http://a.example/x#f',
    'http://a.example:/x',
    'http://%61.example/x',
    'http:\\\\a.example\\x',
  ],
  12: ['http://a.example:81', 'http://A.Example:0081/#'],
  20: ['http://b.example', 'http://b.example/a/..'],
};
/** URLs that no document has, and that differ little from one that does. */
const OTHER_URLS = [
  'http://a.example/X',
  'http://a.example/x/',
  'http://a.example/x?',
  'http://a.example/%78',
  'http://a.example/x%23f',
  'http://a.example//x',
  'https://a.example/x',
  'ftp://a.example/x',
  'http://a.example:8080/x',
  'http://www.a.example/x',
  'http://b.example/LONELY',
  'http://a.example:81/x',
];

/** Spellings of the names of sites. */
const SITE_NAMES: Readonly<Record<number, readonly string[]>> = {
  1: [
    'a.example',
    'A.Example.',
    'a.example/x',
    'http://a.example/x?q#f',
    'a.example:80',
    'https://a.example:80/',
    'foo://a.example:80',
  ],
  2: [
    'a.example:81',
    'A.EXAMPLE.:0081',
    'http://a.example:81/',
    'ftp://a.example:81/nothing',
    'gopher://A.example:81/x#f',
  ],
  3: ['b.example', 'b.example/nothing', 'http://b.example'],
};
const OTHER_SITES = [
  'https://a.example/',
  'a.example:443',
  'b.example:81',
  'example',
  'www.a.example',
  'ftp://a.example/',
];

const LARGEST = 4_294_967_295;
/** A start and a number of results of the three links of document 10, and the IDs of this part. */
const PAGES: readonly (readonly [start: number | undefined, count: number | undefined, ids: string])[] = [
  [0, 1, '11'],
  [0, 2, '11 20'],
  [0, 3, '11 20 12'],
  [0, 4, '11 20 12'],
  [undefined, 2, '11 20'],
  [1, 1, '20'],
  [1, 2, '20 12'],
  [1, undefined, '20 12'],
  [1, 5, '20 12'],
  [2, 1, '12'],
  [2, 2, '12'],
  [2, undefined, '12'],
  [2, 0, ''],
  [3, 1, ''],
  [3, undefined, ''],
  [4, 0, ''],
  [0, LARGEST, '11 20 12'],
  [1, LARGEST, '20 12'],
  [LARGEST, 1, ''],
  [LARGEST, LARGEST, ''],
  [LARGEST - 1, 5, ''],
];

const id = (value: number) => `HEADER_URI_ID: ${value}\r\n`;
const server = (value: number) => `HEADER_SERVER_ID: ${value}\r\n`;
const url = (value: string) => `HEADER_URL: ${value}\r\n`;
const NONE = 'nothing found';

/** All data of the fixture. */
export const fixtureDataCases: readonly SstpCase[] = [
  must('fixture/all-documents', 'C-01 R-10 R-24 R-30', 'seed; project choice')
    .title('each document has its links and referers, by ID and by URL')
    .does(finds, function* () {
      for (const code of ['081', '082'] as const) {
        for (const [document, name] of DOCUMENTS) {
          const expected = found(LINKS[code][document]);
          yield [code, id(document), expected];
          yield [code, url(name), expected];
        }
      }
    }),
  must('fixture/all-sites', 'C-01 R-29 R-30 R-32', 'seed; project choice')
    .title('each site has its links and referers from outside, by ID and by name')
    .does(finds, function* () {
      for (const code of ['083', '084'] as const) {
        for (const site of [1, 2, 3] as const) {
          const expected = found(SITE_LINKS[code][site]);
          yield [code, server(site), expected];
          yield [code, url(SITES[site]), expected];
        }
      }
    }),
  must('fixture/url-forms', 'R-41 R-39 R-3', 'project choice')
    .title('a URL names the same document in every spelling, and no other one')
    .does(finds, function* () {
      for (const [document, spellings] of Object.entries(URLS)) {
        const expected = found(LINKS['081'][Number(document) as 10]);
        for (const spelling of spellings) yield ['081', url(spelling), expected];
      }
      for (const other of OTHER_URLS) yield ['081', url(other), NONE];
    }),
  must('fixture/site-forms', 'R-40 R-38 R-39', 'seed; project choice')
    .title('a site is named by host and port in every spelling, and by any URL of it')
    .does(finds, function* () {
      for (const [site, spellings] of Object.entries(SITE_NAMES)) {
        const expected = found(SITE_LINKS['084'][Number(site) as 1]);
        for (const spelling of spellings) yield ['084', url(spelling), expected];
      }
      for (const other of OTHER_SITES) yield ['084', url(other), NONE];
    }),
  must('fixture/unknown-ids', 'R-26 S-35', 'seed; project choice')
    .title('an ID that differs little from a known one finds nothing')
    .does(finds, function* () {
      for (const other of [1, 9, 13, 19, 22, 1_010, LARGEST]) yield ['081', id(other), NONE];
      for (const other of [4, 10, 11, LARGEST]) yield ['083', server(other), NONE];
    }),
  must('fixture/server-zero', 'S-35 P-09', 'project choice')
    .title('a site whose ID is 0 is that of the URL')
    .does(finds, function* () {
      yield ['083', server(0) + url('b.example'), found(SITE_LINKS['083'][3])];
      yield ['084', url('a.example:81') + server(0), found(SITE_LINKS['084'][2])];
    }),
  must('fixture/parts', 'R-31 R-24', 'seed; project choice')
    .title('start and number of results choose the part, up to the largest numbers, and the total stays')
    .does(finds, function* () {
      for (const [start, count, ids] of PAGES) {
        const paging =
          (start === undefined ? '' : `HEADER_START_RESULTS: ${start}\r\n`) +
          (count === undefined ? '' : `HEADER_NUMRESULTS: ${count}\r\n`);
        yield ['081', id(10) + paging, found(ids, 3, start)];
        yield ['082', paging + url('http://a.example/'), found(ids, 3, start)];
      }
    }),
  must('fixture/site-parts', 'R-31 R-29', 'seed; project choice')
    .title('parts of the result of a site are parts of one order')
    .does(finds, function* () {
      for (const code of ['083', '084'] as const) {
        for (const [start, count, ids] of [
          [0, 1, '20'],
          [1, 1, '12'],
          [1, 9, '12'],
          [2, 1, ''],
          [0, 0, ''],
        ] as const) {
          const paging = `HEADER_START_RESULTS: ${start}\r\nHEADER_NUMRESULTS: ${count}\r\n`;
          yield [code, server(1) + paging, found(ids, 2, start)];
        }
      }
    }),
  must('fixture/all-descriptions', 'C-01 R-33 R-42', 'seed; project choice')
    .title('008 describes each document, in any spelling of its URL')
    .does(onFixture, async (context) => {
      for (const document of DOCUMENTS) {
        await checkDescription(context, document, '');
        for (const spelling of URLS[document[0]] ?? [])
          await checkDescription(context, document, '', spelling);
      }
    }),
  must('fixture/description-parameters', 'R-34 S-33', 'project choice')
    .title('008 ignores IDs and paging, whatever they are')
    .does(onFixture, async (context) => {
      const ignored =
        'HEADER_URI_ID: 10\r\nHEADER_URI_ID: x\r\nHEADER_NUMRESULTS: 0\r\nHEADER_START_RESULTS: 7\r\nHEADER_SERVER_ID: 0\r\n';
      await checkDescription(context, DOCUMENTS[1], ignored);
    }),
  must('fixture/no-description', 'R-34', 'project choice')
    .title('008 of a URL that no document has is answered 404 with HEADER_NUMFOUND: 0')
    .does(onFixture, async (context) => {
      for (const other of OTHER_URLS) {
        const reply = await context.ask(`SSTP/1.0 008 X\r\n${url(other)}\r\n`);
        checkCode(reply, 404, `008 of ${other}`);
        checkEqual(valuesOf(reply, 'HEADER_NUMFOUND').join(' '), '0', `HEADER_NUMFOUND of ${other}`, String);
      }
    }),
  should('fixture/total-of-404', 'R-27', 'seed; project choice')
    .title('a reply 404 has a total of 0, and nothing else of a result')
    .does(onFixture, async (context) => {
      for (const [code, headers] of [
        ['081', id(99)],
        ['082', url('http://nowhere.example/')],
        ['083', server(4)],
        ['084', url('c.example')],
      ] as const) {
        const reply = await context.ask(`SSTP/1.0 ${code} X\r\n${headers}\r\n`);
        if (reply.code !== 404) throw new NotApplicable('the server answers with a total of 0 (R-26)');
        const names = reply.headers.map(([name]) => name).filter((name) => name.startsWith('HEADER_'));
        checkEqual(names.join(' '), 'HEADER_NUMFOUND', 'other headers of a 404');
        checkEqual(valuesOf(reply, 'HEADER_NUMFOUND').join(' '), '0', 'the total of a 404');
      }
    }),
];

/** A request and its result, as {@link resultOf} formats it. */
type Row = readonly [code: string, headers: string, expected: string];

/** Sends requests and compares their results. */
function finds(rows: () => Iterable<Row>): Procedure<SstpContext> {
  return onFixture(async (context) => {
    for (const [code, headers, expected] of rows()) {
      const reply = await context.ask(`SSTP/1.0 ${code} X\r\n${headers}\r\n`);
      if (expected !== NONE) checkCode(reply, Number(code), code);
      checkEqual(resultOf(reply), expected, `wrong links of ${code} ${printable(headers.trim())}`);
    }
  });
}

/** The result of IDs, which are a part of so many. */
function found(ids: string, total = ids.split(' ').length, start = 0): string {
  if (ids === '' && total < 2) return NONE;
  return `found ${total}, start ${start}, ${ids === '' ? 0 : ids.split(' ').length} returned: ${ids}`;
}

type Document = (typeof DOCUMENTS)[number];

async function checkDescription(
  context: SstpContext,
  [document, name, site, time, checkTime, length]: Document,
  more: string,
  spelling: string = name,
): Promise<void> {
  const reply = await context.ask(`SSTP/1.0 008 X\r\n${more}${url(spelling)}\r\n`);
  checkCode(reply, 8, `008 of ${spelling}`);
  const { hostname, port, pathname } = new URL(name);
  const expected = {
    HEADER_URI_ID: document,
    HEADER_SERVER_ID: site,
    HEADER_SERVER_PROTOCOL: 'http',
    HEADER_SERVER_NAME: hostname,
    HEADER_SERVER_PORT: port || '80',
    HEADER_URI: pathname,
    HEADER_URI_TIME: time,
    HEADER_URL_CHECKTIME: checkTime,
    HEADER_URI_LEN: length,
  };
  for (const [header, value] of Object.entries(expected)) {
    const values = valuesOf(reply, header);
    check(
      values.length === 1 && values[0] === String(value),
      `${header} of ${printable(spelling)} is wrong`,
      {
        expected: `${header}: ${value}`,
        received: formatReply(reply),
      },
    );
  }
}
