// Cases about administrative messages (BRK section 5).
import { check, checkNone, must, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { checkHas, checkNotRefused, checkRefused } from './checks.js';
import { type BrokerCase, type BrokerContext, refused } from './context.js';
import { formatReply, type Reply, textsOf } from './reply.js';

/** Time within which a command that takes long must be answered. */
const IMMEDIATE_MS = 5_000;

/** Administration: section 5. Only commands without a lasting effect are sent. */
export const adminCases: readonly BrokerCase[] = [
  must('admin/wrong-password', 'BRK-5.2 BRK-5.1 BRK-4.14', 'inferred: M1.2, M1.4; RC')
    .title('a command with a wrong password is refused')
    .does(refused, ...['"zzyzx plugh"', '""'].map((password) => `#ADMIN #password ${password} #do-stats`)),
  must('admin/no-password', 'BRK-5.1 BRK-5.2', 'inferred: M1.2, M1.4')
    .title('a command without a password is refused')
    .does(refused, '#ADMIN #do-stats', '#ADMIN #password #do-stats', '#ADMIN'),
  should('admin/refusal-tells-nothing', 'BRK-5.2', 'project choice')
    .title('a refusal does not reveal the password and is the same for every known command')
    .run(async (context) => {
      const texts = new Set<string>();
      for (const command of ['#do-stats', '#rem-object-query zzyzx']) {
        const reply = await context.ask(`#ADMIN #password zzyzxplugh ${command}`);
        checkRefused(reply, command);
        for (const text of textsOf(reply, 111)) texts.add(text);
      }
      const said = [...texts].join(' | ');
      check(texts.size === 1 && !said.includes('zzyzxplugh'), 'refusals differ, or repeat the password', {
        expected: '111 - ERROR: Invalid password',
        received: printable(said),
      });
    }),
  must('admin/refusal-form', 'BRK-4.1 BRK-1.9', 'S; RC')
    .title('the refusal of a command has the form of other items and ends in LF only')
    .run(async (context) => {
      checkForm(await context.ask('#ADMIN #password zzyzxplugh #do-stats'), 'a wrong password');
    }),
  must('admin/answer-form', 'BRK-4.1 BRK-1.9', 'S; RC')
    .title('the answer to a command has the form of other items and ends in LF only')
    .run(async (context) => {
      for (const text of ['#do-stats', '#flush-log', '#zzyzx']) checkForm(await context.command(text), text);
    }),
  must('admin/stats', 'BRK-5.1 BRK-5.4', 'M1.2; project choice')
    .title('#do-stats answers with 101 lines')
    .run(async (context) => {
      const reply = await context.command('#do-stats');
      checkExecuted(reply, '#do-stats');
      checkHas(reply, 101, 'no statistics');
    }),
  must('admin/keyword-any-case', 'BRK-5.1 BRK-2.2', 'FAQ')
    .title('#Password is accepted in the usual spellings')
    .run(async (context) => {
      checkExecuted(await context.command('#do-stats', '#Password'), '#ADMIN #Password ... #do-stats');
      checkExecuted(await context.command('#DO-STATS', '#PASSWORD'), '#ADMIN #PASSWORD ... #DO-STATS');
    }),
  must('admin/unknown', 'BRK-5.1 BRK-5.4', 'M1.2; project choice')
    .title('an unknown command and a missing command are refused')
    .does(refusedCommands, '#zzyzx', 'zzyzx', ''),
  must('admin/parameters', 'BRK-5.1', 'M1.2')
    .title('a command without its parameter is refused')
    .does(refusedCommands, '#set', '#add-log', '#rem-object-query', '#add-object'),
  must('admin/flush-log', 'BRK-5.1', 'M1.2')
    .title('#flush-log is executed')
    .run(async (context) => checkExecuted(await context.command('#flush-log'), '#flush-log')),
  must('admin/rem-object-query', 'BRK-5.1', 'M1.2; AH')
    .title('#rem-object-query takes a query; one that matches nothing deletes nothing')
    .run(async (context) => {
      const { all } = await context.survey();
      checkExecuted(await context.command('#rem-object-query zzyzx and "plugh xyzzy"'), '#rem-object-query');
      const dump = await context.ask('#USER #opaque #END #allb');
      check(dump.objects.length >= all.size, 'objects are gone', {
        expected: `${all.size} objects`,
        received: `${dump.objects.length} objects`,
      });
    }),
  should('admin/index', 'BRK-5.4 BRK-5.1', 'M1.2; project choice')
    .title('#incremental-index answers immediately, and queries are answered in the meantime')
    .run(async (context) => {
      const started = performance.now();
      checkExecuted(await context.command('#incremental-index'), '#incremental-index');
      const milliseconds = Math.round(performance.now() - started);
      check(milliseconds < IMMEDIATE_MS, 'the answer took too long', {
        expected: `less than ${IMMEDIATE_MS} ms`,
        received: `${milliseconds} ms`,
      });
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    }),
  must('admin/similar-password', 'BRK-5.2', 'inferred: M1.2; project choice')
    .title('the beginning of the password, the password in another case, and a longer one are refused')
    .run(async (context) => {
      checkExecuted(await context.command('#do-stats'), '#do-stats');
      for (const [what, password] of similarPasswords(context.requirePassword())) {
        checkRefused(await context.administer(password, '#do-stats'), `#do-stats with ${what}`);
      }
    }),
];

/** Wrong passwords that a careless comparison takes for this one. A Broker may count them, so they are few. */
function similarPasswords(password: string): readonly (readonly [what: string, password: string])[] {
  const other = [...password].map((letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const similar = [
    ['the beginning of the password', password.slice(0, -1)],
    ['the password in another case', other.join('')],
    ['a longer password', `${password}x`],
  ] as const;
  return similar.filter(([, one]) => one !== password);
}

/** Sends commands that must be refused although the password is right. */
function refusedCommands(...commands: readonly string[]): Procedure<BrokerContext> {
  return async (context) => {
    for (const text of commands) checkRefused(await context.command(text), `#ADMIN ... ${text}`);
  };
}

/** Checks that the lines of a reply are lines of a reply. @throws Mismatch */
function checkForm({ problems: [problem] }: Reply, what: string): void {
  checkNone(problem, `not a line of a reply: ${what}`, 'NNN - text\\n', ({ text }) => text);
}

/** Checks that the command is executed and that the reply is its outcome: BRK-5.4. @throws Mismatch */
function checkExecuted(reply: Reply, text: string): void {
  checkNotRefused(reply, text);
  const [stranger] = reply.items.filter(({ code }) => code !== 101 && code !== 103);
  check(stranger === undefined && reply.items.length > 0, `the reply to ${text} is not its outcome`, {
    expected: '101 - ...',
    received: formatReply(reply),
  });
}
