// Cases about the session: commands, status lines, refusals, delivery, INFO.
import { check, checkMatches, must, NotApplicable, should } from '../case.js';
import { checkReportsSuccess } from '../client-context.js';
import { printable } from '../printable.js';
import type { ClientContext, Observation } from './bench.js';
import {
  broken,
  type ClientCase,
  checkComplete,
  checkReportsFailure,
  complete,
  completeMember,
  linesOf,
  mustReceive,
  ORDINARY,
  ordinary,
} from './checks.js';
import { compressed, inClear, type Step } from './dialogue.js';
import { gzipMember, stored } from './gzip-member.js';
import { DESCRIPTION, inSection, PLAIN, streamOf } from './objects.js';

/** GATHERD-1: the exact lines that a client may send; other cases check the arguments. */
const SPELLING =
  /^(?:HELLO(?: .*)?|HELP|INFO|QUIT|SEND-OBJECT .+|SEND-UPDATE .+|SET (?:compression|changes|line-end|sequence(?: [0-9A-Za-z-]{1,64} \d{1,16})?))$/;

const PUBLISHED = 'gatherd NOTES; beckett; roads; project choice';

/** One whole session, and what the client sends in it. */
export const SESSION_CASES: readonly ClientCase[] = [
  mustReceive('session/plain', 'GATHERD-7.1 GATHERD-4.4', 'gatherd NOTES; roads')
    .title('gets all objects of an ordinary session, the answer to SEND-UPDATE sent in one piece')
    .does(ordinary, (observation, context) => checkComplete(observation, PLAIN, context)),
  should('session/exit-status', 'GATHERD-11.4', 'project choice')
    .title('ends with exit status 0 when the transfer was complete')
    .does(ordinary, checkReportsSuccess),
  mustReceive('session/closes', 'GATHERD-3.1', 'beckett')
    .title('closes the connection itself after 999')
    .run(async (context) => {
      await checkComplete(
        await context.bench.observe({ ...ORDINARY, staysOpen: true }, context),
        PLAIN,
        context,
      );
    }),
  should('session/no-answer-to-quit', 'GATHERD-7.3 GATHERD-11.4', 'roads; project choice')
    .title('accepts a server that closes instead of answering QUIT')
    .does(complete, PLAIN, { quit: [] }),
  must('commands/spelling', 'GATHERD-1 GATHERD-2.1 GATHERD-2.2 GATHERD-2.3', PUBLISHED)
    .title('sends verbs in upper case and keywords in lower case, exactly as published')
    .does(ordinary, ({ sessions }) => {
      for (const { text } of sessions.flatMap(({ lines }) => lines)) {
        checkMatches(
          text,
          SPELLING,
          'a line is not a command as published',
          'HELLO x, HELP, INFO, SEND-OBJECT x, SEND-UPDATE n, SET compression, SET changes, SET sequence, SET line-end or QUIT',
        );
      }
    }),
  must('commands/line-ends', 'GATHERD-1.4', 'beckett; roads')
    .title('ends every line in LF or CR LF')
    .does(ordinary, ({ sessions }) => {
      for (const { text, end } of sessions.flatMap(({ lines }) => lines)) {
        check(end !== '' && !text.includes('\r'), 'a line has another end', {
          expected: 'LF or CR LF',
          received: printable(text + end),
        });
      }
    }),
  should('commands/hello-argument', 'GATHERD-2.6', 'gatherd NOTES; beckett')
    .title("sends HELLO with the client's own host name")
    .does(ordinary, (observation) => {
      const lines = linesOf(observation, 'HELLO');
      if (lines.length === 0) throw new NotApplicable('the client does not send HELLO (GATHERD-2.5)');
      for (const line of lines) {
        checkMatches(line, /^\s*\S+\s+[A-Za-z0-9_.:-]+\s*$/, 'HELLO has no host name', 'HELLO <hostname>');
      }
    }),
  must('commands/timestamp', 'GATHERD-4.1', 'gatherd NOTES; seed manual')
    .title('sends SEND-UPDATE with a decimal number of seconds')
    .does(ordinary, (observation) => {
      const lines = linesOf(observation, 'SEND-UPDATE');
      check(lines.length > 0, 'the client does not request an update', {
        expected: 'SEND-UPDATE 0',
        received: 'none',
      });
      for (const line of lines) {
        checkMatches(line, /^\s*\S+\s+\d+\s*$/, 'the timestamp is not a decimal number', 'SEND-UPDATE 0');
      }
    }),
  must('commands/quit', 'GATHERD-7.1 GATHERD-3.1', 'gatherd NOTES; beckett; roads')
    .title('sends QUIT as its last line before it closes')
    .does(ordinary, ({ sessions }) => {
      for (const { lines } of sessions) {
        const last = lines.at(-1)?.text.trim() ?? '';
        check(last.toUpperCase() === 'QUIT', 'the last line is not QUIT', {
          expected: 'QUIT',
          received: printable(last),
        });
      }
    }),
];

