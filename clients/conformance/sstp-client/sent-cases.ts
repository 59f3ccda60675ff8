// Cases about the session and what the client sends.
import { check, checkMatches, checkNone, must, type Procedure, should } from '../case.js';
import { checkReportsSuccess } from '../client-context.js';
import { printable } from '../printable.js';
import { checkShows, type SentRequest, type SstpClientCase, type SstpClientContext } from './bench.js';

/** The headers of a link request (S-33), and which of them are numbers. */
const NUMBERS = [
  'HEADER_URI_ID',
  'HEADER_SERVER_ID',
  'HEADER_NUMRESULTS',
  'HEADER_START_RESULTS',
  'HEADER_GENERATION',
  'HEADER_CONTENT_LENGTH',
];

const START_LINES = [
  'SSTP/1.0 081 REQ_GET_REFERENCES',
  'SSTP/1.0 082 REQ_GET_REFERERS',
  'SSTP/1.0 083 REQ_GET_SITEREFERENCES',
  'SSTP/1.0 084 REQ_GET_SITEREFERERS',
  'SSTP/1.0 008 REQ_GET_URL_BYNAME',
];

/** The session as a whole, and the octets of the requests. */
export const sentCases: readonly SstpClientCase[] = [
  must('session/plain', 'R-24 S-39 P-20', 'seed')
    .title(
      'prints the IDs of an ordinary reply, in its order, and ends although the server keeps the connection',
    )
    .run(async (context) => {
      const run = await context.bench.ordinary(context);
      check(run.requests.length > 0, 'the client sends no request of SSTP', {
        expected: 'SSTP/1.0 082 REQ_GET_REFERERS',
        received: printable(run.sessions.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n')),
      });
      checkShows(run);
    }),
  should('session/exit-status', 'R-24', 'project choice')
    .title('ends with exit status 0 after a result')
    .run(async (context) => checkReportsSuccess(await context.bench.ordinary(context))),
  must('sent/start-line', 'S-28 S-5 S-7', 'project choice')
    .title('a request begins with SSTP/1.0, a code and its symbol')
    .does(requests, ({ start }) =>
      check(START_LINES.includes(start.text), 'not the start line of a request', {
        expected: START_LINES.join(', '),
        received: printable(start.text),
      }),
    ),
  must('sent/line-ends', 'S-30', 'project choice')
    .title('every line ends in CR LF')
    .does(requests, ({ start, lines }) =>
      checkNone(
        [start, ...lines].find(({ end }) => end !== '\r\n'),
        'a line does not end in CR LF',
        'CR LF',
        ({ text, end }) => printable(text + end),
      ),
    ),
  must('sent/headers', 'S-31', 'project choice')
    .title('a header is its registered name in capitals, a colon, one space and the value')
    .does(requests, ({ lines }) => {
      for (const { text } of lines)
        checkMatches(text, /^[A-Z0-9_]+: [!-~](?:[ -~]*[!-~])?$/, 'not a header line', 'HEADER_NAME: value');
    }),
  must('sent/once', 'S-33', 'project choice')
    .title('no header occurs twice in a request')
    .does(requests, ({ lines, headers }) =>
      check(headers.size === lines.length, 'a header occurs twice', {
        expected: 'each header at most once',
        received: printable(lines.map(({ text }) => text).join('\n')),
      }),
    ),
  must('sent/names', 'R-21', 'project choice')
    .title('a link request names the document, by its URL or by an ID other than 0')
    .does(requests, ({ headers }) => {
      const id = headers.get('HEADER_URI_ID') ?? headers.get('HEADER_SERVER_ID') ?? '0';
      check(headers.has('HEADER_URL') || Number(id) > 0, 'the request names no document', {
        expected: 'HEADER_URL, or an ID',
        received: printable([...headers.keys()].join(' ')),
      });
    }),
  must('sent/numbers', 'S-34 S-10', 'seed; project choice')
    .title('numbers are decimal digits without leading zeros, of 32 bits')
    .does(requests, ({ headers }) => {
      for (const name of NUMBERS) {
        const value = headers.get(name);
        if (value === undefined) continue;
        const isNumber = /^(?:0|[1-9]\d{0,9})$/.test(value) && Number(value) < 2 ** 32;
        check(isNumber, `not a number: ${name}`, { expected: '0 to 4294967295', received: printable(value) });
      }
    }),
  must('sent/no-body', 'S-37', 'project choice')
    .title('a request has no body')
    .does(requests, ({ headers }) =>
      check((headers.get('HEADER_CONTENT_LENGTH') ?? '0') === '0', 'the request announces a body', {
        expected: 'no HEADER_CONTENT_LENGTH',
        received: headers.get('HEADER_CONTENT_LENGTH') ?? '',
      }),
    ),
];

/** Checks every request of the ordinary run. */
function requests(verify: (request: SentRequest) => void): Procedure<SstpClientContext> {
  return async (context) => {
    const run = await context.bench.ordinary(context);
    check(run.requests.length > 0, 'the client sends no request', {
      expected: 'a request',
      received: 'none',
    });
    for (const request of run.requests) verify(request);
  };
}
