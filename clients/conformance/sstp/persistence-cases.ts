// Cases about what a connection serves after each reply, and about requests that are sent before replies come (S-39).
import { check, checkEqual, must, type Procedure } from '../case.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import {
  checkCode,
  checkServed,
  formatReply,
  PLAIN,
  type Reply,
  readReply,
  type SstpCase,
  type SstpContext,
} from './context.js';

const UNKNOWN_URL = 'HEADER_URL: http://no-such-host.invalid/\r\n';
/** A document of the fixture. */
const DESCRIBED = 'HEADER_URL: http://a.example:81/\r\n';
const UNSERVED = 'SSTP/1.0 006 X\r\n';
const REFUSED = 'SSTP/1.0 081 X\r\n\r\n';
const OTHER_VERSION = PLAIN.replace('1.0', '2.0');
/** More octets than a server reads at once. */
const FLOOD = PLAIN.repeat(2_000);
/** A body that looks like a request. */
const BODY = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 10\r\n\r\n';

/** Requests after which a server keeps the connection. */
const KEPT: readonly (readonly [
  name: string,
  what: string,
  rules: string,
  request: string,
  codes: readonly number[],
])[] = [
  ['found', 'a result', 'S-39', PLAIN, [81, 404]],
  [
    'not-found',
    'a document that it does not know',
    'S-39 R-27',
    `SSTP/1.0 081 X\r\n${UNKNOWN_URL}\r\n`,
    [404, 81],
  ],
  [
    'site-not-found',
    'a site that it does not know',
    'S-39 R-27',
    `SSTP/1.0 084 X\r\n${UNKNOWN_URL}\r\n`,
    [404, 84],
  ],
  ['description', 'a description', 'S-39 R-33', `SSTP/1.0 008 X\r\n${DESCRIBED}\r\n`, [8, 404]],
  [
    'description-not-found',
    '008 of a URL that it does not know',
    'S-39 R-34',
    `SSTP/1.0 008 X\r\n${UNKNOWN_URL}\r\n`,
    [404],
  ],
  [
    'unknown-id',
    'an ID that it does not know',
    'S-39 R-27',
    'SSTP/1.0 082 X\r\nHEADER_URI_ID: 4294967295\r\n\r\n',
    [404, 82],
  ],
  [
    'no-results',
    'a total without IDs',
    'S-39 R-31',
    PLAIN.replace('NUMRESULTS: 5', 'NUMRESULTS: 0'),
    [81, 404],
  ],
  ['unserved', 'a code that it does not serve', 'S-39 S-46', `${UNSERVED}\r\n`, [501]],
  ['body', 'a body of a request that it does not serve', 'S-37 S-46', withBody(BODY), [501]],
  ['empty-lines-in-body', 'a body of line ends', 'S-37 S-46', withBody('\r\n\r\n\r\n'), [501]],
  ['one-octet', 'a body of one octet', 'S-37 S-46', withBody('S'), [501]],
  ['large-body', 'a body of 65536 octets', 'S-37 S-38', withBody('SSTP/1.0'.repeat(8_192)), [501]],
];

/** Requests after which a server closes the connection. */
const CLOSED: readonly (readonly [name: string, what: string, request: string, code: number])[] = [
  ['refused', 'a refusal', REFUSED, 400],
  ['malformed', 'a malformed header', PLAIN.replace('HEADER_URI_ID', 'HEADER URI_ID'), 400],
  ['malformed-start', 'a malformed start line', PLAIN.replace(' 081', ' 81'), 400],
  ['version', 'another version', OTHER_VERSION, 505],
];

/** Requests of different kinds, in the order in which they are pipelined. */
const MIXED: readonly string[] = [
  PLAIN,
  `SSTP/1.0 082 X\r\n${UNKNOWN_URL}\r\n`,
  `${UNSERVED}\r\n`,
  'SSTP/1.0 083 X\r\nHEADER_SERVER_ID: 1\r\nHEADER_NUMRESULTS: 1\r\n\r\n',
  withBody(BODY),
  `SSTP/1.0 008 X\r\n${DESCRIBED}\r\n`,
  PLAIN.replace('081', '082'),
  'SSTP/1.0 084 X\r\nHEADER_SERVER_ID: 1\r\n\r\n',
  `SSTP/1.0 008 X\r\n${UNKNOWN_URL}\r\n`,
];

/** A request with header lines of every kind. */
const SPLIT =
  'SSTP/1.0 082 REQ_GET_REFERERS\r\nX_NOTE: a\r\nHEADER_URI_ID: 10\r\nHEADER_NUMRESULTS: 2\r\n\r\n';

