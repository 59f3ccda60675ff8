// Cases about the session: commands, status lines, refusals, delivery.
import { check, NotApplicable } from '../../case.js';
import { checkReportsSuccess } from '../../client-bench.js';
import { printable } from '../../printable.js';
import type { ClientContext, Observation } from '../bench.js';
import { checkComplete, checkReportsFailure, linesOf, ORDINARY } from '../checks.js';
import { compressed, inClear } from '../dialogue.js';
import { gzipMember, stored } from '../gzip-member.js';
import { PLAIN } from '../objects.js';
import { brokenCase, type ClientCase, completeCase, completeMemberCase } from './case-builders.js';

/** GATHERD-2.1, 2.2, 6.11: the exact lines that a client may send; other cases check the arguments. */
const SPELLING =
  /^(?:HELLO(?: .*)?|HELP|INFO|QUIT|SEND-OBJECT .+|SEND-UPDATE .+|SET compression|SET changes)$/;

/** Builds a case about the ordinary session, which is run once for all of them. */
function ordinaryCase(
  description: Omit<ClientCase, 'run'>,
  verify: (observation: Observation, context: ClientContext) => void | Promise<void>,
): ClientCase {
  return {
    ...description,
    async run(context) {
      await verify(await context.bench.observeOnce(ORDINARY, context), context);
    },
  };
}

