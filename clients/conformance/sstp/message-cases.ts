// Cases about the form of messages (sections S6 and S7).
import { ConnectionError } from '../../../protocols/errors.js';
import { check, Mismatch, must, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import {
  checkCode,
  checkServed,
  formatReply,
  PLAIN,
  readReply,
  resultOf,
  type SstpCase,
  type SstpContext,
  valuesOf,
} from './context.js';

const HEAD = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\n';
const ID = 'HEADER_URI_ID: 10\r\n';
/** Headers of a reply to {@link PLAIN} whose values are numbers. */
const NUMBERS = ['HEADER_NUMFOUND', 'HEADER_START_RESULTS', 'HEADER_NUMRESULTS', 'HEADER_URI_ID'];
/** Requests, the symbols of their codes, and a header for each. */
const SYMBOLS = [
  ['081', 'REQ_GET_REFERENCES', 'HEADER_URI_ID: 10'],
  ['082', 'REQ_GET_REFERERS', 'HEADER_URI_ID: 10'],
  ['083', 'REQ_GET_SITEREFERENCES', 'HEADER_SERVER_ID: 1'],
  ['084', 'REQ_GET_SITEREFERERS', 'HEADER_SERVER_ID: 1'],
  ['008', 'REQ_GET_URL_BYNAME', 'HEADER_URL: http://a.example:81/'],
  ['081', 'REQ_GET_REFERENCES', 'HEADER_URL: http://no-such-host.invalid/'],
] as const;

const PARAMETERS = `${ID}HEADER_NUMRESULTS: 5\r\n\r\n`;
/** Headers that 081 does not have (S-33). */
const OTHER_PARAMETERS =
  'HEADER_SERVER_ID: x\r\nHEADER_NUMFOUND: -1\r\nHEADER_SERVER_PORT: 0\r\nHEADER_URI_TIME:\r\n';
/** Codes of other components, some between them, and some of replies. */
const UNSERVED = [
  '000',
  '002',
  '004',
  '007',
  '009',
  '010',
  '016',
  '017',
  '022',
  '080',
  '085',
  '200',
  '404',
  '505',
];

/** Header lines that have this many octets with {@link PARAMETERS}. */
function blockOf(octets: number): string {
  const length = octets - (PARAMETERS.length - 2);
  const line = `X: ${'x'.repeat(1995)}\r\n`;
  const lines = Math.floor(length / line.length) - 1;
  const rest = length - lines * line.length;
  return `${line.repeat(lines)}X: ${'x'.repeat(rest - 5)}\r\n`;
}

/** Other forms of {@link PLAIN}. */
const EQUIVALENT: readonly (readonly [name: string, title: string, rules: string, request: string])[] = [
  [
    'phrase',
    'the phrase does not matter',
    'S-29 P-03',
    PLAIN.replace('REQ_GET_REFERENCES', 'SOMETHING else'),
  ],
  ['no-phrase', 'the phrase may be missing', 'S-29', PLAIN.replace(' REQ_GET_REFERENCES', '')],
  ['minor-version', 'SSTP/1.7 is served as 1.0', 'S-46 P-17', PLAIN.replace('1.0', '1.7')],
  [
    'header-case',
    'names of headers in any case, blanks around values',
    'S-31 P-04',
    `${HEAD}header_uri_id:10\r\nHeader_NumResults: \t5 \r\n\r\n`,
  ],
  [
    'unknown-header',
    'an unknown header is ignored, twice too',
    'S-33 P-06',
    PLAIN.replace(ID, `X_Y: z\r\nX_Y: z\r\n${ID}`),
  ],
  [
    'header-order',
    'headers of a request come in any order',
    'S-21',
    `${HEAD}HEADER_NUMRESULTS: 5\r\n${ID}\r\n`,
  ],
  [
    'phrase-octets',
    'the phrase may hold any octets',
    'S-29',
    `SSTP/1.0 081 \0\x01:\t\x7f\xe4\xff\r\n${PARAMETERS}`,
  ],
  ['phrase-empty', 'the phrase may be empty', 'S-29', `SSTP/1.0 081 \r\n${PARAMETERS}`],
  [
    'phrase-of-another',
    'the phrase of another code does not matter',
    'S-29',
    `SSTP/1.0 081 404 NOT FOUND\r\n${PARAMETERS}`,
  ],
  ['minor-version-large', 'SSTP/1.999 is served as 1.0', 'S-46', PLAIN.replace('1.0', '1.999')],
  [
    'value-octets',
    'the value of an unknown header may hold tabs and octets above 127',
    'S-36',
    PLAIN.replace(ID, `X_Y: a\tb \xe4\xff\r\n${ID}`),
  ],
  [
    'value-colon',
    'the value of a header begins after the first colon',
    'S-31',
    PLAIN.replace(ID, `X_Y:: a:b\r\n${ID}`),
  ],
  [
    'value-empty',
    'the value of an unknown header may be empty',
    'S-31',
    PLAIN.replace(ID, `X_Y:\r\nX_Z: \r\n${ID}`),
  ],
  [
    'short-name',
    'the name of an unknown header may be one digit',
    'S-31',
    PLAIN.replace(ID, `0: z\r\n_: z\r\n${ID}`),
  ],
  [
    'other-parameters',
    'headers that are no parameters of the request are ignored, whatever and however often they are',
    'S-33',
    PLAIN.replace(ID, `${OTHER_PARAMETERS}${OTHER_PARAMETERS}${ID}`),
  ],
  [
    'authorization',
    'HEADER_AUTHORIZATION is ignored',
    'S-43 R-37',
    PLAIN.replace(ID, `HEADER_AUTHORIZATION: Basic ?\r\n${ID}`),
  ],
  [
    'no-body',
    'HEADER_CONTENT_LENGTH: 0 is the same as none',
    'S-37',
    PLAIN.replace(ID, `HEADER_CONTENT_LENGTH: 0\r\n${ID}`),
  ],
  [
    'largest-line',
    'a start line of 256 octets, and a header line of 8192, are accepted',
    'S-38',
    `SSTP/1.0 081 ${'x'.repeat(243)}\r\nX: ${'x'.repeat(8189)}\r\n${PARAMETERS}`,
  ],
  ['most-lines', '64 header lines are accepted', 'S-38', `${HEAD}${'X: y\r\n'.repeat(62)}${PARAMETERS}`],
  [
    'largest-block',
    'header lines of 65536 octets are accepted',
    'S-38',
    `${HEAD}${blockOf(65_536)}${PARAMETERS}`,
  ],
  [
    'leading-zeros',
    'leading zeros of a number are accepted',
    'S-34',
    PLAIN.replace(': 10', ': 000000000010'),
  ],
];

/** The form of messages: sections S6 and S7. */
export const messageCases: readonly SstpCase[] = [
  must('reply/form', 'S-28 S-30 S-31 S-34', 'project choice')
    .title(
      'a reply has the version, three digits, the symbol, CR LF, names in capitals, a colon and one space; numbers are plain',
    )
    .run(async (context) => {
      const reply = await context.ask(PLAIN);
      const start = /^SSTP\/1\.0 (?:081 REQ_GET_REFERENCES|404 REQ_PUT_NOT_FOUND)\r$/;
      const sound =
        start.test(reply.lines[0]!) &&
        reply.lines.slice(1).every((line) => /^[A-Z0-9_]+: [^ \t].*\r$/.test(line)) &&
        // S-34: a sender writes numbers without sign and leading zeros.
        NUMBERS.flatMap((name) => valuesOf(reply, name)).every((value) => /^(?:0|[1-9]\d*)$/.test(value));
      check(sound, 'not the form of a reply', {
        expected: 'SSTP/1.0 081 REQ_GET_REFERENCES\\r\\nHEADER_NUMFOUND: ...',
        received: formatReply(reply),
      });
    }),
  must('reply/start-line', 'S-28 S-30', 'project choice')
    .title('every reply, also a refusal, begins with SSTP/1.0, three digits and a phrase, and ends in CR LF')
    .run(async (context) => {
      const requests = [
        ...['081', '082'].map((digits) => `SSTP/1.0 ${digits} X\r\n${ID}\r\n`),
        ...['083', '084'].map((digits) => `SSTP/1.0 ${digits} X\r\nHEADER_SERVER_ID: 1\r\n\r\n`),
        `${HEAD}HEADER_URI_ID: 0\r\n\r\n`,
        `${HEAD}HEADER_URL: http://no-such-host.invalid/\r\n\r\n`,
        'SSTP/1.0 999 X\r\n\r\n',
        PLAIN.replace('1.0', '2.0'),
      ];
      for (const request of requests) {
        const reply = await context.ask(request);
        const sound = /^SSTP\/1\.0 \d{3} [A-Z][\x20-\x7e]*\r$/.test(reply.lines[0]!);
        check(sound && reply.lines.every((line) => line.endsWith('\r')), 'not the form of a reply', {
          expected: 'SSTP/1.0 NNN PHRASE\\r\\n',
          received: formatReply(reply),
        });
      }
    }),
  must('reply/symbols', 'S-28', 'project choice')
    .title('every reply to a request carries the symbol of its code')
    .run(async (context) => {
      for (const [digits, symbol, header] of SYMBOLS) {
        const reply = await context.ask(`SSTP/1.0 ${digits} X\r\n${header}\r\n\r\n`);
        const start = reply.lines[0]!.trimEnd();
        const expected = [`SSTP/1.0 ${digits} ${symbol}`, 'SSTP/1.0 404 REQ_PUT_NOT_FOUND'];
        check(expected.includes(start), 'another symbol', {
          expected: expected.join(', or '),
          received: printable(start),
        });
      }
    }),
  ...[81, 82, 83, 84].map((code): SstpCase => {
    const digits = `0${code}`;
    const header = code < 83 ? 'HEADER_URI_ID: 10' : 'HEADER_SERVER_ID: 1';
    return must(`reply/code-${digits}`, 'S-40 S-41 P-02', 'seed')
      .title(`the reply to ${digits} carries ${digits}, or 404 for nothing found`)
      .run(async (context) => {
        checkServed(await context.ask(`SSTP/1.0 ${digits} X\r\n${header}\r\n\r\n`), code, digits);
      });
  }),
  ...EQUIVALENT.map(([name, title, rules, request]) =>
    must(`request/${name}`, rules, 'project choice').title(title).does(equivalent, title, request),
  ),
  should('request/bare-lf', 'S-30 P-05', 'project choice')
    .title('lines may end in LF alone')
    .does(equivalent, 'lines may end in LF alone', PLAIN.replaceAll('\r', '')),
  must('request/version-2', 'S-46 S-39 P-17', 'project choice')
    .title('SSTP/2.0 is answered 505, and the connection closed')
    .run((context) => context.checkRefused(PLAIN.replace('1.0', '2.0'), 'SSTP/2.0', 505)),
  must('request/other-versions', 'S-46 S-39', 'project choice')
    .title('every other major version is answered 505, whatever follows it')
    .run(async (context) => {
      for (const version of ['0.9', '3.0', '10.0', '11.7', '4294967297.0'])
        await context.checkRefused(PLAIN.replace('1.0', version), `SSTP/${version}`, 505);
      for (const start of ['2.0', '2.0 no request', '2.0  081 X', '2.0 81'])
        await context.checkRefused(`SSTP/${start}\r\n\r\n`, `SSTP/${printable(start)}`, 505);
    }),
  must('request/version-before-headers', 'S-46', 'project choice')
    .title('another major version is answered 505, also if the headers are malformed')
    .run(async (context) => {
      for (const lines of [
        'X NOTE: a',
        'no colon',
        'X: a\r\n folded',
        `${ID}${ID}HEADER_URI_ID: x`,
        'X: a\0b',
      ])
        await context.checkRefused(
          `SSTP/2.0 081 X\r\n${lines}\r\n\r\n`,
          `SSTP/2.0 and ${printable(lines)}`,
          505,
        );
    }),
  must('request/largest-id', 'S-34 P-08', 'project choice')
    .title('the ID 4294967295 is accepted')
    .run(async (context) => {
      checkServed(await context.ask(`${HEAD}HEADER_URI_ID: 4294967295\r\n\r\n`), 81, 'the ID 4294967295');
    }),
  must('request/id-first', 'R-22', 'seed')
    .title('if an ID is given, the URL is ignored, even a malformed one')
    .run(async (context) => {
      checkServed(await context.ask(`${HEAD}HEADER_URL: ::::\r\n${ID}\r\n`), 81, 'an ID and a malformed URL');
    }),
  must('request/unserved', 'R-20 S-46 S-39', 'seed; project choice')
    .title('every code but the five of a references server is answered 501, also those of other components')
    .run(async (context) => {
      const wire = await context.connect(false);
      for (const digits of UNSERVED) {
        await wire.send(`SSTP/1.0 ${digits} X\r\n${ID}\r\n`);
        checkCode(await readReply(wire), 501, digits);
      }
    }),
  ...['001', '006', '999'].map(
    (digits): SstpCase =>
      must(`request/unserved-${digits}`, 'S-46 S-39 R-20 P-18', 'project choice')
        .title(`${digits} is answered 501, and the connection stays open`)
        .run(async (context) => {
          const wire = await context.connect();
          await wire.send(`SSTP/1.0 ${digits} X\r\n\r\n${PLAIN}`);
          checkCode(await readReply(wire), 501, digits);
          checkServed(await readReply(wire), 81, 'the request after it');
        }),
  ),
];

/** Sends another form of {@link PLAIN}, which gets the same reply. @param what names the form in messages */
function equivalent(what: string, request: string): Procedure<SstpContext> {
  return async (context) => {
    const expected = await context.ask(PLAIN, false);
    const reply = await context.ask(request).catch((error: unknown) => {
      if (!(error instanceof ConnectionError)) throw error;
      throw new Mismatch(`not answered: ${what}`, {
        expected: formatReply(expected),
        received: printable(error.message),
      });
    });
    check(
      reply.code === expected.code &&
        resultOf(reply) === resultOf(expected) &&
        reply.lines[0]!.startsWith('SSTP/1.0 '),
      `another answer: ${what}`,
      { expected: formatReply(expected), received: formatReply(reply) },
    );
  };
}