/** Status lines as other servers may send them. */
export const LINE_CASES: readonly ClientCase[] = [
  mustReceive('lines/cr-lf', 'GATHERD-1.5', 'project choice')
    .title('accepts status lines that end in CR LF')
    .does(complete, PLAIN, { lineEnd: '\r\n' }),
  mustReceive('lines/greeting-text', 'GATHERD-3.1', 'beckett')
    .title('accepts another version and more text after the host name of the greeting')
    .does(complete, PLAIN, {
      greeting: ['000 - HELLO 1.4.pl2 gatherer.example.org are you ready - 499 times?'],
    }),
  mustReceive('lines/other-texts', 'GATHERD-1.6 GATHERD-3.4', 'project choice')
    .title('decides by the number of a status line, never by its text')
    .does(complete, PLAIN, {
      hello: ['100 - 900 - no, really: error, denied'],
      update: () => ['400 - 499 - no objects, error\n', PLAIN.stream, '499 - 400 - more\n'],
      quit: ['999 - HELLO'],
    }),
  mustReceive('lines/short-texts', 'GATHERD-1.6 GATHERD-3.4', 'project choice')
    .title('reads 100, 400, 499 and 999 with other short texts')
    .does(complete, PLAIN, {
      hello: ['100 - x'],
      update: () => ['400 - x\n', PLAIN.stream, '499 - x\n'],
      quit: ['999 - x'],
    }),
  mustReceive('lines/sequence', 'GATHERD-1.6 GATHERD-3.4', 'project choice')
    .title('reads 499 as the end of data when its text names a database and a number (GATHERD-6.13)')
    .does(complete, PLAIN, {
      update: () => inClear(PLAIN, '499 - Sent 2 objects; sequence 5f1d8a4e3c2b7096 17'),
    }),
  mustReceive('lines/unknown-lines', 'GATHERD-1.7', 'beckett')
    .title('skips lines without a number outside of data')
    .does(complete, PLAIN, {
      hello: ['Welcome to this Gatherer.', '', '    4990 - not a status line', '100 - hello'],
      update: () => ['One moment please.\n', ...inClear(PLAIN)],
      quit: ['Thank you.', '999 - Bye'],
    }),
  mustReceive('lines/unknown-codes', 'GATHERD-1.7', 'beckett')
    .title('skips unknown numbers outside of data')
    .does(complete, PLAIN, {
      hello: ['150 - this daemon was built in 1996', '100 - hello'],
      update: () => ['450 - looking\n', ...inClear(PLAIN)],
      quit: ['950 - 2 objects sent', '999 - Bye'],
    }),
  mustReceive('lines/end-099', 'GATHERD-3.3', 'roads')
    .title('reads 099 as the end of data, like 499')
    .does(complete, PLAIN, { update: () => inClear(PLAIN, '099 - end of data') }),
];

