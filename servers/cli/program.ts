// The program behind `harvest.ts`: finds the command, loads it, reports its errors.
import { basename } from 'node:path';
import { styleText } from 'node:util';
import { Command, CommanderError } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { type CommandEntry, GROUPS } from './command-entry.js';
import { COMMANDS, findCommand, suggestCommands } from './commands.js';
import { optionDescription } from './help/command-help.js';
import { originalOptions } from './options/original-options.js';
import { EXIT, EXIT_STATUSES, exitStatusOf, reportError } from './output/exit.js';
import { messageLines } from './output/printable.js';
import { spelling } from './spelling.js';
import { packageVersion } from './version.js';

const HELP = `
How the servers work together, and their commands:

  documents --> Gatherer --> gatherd :8500 --> Broker :8501 --> search page :8080
                 gatherer     gatherd            broker          run (all of them)
                              gather (client)    query (client)

Start with \`harvest run\`, then try the commands that it prints. \`harvest COMMAND --help\` explains
each command. A link to this program with the name of a command, or of an original program, runs
that command.

Exit status:
${EXIT_STATUSES.map(({ status, meaning }) => `  ${String(status).padEnd(5)}${meaning}\n`).join('')}
The help of each command lists the ones it uses.
`;

/**
 * Returns the command named by the link that started the program (`cksoif -> harvest.js`). npm and users create
 * such links.
 */
function linkedCommand(): { readonly entry: CommandEntry; readonly name: string } | undefined {
  const name = basename(process.argv[1] ?? '').replace(/\.m?js$/, '');
  const entry = findCommand(name);
  return entry && { entry, name };
}

/**
 * Loads a command. If it runs under inetd, standard error may be the socket of its peer, which no message must
 * reach, nor that about a wrong option. A command that is only described leaves standard error as it is.
 */
async function load(entry: CommandEntry, runs: boolean): Promise<Command> {
  if (runs && entry.name === 'in.gatherd') {
    const { shieldStandardError } = await import('../host/standard-descriptors.js');
    shieldStandardError();
  }
  return await entry.load();
}

/**
 * Builds `harvest COMMAND ...`. Only that command is loaded; the others are for the help and for suggestions
 * for wrong names.
 */
async function harvest(args: readonly string[]): Promise<Command> {
  const program = new Command('harvest')
    .description(
      'Gather documents politely; export, replicate and search their summaries, by the Harvest protocols.',
    )
    .version(packageVersion())
    // A command receives its arguments as typed, including "--".
    .enablePositionalOptions()
    .commandsGroup('Help:')
    .addHelpText('after', HELP);
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const word = first === 'help' ? second : first;
  const selected = findCommand(word ?? '');
  if (word !== undefined && selected === undefined) throw unknownCommand(word);
  for (const entry of COMMANDS) {
    const command = entry === selected ? await load(entry, first !== 'help') : new Command(entry.name);
    program.addCommand(command.summary(entry.summary).helpGroup(GROUPS[entry.group]));
  }
  return program;
}

function unknownCommand(word: string): UsageError {
  const meant = suggestCommands(word);
  const remedy =
    meant.length === 0
      ? `${spelling()} --help lists the commands`
      : `did you mean ${spelling()} ${meant.join(' or ')}?`;
  return new UsageError(`unknown command '${word}'; ${remedy}`);
}

/** Colors of the help on a terminal; commander leaves them out elsewhere, and with NO_COLOR. */
const HELP_STYLE = {
  styleTitle: (text: string) => styleText('bold', text),
  styleCommandText: (text: string) => styleText('cyan', text),
  styleSubcommandText: (text: string) => styleText('cyan', text),
  styleOptionText: (text: string) => styleText('cyan', text),
  styleArgumentText: (text: string) => styleText('cyan', text),
};

/** The errors of a person who does not know the arguments yet. */
const MISSING = /^error: (?:missing required argument|required option)/;

/**
 * Lets commander throw its errors and begin their messages with the program's name.
 *
 * @param typed what a user types for the command
 */
function prepare(command: Command, name: string, typed: string): void {
  command
    .configureHelp({ optionDescription, ...HELP_STYLE })
    .exitOverride()
    .configureOutput({
      writeOut: printHelp,
      // It repeats words of the command line, which a script may have from others.
      outputError: (text, write) => {
        const hint = MISSING.test(text) ? `; ${typed} --help explains the command` : '';
        write(messageLines(`${text.trimEnd().replace(/^error: /, `${name}: `)}${hint}\n`));
      },
    });
  for (const child of command.commands) prepare(child, name, `${typed} ${child.name()}`);
}

/** The reader of the help may close the pipe early (`| head`). */
function printHelp(text: string): void {
  process.stdout.once('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(text);
}

/** Reports an error and returns the exit status. Commander has already reported its own errors. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  reportError(error, name, linked?.entry.name ?? args.find((arg) => !arg.startsWith('-')));
  return exitStatusOf(error);
}

const args = process.argv.slice(2);
const linked = linkedCommand();
const name = linked?.name ?? 'harvest';
// Errors thrown in event listeners and timers. A server that adds its own listener handles them itself (R-72).
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) process.exit(reportFailure(error));
});
try {
  const program = linked === undefined ? await harvest(args) : (await load(linked.entry, true)).name(name);
  prepare(program, name, linked === undefined ? spelling() : name);
  // The meaning of original options depends on the command, which may be the name of the link.
  const words = ['', '', ...(linked === undefined ? [] : [linked.entry.name]), ...args];
  const argv = originalOptions(words, (word) =>
    linked === undefined ? program.commands.find((command) => command.name() === word) : program,
  );
  await program.parseAsync(argv.slice(linked === undefined ? 2 : 3), { from: 'user' });
} catch (error) {
  process.exitCode = reportFailure(error);
}
