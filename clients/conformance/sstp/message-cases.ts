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
    'leading-zeros',
    'leading zeros of a number are accepted',
    'S-34',
    PLAIN.replace(': 10', ': 000000000010'),
  ],
];

/** Requests that are answered 400, after which the connection is closed. */
const REFUSED: readonly (readonly [name: string, what: string, rules: string, request: string])[] = [
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
  ...REFUSED.map(([name, what, rules, request]) =>
    must(`refuse/${name}`, `${rules} S-39`, 'project choice')
      .title(`${what} is answered 400, and the connection is closed`)
      .run((context: SstpContext) => context.checkRefused(request, what)),
  ),
  must('request/version-2', 'S-46 S-39 P-17', 'project choice')
    .title('SSTP/2.0 is answered 505, and the connection closed')
    .run((context) => context.checkRefused(PLAIN.replace('1.0', '2.0'), 'SSTP/2.0', 505)),
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
