// Cases about the greeting, lines, and the commands without data (GATHERD sections 1 to 3).
import { check, checkMatches, must, should } from '../case.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import { answers, FAR_FUTURE, type GatherdCase, inSession, NOTHING_NEW, updates } from './context.js';
import { readUpdate } from './transfer.js';
import { checkLineForm } from './update-cases.js';

/** GATHERD-2.4: bytes of the longest command line. */
const LONGEST = 8192;

/** Greeting, lines, and the commands that send no data: sections 1 to 3. */
export const dialogueCases: readonly GatherdCase[] = [
  must('greeting/form', 'GATHERD-1.1 GATHERD-3.1 GATHERD-3.5', 'beckett; roads')
    .title('the first line is 000 - HELLO, a version word and a host name word')
    .run(async (context) => {
      const line = withoutCr(await (await context.connect()).line());
      checkMatches(
        line,
        /^000 - HELLO [^\s]+ [^\s]+( .*)?$/,
        'not the greeting of a gatherd',
        '000 - HELLO <version> <hostname>',
      );
    }),
  must('status/form', 'GATHERD-1.6', 'beckett; roads; broker NOTES')
    .title('every status line is three digits, space, hyphen, space, text')
    .run(async (context) => {
      for (const { line } of await everyKindOfStatus(await context.connect())) {
        checkMatches(line, /^\d{3} - /, 'a status line in another form', 'NNN - text');
      }
    }),
  must('status/lf-only', 'GATHERD-1.5', 'inferred: template.c, roads')
    .title('status lines end in LF only')
    .run(async (context) => {
      for (const { line } of await everyKindOfStatus(await context.connect())) {
        check(!line.endsWith('\r'), 'a carriage return before the line feed', {
          expected: `${printable(withoutCr(line))}\\n`,
          received: `${printable(line)}\\n`,
        });
      }
    }),
  must('status/other-commands', 'GATHERD-1.5 GATHERD-1.6', 'beckett; roads; broker NOTES')
    .title('the answers to HELP, SET, SEND-OBJECT and unknown commands have the same form and end in LF only')
    .does(inSession, async (wire) => {
      await wire.send('HELP\nSET compression\nFROB\nSEND-OBJECT http://no-such-object.invalid/\nQUIT\n');
      for (let line = ''; !line.startsWith('999'); ) {
        line = await wire.line();
        checkLineForm(line);
      }
    }),
  must('lines/lf', 'GATHERD-1.4', 'beckett')
    .title('commands that end in LF are understood')
    .does(updates, `${NOTHING_NEW}\n`),
  must('lines/crlf', 'GATHERD-1.4', 'roads')
    .title('commands that end in CR LF are understood; the CR is not part of the argument')
    .does(updates, `${NOTHING_NEW}\r\n`),
  must('lines/bytewise', 'GATHERD-1.3 GATHERD-1.4', 'beckett; roads')
    .title('a command may come one byte at a time')
    .does(inSession, async (wire) => {
      await wire.sendSlowly(`${NOTHING_NEW}\n`);
      await readUpdate(wire, NOTHING_NEW);
    }),
  must('lines/pipelined', 'GATHERD-1.8', 'inferred: gatherd NOTES')
    .title('commands sent without waiting are answered in their order')
    .does(inSession, async (wire) => {
      const commands = ['HELLO a.example.org', NOTHING_NEW, 'HELLO b.example.org', NOTHING_NEW, 'QUIT'];
      await wire.send(commands.map((command) => `${command}\n`).join(''));
      for (let round = 0; round < 2; round++) {
        await wire.expect(100, 'HELLO');
        await readUpdate(wire, NOTHING_NEW);
      }
      await wire.expect(999, 'QUIT');
    }),
  should('lines/any-case', 'GATHERD-2.3', 'project choice')
    .title('verbs are matched without regard to case')
    .does(updates, `Send-Update ${FAR_FUTURE}\n`),
  should('lines/blanks', 'GATHERD-2.4', 'project choice')
    .title('blanks before and after the argument do not matter')
    .does(updates, `SEND-UPDATE \t ${FAR_FUTURE} \t\n`),
  should('lines/empty', 'GATHERD-2.4', 'project choice')
    .title('empty lines are not answered')
    .does(updates, `\n\r\n  \n${NOTHING_NEW}\n`),
  should('lines/longest', 'GATHERD-2.4', 'project choice: the size of a buffer of the library')
    .title('a line of 8192 bytes is a command')
    .does(answers, ['HELLO '.padEnd(LONGEST, 'x'), 100, `HELLO in a line of ${LONGEST} bytes`]),
  should('lines/too-long', 'GATHERD-2.4 GATHERD-3.9', 'project choice')
    .title('a longer line is answered 900 and dropped, and the session continues')
    .does(inSession, async (wire) => {
      await wire.send(`${'HELLO '.padEnd(LONGEST + 1, 'x')}\n${NOTHING_NEW}\n`);
      await wire.expect(900, `a line of ${LONGEST + 1} bytes`);
      await readUpdate(wire, NOTHING_NEW);
    }),
  must('hello/accepted', 'GATHERD-3.1 GATHERD-2.6', 'beckett')
    .title('HELLO is answered 100')
    .does(answers, ['HELLO collector.example.org', 100, 'HELLO']),
  must('hello/optional', 'GATHERD-2.5', 'roads')
    .title('an update may be requested without HELLO')
    .does(updates, `${NOTHING_NEW}\n`),
  should('hello/empty', 'GATHERD-2.6', 'project choice')
    .title('HELLO without a name is accepted')
    .does(answers, ['HELLO', 100, 'HELLO without a name']),
  must('help/listed', 'GATHERD-2.1 GATHERD-3.2', 'gatherd NOTES; inferred')
    .title('HELP is answered by 200 lines that name the commands of 1995')
    .does(inSession, async (wire) => {
      await wire.send('HELP\nHELLO collector.example.org\n');
      let help = '';
      for (let status = await wire.status(); status.code !== 100; status = await wire.status()) {
        check(status.code === 200, 'wrong answer to HELP', {
          expected: '200 - ...',
          received: printable(status.line),
        });
        help += `${status.line}\n`;
      }
      for (const command of ['HELLO', 'HELP', 'SEND-OBJECT', 'SEND-UPDATE', 'SET compression', 'QUIT']) {
        check(help.toLowerCase().includes(command.toLowerCase()), `HELP does not name ${command}`, {
          expected: command,
          received: printable(help, 1000),
        });
      }
    }),
  must('errors/unknown-command', 'GATHERD-3.9', 'project choice')
    .title('an unknown command is answered 900')
    .does(answers, ['FETCH everything', 900, 'an unknown command']),
  must('errors/session-goes-on', 'GATHERD-3.9', 'project choice')
    .title('the session continues after an unknown command')
    .does(inSession, async (wire) => {
      await wire.send('FETCH everything\n');
      // Any answer is accepted, but the lines of the update must follow.
      await wire.send(`${NOTHING_NEW}\n`);
      const { code } = await wire.status();
      if (code === 400) return;
      await wire.expect(400, `${NOTHING_NEW} after an unknown command`);
    }),
  should('errors/unknown-setting', 'GATHERD-6.10 GATHERD-3.9', 'project choice')
    .title('SET of something unknown is answered 900')
    .does(inSession, async (wire) => {
      await wire.send('SET nonsense\nSET\n');
      await wire.expect(900, 'SET nonsense');
      await wire.expect(900, 'SET without an argument');
    }),
  must('quit/answered', 'GATHERD-3.1', 'beckett')
    .title('QUIT is answered 999')
    .does(answers, ['QUIT', 999, 'QUIT']),
  should('quit/closes', 'GATHERD-3.4', 'project choice')
    .title('the server closes after its 999')
    .does(inSession, async (wire) => {
      await wire.send('QUIT\n');
      while ((await wire.status()).code !== 999);
      await wire.expectEnd('999');
    }),
];

/** Runs a session with as many kinds of status lines as possible and returns them. */
async function everyKindOfStatus(wire: Wire) {
  const lines = [await wire.status()];
  await wire.send('HELLO collector.example.org\n');
  lines.push(await wire.status());
  await wire.send(`${NOTHING_NEW}\n`);
  const { start, end } = await readUpdate(wire, NOTHING_NEW);
  lines.push(start, end);
  await wire.send('QUIT\n');
  lines.push(await wire.status());
  return lines;
}

function withoutCr(line: string): string {
  return line.replace(/\r$/, '');
}