/** What follows a reply on a connection. */
export const persistenceCases: readonly SstpCase[] = [
  ...KEPT.map(([name, what, rules, request, codes]) =>
    must(`persistence/${name}`, rules, 'project choice')
      .title(`after ${what} the connection stays open, and the next requests are served`)
      .does(kept, request, codes),
  ),
  ...CLOSED.map(([name, what, request, code]) =>
    must(`persistence/closed-${name}`, 'S-39', 'project choice')
      .title(`after ${what} no further request is answered, whether it has arrived or not`)
      .does(closed, request, code),
  ),
  must('persistence/refusal-arrives', 'S-39', 'project choice')
    .title('a client that still sends gets the refusal and the end of the connection, not a reset')
    .run(async (context) => {
      const wire = await context.connect(false);
      await wire.send(REFUSED + FLOOD);
      checkCode(await readReply(wire), 400, 'a refused request');
      await wire.expectEnd('the refusal');
    }),
  must('persistence/empty-line', 'S-28 S-39', 'project choice')
    .title('an empty line between two requests is answered 400, and the connection is closed')
    .run(async (context) => {
      const wire = await context.connect();
      await wire.send(`${PLAIN}\r\n${PLAIN}`);
      checkServed(await readReply(wire), 81, 'the request before the empty line');
      checkCode(await readReply(wire), 400, 'the empty line');
      await wire.expectEnd('the 400');
    }),
  must('persistence/half-request', 'S-39 P-13', 'project choice')
    .title('a client that closes its side within a request gets the replies before it, then the end')
    .run(async (context) => {
      for (const half of [PLAIN.slice(0, -2), PLAIN.slice(0, 40), PLAIN.slice(0, 3)]) {
        const wire = await context.connect();
        await wire.send(PLAIN + half);
        wire.endInput();
        checkServed(await readReply(wire), 81, 'the request before a half one');
        await wire.expectEnd('the reply');
      }
    }),
  must('persistence/undecided', 'S-47', 'project choice')
    .title('a client that closes its side before the protocol is known gets 400')
    .run(async (context) => {
      for (const start of ['S', 'SSTP', 'GET /']) {
        const wire = await context.connect();
        await wire.send(start);
        wire.endInput();
        checkCode(await readReply(wire), 400, `"${start}" and the end`);
        await wire.expectEnd('the 400');
      }
    }),
  must('persistence/mixed', 'S-39 P-23', 'project choice')
    .title('each of several requests at once gets the reply that it gets alone, in the order of the requests')
    .run(async (context) => {
      const alone: Reply[] = [];
      for (const request of MIXED) alone.push(await context.ask(request, false));
      const wire = await context.connect();
      await wire.send(MIXED.join(''));
      await checkReplies(wire, alone);
      wire.endInput();
      await wire.expectEnd('the replies');
    }),
  must('persistence/split', 'S-48 S-39', 'project choice')
    .title('a request that comes in two segments, cut anywhere near the end of a line, is understood')
    .run(async (context) => {
      const alone = await context.ask(SPLIT, false);
      for (const at of cutsOf(SPLIT)) {
        const wire = await context.connect(false);
        // The reply to the first request shows that the begin of the second one has arrived, too.
        await wire.send(PLAIN + SPLIT.slice(0, at));
        checkServed(await readReply(wire), 81, 'the request before a half one');
        await wire.send(SPLIT.slice(at) + PLAIN);
        await checkReplies(wire, [alone]);
        checkServed(await readReply(wire), 81, 'the request after it');
        await wire.close();
      }
    }),
];

/** Requests with a body that a server skips. */
function withBody(body: string): string {
  return `${UNSERVED}HEADER_CONTENT_LENGTH: ${body.length}\r\n\r\n${body}`;
}

/** Offsets around the ends of lines. */
function cutsOf(text: string): number[] {
  const ends = [...text.matchAll(/\r\n/g)].flatMap(({ index }) => [index, index + 1, index + 2]);
  return [...new Set([1, 5, 9, ...ends])].filter((at) => at < text.length);
}

/** Sends requests together and one after the other: each time the one after this is served. */
function kept(request: string, codes: readonly number[]): Procedure<SstpContext> {
  return async (context) => {
    const wire = await context.connect();
    await wire.send(request);
    checkOneOf(await readReply(wire), codes);
    await wire.send(PLAIN);
    checkServed(await readReply(wire), 81, 'the request after it');
    await wire.send(request + PLAIN);
    checkOneOf(await readReply(wire), codes);
    checkServed(await readReply(wire), 81, 'the request that came with it');
    wire.endInput();
    await wire.expectEnd('the replies');
  };
}

/** Sends a request with another one in the same segment, and one after it. */
function closed(request: string, code: number): Procedure<SstpContext> {
  return async (context) => {
    const wire = await context.connect();
    await wire.send(request + PLAIN + PLAIN);
    checkCode(await readReply(wire), code, 'the first request');
    await wire.expectEnd(`the ${code}`);
    const after = await context.connect();
    await after.send(PLAIN + request + PLAIN);
    checkServed(await readReply(after), 81, 'the request before it');
    checkCode(await readReply(after), code, 'the second request');
    await after.expectEnd(`the ${code}`);
  };
}

function checkOneOf(reply: Reply, codes: readonly number[]): void {
  check(codes.includes(reply.code), 'another answer', {
    expected: `SSTP/1.0 ${codes.map((code) => String(code).padStart(3, '0')).join(' or ')}`,
    received: formatReply(reply),
  });
}

/** Checks that these replies come, line by line. @throws Mismatch */
async function checkReplies(wire: Wire, expected: readonly Reply[]): Promise<void> {
  for (const [at, { lines }] of expected.entries()) {
    const reply = await readReply(wire);
    const show = (text: string) => printable(text, 300);
    checkEqual(reply.lines.join('\n'), lines.join('\n'), `reply ${at + 1} is another than alone`, show);
  }
}