/** One whole session, and what the client sends in it. */
export const SESSION_CASES: readonly ClientCase[] = [
  ordinaryCase(
    {
      id: 'session/plain',
      title: 'gets all objects of an ordinary session, the answer to SEND-UPDATE sent in one piece',
      rules: ['GATHERD-7.1', 'GATHERD-4.4'],
      source: 'gatherd NOTES; roads',
      level: 'MUST',
    },
    (observation, context) => checkComplete(observation, PLAIN, context),
  ),
  ordinaryCase(
    {
      id: 'session/exit-status',
      title: 'ends with exit status 0 when the transfer was complete',
      rules: ['GATHERD-11.4'],
      source: 'project choice',
      level: 'SHOULD',
    },
    checkReportsSuccess,
  ),
  {
    id: 'session/closes',
    title: 'closes the connection itself after 999',
    rules: ['GATHERD-3.1'],
    source: 'beckett',
    level: 'MUST',
    async run(context) {
      await checkComplete(
        await context.bench.observe({ ...ORDINARY, staysOpen: true }, context),
        PLAIN,
        context,
      );
    },
  },
  completeCase(
    {
      id: 'session/no-answer-to-quit',
      title: 'accepts a server that closes instead of answering QUIT',
      rules: ['GATHERD-7.3', 'GATHERD-11.4'],
      source: 'roads; project choice',
      level: 'SHOULD',
    },
    PLAIN,
    { quit: [] },
  ),
  ordinaryCase(
    {
      id: 'commands/spelling',
      title: 'sends verbs in upper case and keywords in lower case, exactly as published',
      rules: ['GATHERD-2.3', 'GATHERD-2.1', 'GATHERD-2.2'],
      source: 'gatherd NOTES; beckett; roads; project choice',
      level: 'MUST',
    },
    ({ sessions }) => {
      for (const { text } of sessions.flatMap(({ lines }) => lines)) {
        check(SPELLING.test(text), 'a line is not a command as published', {
          expected: 'HELLO x, HELP, INFO, SEND-OBJECT x, SEND-UPDATE n, SET compression, SET changes or QUIT',
          received: printable(text),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'commands/line-ends',
      title: 'ends every line in LF or CR LF',
      rules: ['GATHERD-1.4'],
      source: 'beckett; roads',
      level: 'MUST',
    },
    ({ sessions }) => {
      for (const { text, end } of sessions.flatMap(({ lines }) => lines)) {
        check(end !== '' && !text.includes('\r'), 'a line has another end', {
          expected: 'LF or CR LF',
          received: printable(text + end),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'commands/hello-argument',
      title: "sends HELLO with the client's own host name",
      rules: ['GATHERD-2.6'],
      source: 'gatherd NOTES; beckett',
      level: 'SHOULD',
    },
    (observation) => {
      const lines = linesOf(observation, 'HELLO');
      if (lines.length === 0) throw new NotApplicable('the client does not send HELLO (GATHERD-2.5)');
      for (const line of lines) {
        check(/^\s*\S+\s+[A-Za-z0-9_.:-]+\s*$/.test(line), 'HELLO has no host name', {
          expected: 'HELLO <hostname>',
          received: printable(line),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'commands/timestamp',
      title: 'sends SEND-UPDATE with a decimal number of seconds',
      rules: ['GATHERD-4.1'],
      source: 'gatherd NOTES; seed manual',
      level: 'MUST',
    },
    (observation) => {
      const lines = linesOf(observation, 'SEND-UPDATE');
      check(lines.length > 0, 'the client does not request an update', {
        expected: 'SEND-UPDATE 0',
        received: 'none',
      });
      for (const line of lines) {
        check(/^\s*\S+\s+\d+\s*$/.test(line), 'the timestamp is not a decimal number', {
          expected: 'SEND-UPDATE 0',
          received: printable(line),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'commands/quit',
      title: 'sends QUIT as its last line before it closes',
      rules: ['GATHERD-7.1', 'GATHERD-3.1'],
      source: 'gatherd NOTES; beckett; roads',
      level: 'SHOULD',
    },
    ({ sessions }) => {
      for (const { lines } of sessions) {
        const last = lines.at(-1)?.text.trim() ?? '';
        check(last.toUpperCase() === 'QUIT', 'the last line is not QUIT', {
          expected: 'QUIT',
          received: printable(last),
        });
      }
    },
  ),
];

/** Status lines as other servers may send them. */
export const LINE_CASES: readonly ClientCase[] = [
  completeCase(
    {
      id: 'lines/cr-lf',
      title: 'accepts status lines that end in CR LF',
      rules: ['GATHERD-1.5'],
      source: 'project choice',
      level: 'MUST',
    },
    PLAIN,
    {
      lineEnd: '\r\n',
    },
  ),
  completeCase(
    {
      id: 'lines/greeting-text',
      title: 'accepts another version and more text after the host name of the greeting',
      rules: ['GATHERD-3.1'],
      source: 'beckett',
      level: 'MUST',
    },
    PLAIN,
    { greeting: ['000 - HELLO 1.4.pl2 gatherer.example.org are you ready - 499 times?'] },
  ),
  completeCase(
    {
      id: 'lines/other-texts',
      title: 'decides by the number of a status line, never by its text',
      rules: ['GATHERD-1.6', 'GATHERD-3.4'],
      source: 'project choice',
      level: 'MUST',
    },
    PLAIN,
    {
      hello: ['100 - 900 - no, really: error, denied'],
      update: () => ['400 - 499 - no objects, error\n', PLAIN.stream, '499 - 400 - more\n'],
      quit: ['999 - HELLO'],
    },
  ),
  completeCase(
    {
      id: 'lines/short-texts',
      title: 'reads 100, 400, 499 and 999 with other short texts',
      rules: ['GATHERD-1.6', 'GATHERD-3.4'],
      source: 'project choice',
      level: 'MUST',
    },
    PLAIN,
    {
      hello: ['100 - x'],
      update: () => ['400 - x\n', PLAIN.stream, '499 - x\n'],
      quit: ['999 - x'],
    },
  ),
  completeCase(
    {
      id: 'lines/unknown-lines',
      title: 'skips lines without a number outside of data',
      rules: ['GATHERD-1.7'],
      source: 'beckett',
      level: 'MUST',
    },
    PLAIN,
    {
      hello: ['Welcome to this Gatherer.', '', '    4990 - not a status line', '100 - hello'],
      update: () => ['One moment please.\n', ...inClear(PLAIN)],
      quit: ['Thank you.', '999 - Bye'],
    },
  ),
  completeCase(
    {
      id: 'lines/unknown-codes',
      title: 'skips unknown numbers outside of data',
      rules: ['GATHERD-1.7'],
      source: 'beckett',
      level: 'MUST',
    },
    PLAIN,
    {
      hello: ['150 - this daemon was built in 1996', '100 - hello'],
      update: () => ['450 - looking\n', ...inClear(PLAIN)],
      quit: ['950 - 2 objects sent', '999 - Bye'],
    },
  ),
  completeCase(
    {
      id: 'lines/end-099',
      title: 'reads 099 as the end of data, like 499',
      rules: ['GATHERD-3.3'],
      source: 'roads',
      level: 'SHOULD',
    },
    PLAIN,
    { update: () => inClear(PLAIN, '099 - end of data') },
  ),
];

/** A server that refuses the client or does not understand it. */
export const REFUSAL_CASES: readonly ClientCase[] = [
  {
    id: 'refused/access-denied',
    title: 'fails when 999 is the first line',
    rules: ['GATHERD-3.10', 'GATHERD-11.4'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      checkReportsFailure(await context.bench.observeRefusal('999 - Access denied\n', context));
    },
  },
  {
    id: 'refused/no-greeting',
    title: 'fails when the server closes without a greeting',
    rules: ['GATHERD-1.1', 'GATHERD-11.4'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      checkReportsFailure(await context.bench.observeRefusal('', context));
    },
  },
  {
    id: 'refused/no-connection',
    title: 'fails when no server listens',
    rules: ['GATHERD-11.4'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      checkReportsFailure(await context.bench.observeNoServer(context));
    },
  },
  brokenCase(
    {
      id: 'refused/bad-timestamp',
      title: 'ends, and fails, when 499 answers SEND-UPDATE without 400',
      rules: ['GATHERD-3.9', 'GATHERD-11.4'],
      source: 'project choice',
      level: 'SHOULD',
    },
    { update: () => ['499 - Bad timestamp\n'] },
  ),
];

/** Ways in which the bytes arrive. */
export const DELIVERY_CASES: readonly ClientCase[] = [
  completeCase(
    {
      id: 'delivery/single-bytes',
      title: 'reads a session that arrives one byte per segment',
      rules: ['GATHERD-1.1', 'GATHERD-1.3'],
      source: 'beckett; roads',
      level: 'MUST',
    },
    PLAIN,
    { delivery: 'bytes' },
  ),
  completeCase(
    {
      id: 'delivery/slow',
      title: 'waits for a server that sends a few bytes with pauses',
      rules: ['GATHERD-12.3'],
      source: 'config.h; project choice',
      level: 'MUST',
    },
    PLAIN,
    { delivery: 'slow' },
  ),
  completeMemberCase(
    {
      id: 'delivery/compressed-single-bytes',
      title: 'reads a compressed session that arrives one byte per segment',
      rules: ['GATHERD-6.3', 'GATHERD-6.6'],
      source: 'beckett; project choice',
      level: 'MUST',
    },
    compressed(gzipMember(PLAIN.stream, stored)),
    PLAIN,
    { delivery: 'bytes' },
  ),
];