/** A server that refuses the client or does not understand it. */
export const REFUSAL_CASES: readonly ClientCase[] = [
  should('refused/access-denied', 'GATHERD-3.10 GATHERD-11.4', 'project choice')
    .title('fails when 999 is the first line')
    .run(async (context) => {
      checkReportsFailure(await context.bench.observeRefusal('999 - Access denied\n', context));
    }),
  should('refused/no-greeting', 'GATHERD-1.1 GATHERD-11.4', 'project choice')
    .title('fails when the server closes without a greeting')
    .run(async (context) => checkReportsFailure(await context.bench.observeRefusal('', context))),
  should('refused/no-connection', 'GATHERD-11.4', 'project choice')
    .title('fails when no server listens')
    .run(async (context) => checkReportsFailure(await context.bench.observeNoServer(context))),
  should('refused/bad-timestamp', 'GATHERD-3.9 GATHERD-11.4', 'project choice')
    .title('ends, and fails, when 499 answers SEND-UPDATE without 400')
    .does(broken, '499 - Bad timestamp\n'),
];

/** Ways in which the bytes arrive. */
export const DELIVERY_CASES: readonly ClientCase[] = [
  mustReceive('delivery/single-bytes', 'GATHERD-1.1 GATHERD-1.3', 'beckett; roads')
    .title('reads a session that arrives one byte per segment')
    .does(complete, PLAIN, { delivery: 'bytes' }),
  mustReceive('delivery/slow', 'GATHERD-1.3 GATHERD-12.3', 'config.h; project choice')
    .title('waits for a server that sends a few bytes with pauses')
    .does(complete, PLAIN, { delivery: 'slow' }),
  mustReceive('delivery/compressed-single-bytes', 'GATHERD-6.3 GATHERD-6.6', 'beckett; project choice')
    .title('reads a compressed session that arrives one byte per segment')
    .does(completeMember, compressed(gzipMember(PLAIN.stream, stored)), PLAIN, { delivery: 'bytes' }),
];

const CONTENT = streamOf(inSection('update', [DESCRIPTION]));

const START = '600 - INFO follows\n';

/** The forms of a server's answer. */
const ANSWERS: readonly (readonly [name: string, when: string, info: readonly Step[]])[] = [
  ['600-after', 'when 600 follows it', [DESCRIPTION.bytes, '600 - End of INFO\n']],
  ['600-before', 'when 600 precedes it', [START, DESCRIPTION.bytes]],
  ['699', 'between 600 and 699', [START, DESCRIPTION.bytes, '699 - End of INFO\n']],
  ['no-number', 'without any number', [DESCRIPTION.bytes]],
  ['close', 'when the server closes after it', [DESCRIPTION.bytes, 'close']],
];

/** Answers without a description. */
const NO_ANSWERS: readonly (readonly [name: string, when: string, line: string])[] = [
  ['none', '699 alone says that there is no description', '699 - No description\n'],
  ['refused', 'the server does not know INFO', '900 - Unknown command: INFO\n'],
];

/** Runs the client for the description. @throws Mismatch if it does not request one */
async function requestInfo(info: readonly Step[], context: ClientContext): Promise<Observation> {
  const observation = await context.bench.observeInfo({ info }, context);
  check(linesOf(observation, 'INFO').length > 0, 'the command sends no INFO', {
    expected: 'INFO',
    received: 'none',
  });
  return observation;
}

/** GATHERD-3.6: INFO. */
export const INFO_CASES: readonly ClientCase[] = [
  ...ANSWERS.map(([name, when, info]) =>
    mustReceive(`info/${name}`, 'GATHERD-3.6 GATHERD-7.4', 'beckett; inferred; project choice')
      .title(`reads the description ${when}`)
      .run(async (context: ClientContext) => {
        const observation = await requestInfo(info, context);
        context.bench.compareOutput(observation, CONTENT);
        check(observation.status === 0, 'the client reports that it received no description', {
          expected: 'exit status 0',
          received: `exit status ${observation.status ?? 'none'}: ${observation.diagnostics.trim()}`,
        });
      }),
  ),
  ...NO_ANSWERS.map(([name, when, line]) =>
    should(`info/${name}`, 'GATHERD-3.6 GATHERD-3.13 GATHERD-11.4', 'inferred; project choice')
      .title(`ends, and fails, when ${when}`)
      .run(async (context: ClientContext) => checkReportsFailure(await requestInfo([line], context))),
  ),
];
