// Cases about administrative messages (BRK section 5).
import { check } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkRefused } from './checks.js';
import type { BrokerCase, BrokerContext } from './context.js';
import { formatReply, type Reply, textsOf } from './reply.js';

/** Time within which a command that takes long must be answered. */
const IMMEDIATE_MS = 5_000;

/** Administration: section 5. Only commands without a lasting effect are sent. */
export const adminCases: readonly BrokerCase[] = [
  {
    id: 'admin/wrong-password',
    title: 'a command with a wrong password is refused',
    rules: ['BRK-5.2', 'BRK-5.1', 'BRK-4.14'],
    source: 'inferred: M1.2, M1.4; RC',
    level: 'MUST',
    async run(context) {
      for (const password of ['zzyzx', '"zzyzx plugh"', '""']) {
        const message = `#ADMIN #password ${password} #do-stats`;
        checkRefused(await context.ask(message), message);
      }
    },
  },
  {
    id: 'admin/no-password',
    title: 'a command without a password is refused',
    rules: ['BRK-5.1', 'BRK-5.2'],
    source: 'inferred: M1.2, M1.4',
    level: 'MUST',
    async run(context) {
      for (const message of ['#ADMIN #do-stats', '#ADMIN #password #do-stats', '#ADMIN']) {
        checkRefused(await context.ask(message), message);
      }
    },
  },
  {
    id: 'admin/refusal-tells-nothing',
    title: 'a refusal does not reveal the password and is the same for every known command',
    rules: ['BRK-5.2'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const texts = new Set<string>();
      for (const command of ['#do-stats', '#flush-log', '#rem-object-query zzyzx']) {
        const reply = await context.ask(`#ADMIN #password zzyzxplugh ${command}`);
        checkRefused(reply, command);
        for (const text of textsOf(reply, 111)) texts.add(text);
      }
      const said = [...texts].join(' | ');
      check(texts.size === 1 && !said.includes('zzyzxplugh'), 'refusals differ, or repeat the password', {
        expected: '111 - ERROR: Invalid password',
        received: printable(said),
      });
    },
  },
  {
    id: 'admin/refusal-form',
    title: 'the refusal of a command has the form of other items and ends in LF only',
    rules: ['BRK-4.1', 'BRK-1.9'],
    source: 'S; RC',
    level: 'MUST',
    async run(context) {
      checkForm(await context.ask('#ADMIN #password zzyzxplugh #do-stats'), 'a wrong password');
    },
  },
  commandCase(
    'answer-form',
    'the answer to a command has the form of other items and ends in LF only',
    ['BRK-4.1', 'BRK-1.9'],
    'S; RC',
    'MUST',
    async (context) => {
      for (const text of ['#do-stats', '#flush-log', '#zzyzx']) checkForm(await context.command(text), text);
    },
  ),
  commandCase(
    'stats',
    '#do-stats answers with 101 lines',
    ['BRK-5.1', 'BRK-5.4'],
    'M1.2; project choice',
    'MUST',
    async (context) => {
      const reply = await context.command('#do-stats');
      checkExecuted(reply, '#do-stats');
      check(textsOf(reply, 101).length > 0, 'no statistics', {
        expected: '101 - ...',
        received: formatReply(reply),
      });
    },
  ),
  commandCase(
    'keyword-any-case',
    '#Password is accepted in the usual spellings',
    ['BRK-5.1', 'BRK-2.2'],
    'FAQ',
    'MUST',
    async (context) => {
      checkExecuted(await context.command('#do-stats', '#Password'), '#ADMIN #Password ... #do-stats');
      checkExecuted(await context.command('#DO-STATS', '#PASSWORD'), '#ADMIN #PASSWORD ... #DO-STATS');
    },
  ),
  commandCase(
    'unknown',
    'an unknown command and a missing command are refused',
    ['BRK-5.1', 'BRK-5.4'],
    'M1.2; project choice',
    'MUST',
    async (context) => {
      for (const text of ['#zzyzx', 'zzyzx', ''])
        checkRefused(await context.command(text), `#ADMIN ... ${text}`);
    },
  ),
  commandCase(
    'parameters',
    'a command without its parameter is refused',
    ['BRK-5.1'],
    'M1.2',
    'MUST',
    async (context) => {
      for (const text of ['#set', '#add-log', '#rem-object-query', '#add-object']) {
        checkRefused(await context.command(text), `#ADMIN ... ${text}`);
      }
    },
  ),
  commandCase('flush-log', '#flush-log is executed', ['BRK-5.1'], 'M1.2', 'MUST', async (context) => {
    checkExecuted(await context.command('#flush-log'), '#flush-log');
  }),
  commandCase(
    'rem-object-query',
    '#rem-object-query takes a query; one that matches nothing deletes nothing',
    ['BRK-5.1'],
    'M1.2; AH',
    'MUST',
    async (context) => {
      const { all } = await context.survey();
      checkExecuted(await context.command('#rem-object-query zzyzx and "plugh xyzzy"'), '#rem-object-query');
      const dump = await context.ask('#USER #opaque #END #allb');
      check(dump.objects.length >= all.size, 'objects are gone', {
        expected: `${all.size} objects`,
        received: `${dump.objects.length} objects`,
      });
    },
  ),
  commandCase(
    'index',
    '#incremental-index answers immediately, and queries are answered in the meantime',
    ['BRK-5.4'],
    'M1.2; project choice',
    'MUST',
    async (context) => {
      const started = performance.now();
      checkExecuted(await context.command('#incremental-index'), '#incremental-index');
      const milliseconds = Math.round(performance.now() - started);
      check(milliseconds < IMMEDIATE_MS, 'the answer took too long', {
        expected: `less than ${IMMEDIATE_MS} ms`,
        received: `${milliseconds} ms`,
      });
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  ),
];

function commandCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  run: (context: BrokerContext) => Promise<void>,
): BrokerCase {
  return { id: `admin/${id}`, title, rules, source, level, run };
}

/** Checks that the lines of a reply are lines of a reply. @throws Mismatch */
function checkForm({ problems: [problem] }: Reply, what: string): void {
  check(problem === undefined, `not a line of a reply: ${what}`, {
    expected: 'NNN - text\\n',
    received: problem?.text ?? '',
  });
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
