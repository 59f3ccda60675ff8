// Cases about the five requests, for a server that serves the fixture of references-server.md 13.
import { check } from '../case.js';
import type { SstpCase } from './context.js';
import { checkCode, formatReply, type Reply, resultOf, valuesOf } from './reply.js';

/** A request and the reply of a server that serves the fixture: references-server.md 13 and C-01. */
interface Row {
  readonly code: '081' | '082' | '083' | '084';
  readonly headers: string;
  /** The result as {@link resultOf} formats it; 400 for a refusal. */
  readonly expected: string | 400;
  readonly rules: readonly string[];
}

const id = (value: number) => `HEADER_URI_ID: ${value}\r\n`;
const url = (value: string) => `HEADER_URL: ${value}\r\n`;
const server = (value: number) => `HEADER_SERVER_ID: ${value}\r\n`;
const start = (value: number) => `HEADER_START_RESULTS: ${value}\r\n`;
const count = (value: number) => `HEADER_NUMRESULTS: ${value}\r\n`;
const NONE = 'nothing found';

const ROWS: Readonly<Record<string, Row>> = {
  'f-01': {
    code: '081',
    headers: id(10),
    expected: 'found 3, start 0, 3 returned: 11 20 12',
    rules: ['R-24', 'R-10', 'R-29'],
  },
  'f-02': {
    code: '082',
    headers: id(10),
    expected: 'found 3, start 0, 3 returned: 11 20 12',
    rules: ['R-24', 'R-10'],
  },
  'f-03': {
    code: '082',
    headers: id(20),
    expected: 'found 2, start 0, 2 returned: 10 11',
    rules: ['R-24', 'R-10'],
  },
  'f-04': {
    code: '081',
    headers: url('http://A.example:80'),
    expected: 'found 3, start 0, 3 returned: 11 20 12',
    rules: ['R-41', 'R-3'],
  },
  'f-05': {
    code: '081',
    headers: id(10) + url('http://b.example/'),
    expected: 'found 3, start 0, 3 returned: 11 20 12',
    rules: ['R-22'],
  },
  'f-06': {
    code: '081',
    headers: id(0) + url('http://b.example/'),
    expected: 'found 1, start 0, 1 returned: 10',
    rules: ['S-35', 'P-09'],
  },
  'f-07': {
    code: '081',
    headers: id(10) + start(1) + count(1),
    expected: 'found 3, start 1, 1 returned: 20',
    rules: ['R-31', 'R-24'],
  },
  'f-08': {
    code: '081',
    headers: id(10) + start(5),
    expected: 'found 3, start 5, 0 returned: ',
    rules: ['R-31'],
  },
  'f-09': {
    code: '081',
    headers: id(10) + count(0),
    expected: 'found 3, start 0, 0 returned: ',
    rules: ['R-31'],
  },
  'f-10': { code: '081', headers: id(21), expected: NONE, rules: ['R-26', 'R-27'] },
  'f-11': { code: '081', headers: id(99), expected: NONE, rules: ['R-26', 'R-27'] },
  'f-12': { code: '082', headers: url('http://nowhere.example/'), expected: NONE, rules: ['R-26', 'R-27'] },
  'f-13': { code: '081', headers: '', expected: 400, rules: ['R-21'] },
  'f-14': {
    code: '083',
    headers: server(1),
    expected: 'found 2, start 0, 2 returned: 20 12',
    rules: ['R-29', 'R-32', 'C-24'],
  },
  'f-15': {
    code: '084',
    headers: server(1),
    expected: 'found 2, start 0, 2 returned: 20 12',
    rules: ['R-29', 'R-32', 'C-24'],
  },
  'f-16': {
    code: '083',
    headers: url('a.example:81'),
    expected: 'found 2, start 0, 2 returned: 10 11',
    rules: ['R-38', 'R-40', 'C-24'],
  },
  'f-17': {
    code: '084',
    headers: url('http://b.example/lonely?q#f'),
    expected: 'found 2, start 0, 2 returned: 10 11',
    rules: ['R-40'],
  },
  'f-18': {
    code: '084',
    headers: server(3) + url('a.example'),
    expected: 'found 2, start 0, 2 returned: 10 11',
    rules: ['R-22'],
  },
  'f-19': { code: '084', headers: url('c.example'), expected: NONE, rules: ['R-26', 'R-27'] },
};

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

/** The five requests on the fixture of references-server.md 13. */
export const fixtureCases: readonly SstpCase[] = [
  ...Object.entries(ROWS).map(([name, row]): SstpCase => {
    const { code, headers, expected, rules } = row;
    const identifier = headers.replaceAll('HEADER_', '').trim().replaceAll('\r\n', ', ');
    return {
      id: `fixture/${name}`,
      title: `${code} ${identifier === '' ? 'without an identifier' : identifier}: ${expected === 400 ? 'refused' : expected.trim()}`,
      rules: ['C-01', name.toUpperCase(), ...rules],
      source: 'seed; project choice',
      level: 'MUST',
      async run(context) {
        await context.requireFixture();
        const reply = await context.ask(`SSTP/1.0 ${code} X\r\n${headers}\r\n`);
        if (expected === 400) return checkCode(reply, 400, 'a request without an identifier');
        if (expected !== NONE) checkCode(reply, Number(code), code);
        check(resultOf(reply) === expected, 'wrong links', { expected, received: resultOf(reply) });
      },
    };
  }),
  {
    id: 'fixture/f-20',
    title: '008 of http://a.example:81/: nine fields, each once',
    rules: ['C-01', 'F-20', 'R-33', 'R-42'],
    source: 'seed; project choice',
    level: 'MUST',
    async run(context) {
      await context.requireFixture();
      const reply = await context.ask(`SSTP/1.0 008 X\r\n${url('http://a.example:81/')}\r\n`);
      checkCode(reply, 8, '008');
      for (const [name, value] of DESCRIPTION) {
        const values = valuesOf(reply, name);
        check(values.length === 1 && values[0] === value, `${name} is wrong`, {
          expected: `${name}: ${value}`,
          received: formatReply(reply),
        });
      }
    },
  },
  {
    id: 'fixture/f-21',
    title: '008 without a URL is refused',
    rules: ['C-01', 'F-21', 'R-33'],
    source: 'project choice',
    level: 'MUST',
    run: (context) => context.checkRefused('SSTP/1.0 008 X\r\n\r\n', '008 without a URL'),
  },
  {
    id: 'fixture/order',
    title:
      'headers come in the order found, start, returned, IDs; those of a description in the order of the manual',
    rules: ['R-25', 'R-33'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      await context.requireFixture();
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
    },
  },
  {
    id: 'fixture/pages',
    title: 'pages of one ID give every ID once, in order, with the same total',
    rules: ['R-29', 'R-31', 'C-02'],
    source: 'project choice',
    level: 'MUST',
    async run(context) {
      await context.requireFixture();
      for (const [index, id] of ['20', '12'].entries()) {
        const reply = await context.ask(`SSTP/1.0 083 X\r\n${server(1)}${start(index)}${count(1)}\r\n`);
        const expected = `found 2, start ${index}, 1 returned: ${id}`;
        check(resultOf(reply) === expected, 'wrong page', { expected, received: resultOf(reply) });
      }
    },
  },
];

function checkHeaderOrder(reply: Reply, expected: readonly string[]): void {
  const names = reply.headers.map(([name]) => name).filter((name) => expected.includes(name));
  const seen = names.filter((name, i) => name !== names[i - 1]);
  check(seen.join() === expected.join(), 'another order of headers', {
    expected: expected.join(' '),
    received: seen.join(' '),
  });
}
