// Cases about the five requests, for a server that serves the fixture of section R13.
import { check, checkEqual, must, type Procedure, should } from '../case.js';
import {
  checkCode,
  formatReply,
  type Reply,
  resultOf,
  type SstpCase,
  type SstpContext,
  valuesOf,
} from './context.js';

/** A request and the reply of a server that serves the fixture: section R13, and C-01. */
type Row = readonly [
  name: string,
  code: '081' | '082' | '083' | '084',
  headers: string,
  /** The result as {@link resultOf} formats it; 400 for a refusal. */
  expected: string | 400,
  rules: string,
];

const id = (value: number) => `HEADER_URI_ID: ${value}\r\n`;
const url = (value: string) => `HEADER_URL: ${value}\r\n`;
const server = (value: number) => `HEADER_SERVER_ID: ${value}\r\n`;
const start = (value: number) => `HEADER_START_RESULTS: ${value}\r\n`;
const count = (value: number) => `HEADER_NUMRESULTS: ${value}\r\n`;
const NONE = 'nothing found';

const ROWS: readonly Row[] = [
  ['f-01', '081', id(10), 'found 3, start 0, 3 returned: 11 20 12', 'R-24 R-10 R-29'],
  ['f-02', '082', id(10), 'found 3, start 0, 3 returned: 11 20 12', 'R-24 R-10'],
  ['f-03', '082', id(20), 'found 2, start 0, 2 returned: 10 11', 'R-24 R-10'],
  ['f-04', '081', url('http://A.example:80'), 'found 3, start 0, 3 returned: 11 20 12', 'R-41 R-3'],
  ['f-05', '081', id(10) + url('http://b.example/'), 'found 3, start 0, 3 returned: 11 20 12', 'R-22'],
  ['f-06', '081', id(0) + url('http://b.example/'), 'found 1, start 0, 1 returned: 10', 'S-35 P-09'],
  ['f-07', '081', id(10) + start(1) + count(1), 'found 3, start 1, 1 returned: 20', 'R-31 R-24'],
  ['f-08', '081', id(10) + start(5), 'found 3, start 5, 0 returned: ', 'R-31'],
  ['f-09', '081', id(10) + count(0), 'found 3, start 0, 0 returned: ', 'R-31'],
  ['f-10', '081', id(21), NONE, 'R-26 R-27'],
  ['f-11', '081', id(99), NONE, 'R-26 R-27'],
  ['f-12', '082', url('http://nowhere.example/'), NONE, 'R-26 R-27'],
  ['f-13', '081', '', 400, 'R-21'],
  ['f-14', '083', server(1), 'found 2, start 0, 2 returned: 20 12', 'R-29 R-32 C-24'],
  ['f-15', '084', server(1), 'found 2, start 0, 2 returned: 20 12', 'R-29 R-32 C-24'],
  ['f-16', '083', url('a.example:81'), 'found 2, start 0, 2 returned: 10 11', 'R-38 R-40 C-24'],
  ['f-17', '084', url('http://b.example/lonely?q#f'), 'found 2, start 0, 2 returned: 10 11', 'R-40'],
  ['f-18', '084', server(3) + url('a.example'), 'found 2, start 0, 2 returned: 10 11', 'R-22'],
  ['f-19', '084', url('c.example'), NONE, 'R-26 R-27'],
];

const DESCRIPTION: readonly (readonly [string, string])[] = [
  ['HEADER_URI_ID', '12'],
  ['HEADER_SERVER_ID', '2'],
  ['HEADER_SERVER_PROTOCOL', 'http'],
  ['HEADER_SERVER_NAME', 'a.example'],
  ['HEADER_SERVER_PORT', '81'],
  ['HEADER_URI', '/'],
  ['HEADER_URI_TIME', '1000000120'],
  ['HEADER_URL_CHECKTIME', '1000001200'],
  ['HEADER_URI_LEN', '1200'],
];

/** The five requests on the fixture of section R13. */
export const fixtureCases: readonly SstpCase[] = [
  ...ROWS.map(([name, code, headers, expected, rules]) => {
    const identifier = headers.replaceAll('HEADER_', '').trim().replaceAll('\r\n', ', ');
    return must(`fixture/${name}`, `C-01 ${name.toUpperCase()} ${rules}`, 'seed; project choice')
      .title(
        `${code} ${identifier === '' ? 'without an identifier' : identifier}: ${expected === 400 ? 'refused' : expected.trim()}`,
      )
      .does(onFixture, async (context) => {
        const reply = await context.ask(`SSTP/1.0 ${code} X\r\n${headers}\r\n`);
        if (expected === 400) return checkCode(reply, 400, 'a request without an identifier');
        if (expected !== NONE) checkCode(reply, Number(code), code);
        checkEqual(resultOf(reply), expected, 'wrong links');
      });
  }),
  must('fixture/f-20', 'C-01 F-20 R-33 R-42', 'seed; project choice')
    .title('008 of http://a.example:81/: nine fields, each once')
    .does(onFixture, async (context) => {
      const reply = await context.ask(`SSTP/1.0 008 X\r\n${url('http://a.example:81/')}\r\n`);
      checkCode(reply, 8, '008');
      for (const [name, value] of DESCRIPTION) {
        const values = valuesOf(reply, name);
        check(values.length === 1 && values[0] === value, `${name} is wrong`, {
          expected: `${name}: ${value}`,
          received: formatReply(reply),
        });
      }
    }),
  must('fixture/f-21', 'C-01 F-21 R-33', 'project choice')
    .title('008 without a URL is refused')
    .run((context) => context.checkRefused('SSTP/1.0 008 X\r\n\r\n', '008 without a URL')),
  should('fixture/order', 'R-25 R-33', 'project choice')
    .title(
      'headers come in the order found, start, returned, IDs; those of a description in the order of the manual',
    )
    .does(onFixture, async (context) => {
      const links = await context.ask(`SSTP/1.0 081 X\r\n${id(10)}\r\n`);
      const described = await context.ask(`SSTP/1.0 008 X\r\n${url('http://a.example:81/')}\r\n`);
      checkHeaderOrder(links, [
        'HEADER_NUMFOUND',
        'HEADER_START_RESULTS',
        'HEADER_NUMRESULTS',
        'HEADER_URI_ID',
      ]);
      checkHeaderOrder(
        described,
        DESCRIPTION.map(([name]) => name),
      );
    }),
  must('fixture/pages', 'R-29 R-31 C-02', 'project choice')
    .title('pages of one ID give every ID once, in order, with the same total')
    .does(onFixture, async (context) => {
      for (const [index, id] of ['20', '12'].entries()) {
        const reply = await context.ask(`SSTP/1.0 083 X\r\n${server(1)}${start(index)}${count(1)}\r\n`);
        checkEqual(resultOf(reply), `found 2, start ${index}, 1 returned: ${id}`, 'wrong page');
      }
    }),
];

/** Skips the case for a server that does not serve the fixture. */
export function onFixture(run: (context: SstpContext) => Promise<void>): Procedure<SstpContext> {
  return async (context) => {
    await context.requireFixture();
    await run(context);
  };
}

function checkHeaderOrder(reply: Reply, expected: readonly string[]): void {
  const names = reply.headers.map(([name]) => name).filter((name) => expected.includes(name));
  const seen = names.filter((name, i) => name !== names[i - 1]);
  checkEqual(seen.join(' '), expected.join(' '), 'another order of headers');
}
