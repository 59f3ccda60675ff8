// Cases about the greeting, lines, and the commands without data (GATHERD sections 1 to 3).
import { setTimeout } from 'node:timers/promises';
import { check } from '../case.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import { FAR_FUTURE, type GatherdCase } from './context.js';
import { readUpdate } from './transfer.js';
import { checkLineForm } from './update-cases.js';

/** GATHERD-2.4: bytes of the longest command line. */
const LONGEST = 8192;
const NOTHING_NEW = `SEND-UPDATE ${FAR_FUTURE}`;

/** Greeting, lines, and the commands that send no data: sections 1 to 3. */
export const dialogueCases: readonly GatherdCase[] = [
  {
    id: 'greeting/form',
    title: 'the first line is 000 - HELLO, a version word and a host name word',
    rules: ['GATHERD-1.1', 'GATHERD-3.1', 'GATHERD-3.5'],
    source: 'beckett; roads',
    level: 'MUST',
    async run(context) {
      const wire = await context.connect();
      const line = withoutCr(await wire.line());
      check(/^000 - HELLO [^\s]+ [^\s]+( .*)?$/.test(line), 'not the greeting of a gatherd', {
        expected: '000 - HELLO <version> <hostname>',
        received: printable(line),
      });
    },
  },
  {
    id: 'status/form',
    title: 'every status line is three digits, space, hyphen, space, text',
    rules: ['GATHERD-1.6'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      for (const { line } of await everyKindOfStatus(await context.connect())) {
        check(/^\d{3} - /.test(line), 'a status line in another form', {
          expected: 'NNN - text',
          received: printable(line),
        });
      }
    },
  },
  {
    id: 'status/lf-only',
    title: 'status lines end in LF only',
    rules: ['GATHERD-1.5'],
    source: 'inferred: template.c, roads',
    level: 'MUST',
    async run(context) {
      for (const { line } of await everyKindOfStatus(await context.connect())) {
        check(!line.endsWith('\r'), 'a carriage return before the line feed', {
          expected: `${printable(withoutCr(line))}\\n`,
          received: `${printable(line)}\\n`,
        });
      }
    },
  },
  {
    id: 'status/other-commands',
    title: 'the answers to HELP, SET, SEND-OBJECT and unknown commands have the same form and end in LF only',
    rules: ['GATHERD-1.5', 'GATHERD-1.6'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('HELP\nSET compression\nFROB\nSEND-OBJECT http://no-such-object.invalid/\nQUIT\n');
      for (let line = ''; !line.startsWith('999'); ) {
        line = await wire.line();
        checkLineForm(line);
      }
    },
  },
  {
    id: 'lines/lf',
    title: 'commands that end in LF are understood',
    rules: ['GATHERD-1.4'],
    source: 'beckett',
    level: 'MUST',
    run: async (context) => checkUnderstands(await context.session(), [`${NOTHING_NEW}\n`]),
  },
  {
    id: 'lines/crlf',
    title: 'commands that end in CR LF are understood; the CR is not part of the argument',
    rules: ['GATHERD-1.4'],
    source: 'roads',
    level: 'MUST',
    run: async (context) => checkUnderstands(await context.session(), [`${NOTHING_NEW}\r\n`]),
  },
  {
    id: 'lines/bytewise',
    title: 'a command may come one byte at a time',
    rules: ['GATHERD-1.3', 'GATHERD-1.4'],
    source: 'beckett; roads',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      for (const byte of `${NOTHING_NEW}\n`) {
        await wire.send(byte);
        // Without the pause the operating system would send them together.
        await setTimeout(1);
      }
      await readUpdate(wire, NOTHING_NEW);
    },
  },
  {
    id: 'lines/pipelined',
    title: 'commands sent without waiting are answered in their order',
    rules: ['GATHERD-1.8'],
    source: 'inferred: gatherd NOTES',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      const commands = ['HELLO a.example.org', NOTHING_NEW, 'HELLO b.example.org', NOTHING_NEW, 'QUIT'];
      await wire.send(commands.map((command) => `${command}\n`).join(''));
      for (let round = 0; round < 2; round++) {
        await wire.expect(100, 'HELLO');
        await readUpdate(wire, NOTHING_NEW);
      }
      await wire.expect(999, 'QUIT');
    },
  },
  {
    id: 'lines/any-case',
    title: 'verbs are matched without regard to case',
    rules: ['GATHERD-2.3'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkUnderstands(await context.session(), [`Send-Update ${FAR_FUTURE}\n`]),
  },
  {
    id: 'lines/blanks',
    title: 'blanks before and after the argument do not matter',
    rules: ['GATHERD-2.4'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkUnderstands(await context.session(), [`SEND-UPDATE \t ${FAR_FUTURE} \t\n`]),
  },
  {
    id: 'lines/empty',
    title: 'empty lines are not answered',
    rules: ['GATHERD-2.4'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkUnderstands(await context.session(), [`\n\r\n  \n${NOTHING_NEW}\n`]),
  },
  {
    id: 'lines/longest',
    title: 'a line of 8192 bytes is a command',
    rules: ['GATHERD-2.4'],
    source: 'project choice: the size of a buffer of the library',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send(`${'HELLO '.padEnd(LONGEST, 'x')}\n`);
      await wire.expect(100, `HELLO in a line of ${LONGEST} bytes`);
    },
  },
  {
    id: 'lines/too-long',
    title: 'a longer line is answered 900 and dropped, and the session continues',
    rules: ['GATHERD-2.4', 'GATHERD-3.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send(`${'HELLO '.padEnd(LONGEST + 1, 'x')}\n${NOTHING_NEW}\n`);
      await wire.expect(900, `a line of ${LONGEST + 1} bytes`);
      await readUpdate(wire, NOTHING_NEW);
    },
  },
  {
    id: 'hello/accepted',
    title: 'HELLO is answered 100',
    rules: ['GATHERD-3.1', 'GATHERD-2.6'],
    source: 'beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('HELLO collector.example.org\n');
      await wire.expect(100, 'HELLO');
    },
  },
  {
    id: 'hello/optional',
    title: 'an update may be requested without HELLO',
    rules: ['GATHERD-2.5'],
    source: 'roads',
    level: 'MUST',
    run: async (context) => checkUnderstands(await context.session(), [`${NOTHING_NEW}\n`]),
  },
  {
    id: 'hello/empty',
    title: 'HELLO without a name is accepted',
    rules: ['GATHERD-2.6'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send('HELLO\n');
      await wire.expect(100, 'HELLO without a name');
    },
  },
  {
    id: 'help/listed',
    title: 'HELP is answered by 200 lines that name the commands of 1995',
    rules: ['GATHERD-2.1', 'GATHERD-3.2'],
    source: 'gatherd NOTES; inferred',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
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
    },
  },
  {
    id: 'errors/unknown-command',
    title: 'an unknown command is answered 900',
    rules: ['GATHERD-3.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send('FETCH everything\n');
      await wire.expect(900, 'an unknown command');
    },
  },
  {
    id: 'errors/session-goes-on',
    title: 'the session continues after an unknown command',
    rules: ['GATHERD-3.9'],
    source: 'project choice',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('FETCH everything\n');
      // Any answer is accepted, but the lines of the update must follow.
      await wire.send(`${NOTHING_NEW}\n`);
      const { code } = await wire.status();
      if (code === 400) return;
      await wire.expect(400, `${NOTHING_NEW} after an unknown command`);
    },
  },
  {
    id: 'errors/unknown-setting',
    title: 'SET of something unknown is answered 900',
    rules: ['GATHERD-6.10', 'GATHERD-3.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send('SET nonsense\nSET\n');
      await wire.expect(900, 'SET nonsense');
      await wire.expect(900, 'SET without an argument');
    },
  },
  {
    id: 'quit/answered',
    title: 'QUIT is answered 999',
    rules: ['GATHERD-3.1'],
    source: 'beckett',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('QUIT\n');
      await wire.expect(999, 'QUIT');
    },
  },
  {
    id: 'quit/closes',
    title: 'the server closes after its 999',
    rules: ['GATHERD-3.4'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      await wire.send('QUIT\n');
      while ((await wire.status()).code !== 999);
      await wire.expectEnd('999');
    },
  },
];

/** Sends the pieces of a `SEND-UPDATE` without new objects, and reads the update. */
async function checkUnderstands(wire: Wire, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) await wire.send(piece);
  await readUpdate(wire, NOTHING_NEW);
}

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
