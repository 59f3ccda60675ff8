#!/usr/bin/env node
// More threads than the default four: DNS look-ups, deflate and the stores share the pool. Must be set before its first use.
process.env.UV_THREADPOOL_SIZE ??= '8';

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Help, type Option } from 'commander';
import { COMMANDS, type CommandEntry, findCommand, GROUPS } from './commands.js';
import { EXIT, exitStatusOf, reportError } from './exit.js';
import { originalOptions } from './original-options.js';

const HELP = `
How the servers work together, and their commands:

  documents --> Gatherer --> gatherd :8500 --> Broker :8501 --> search page :8080
                 gatherer     gatherd            broker          run (all of them)
                              gather (client)    query (client)

Start with \`harvest run\`, then try the commands that it prints. \`harvest COMMAND --help\` explains each command. A link to
this program with the name of a command, or of an original program, runs that command.

Exit status: 0 done; 1 failure, or a negative answer; 2 the command line or a configuration file is wrong; 3 the peer cannot
be reached; 70 a bug in this program, with a stack on standard error; 130 stopped by a signal. The help of each command
tells which ones it uses.
`;

function version(): string {
  const file = fileURLToPath(import.meta.resolve('#package.json'));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

/** The command that a link names (`cksoif -> harvest.js`): npm and users create such links, and Node keeps their names. */
function linkedCommand(): { readonly entry: CommandEntry; readonly name: string } | undefined {
  const name = basename(process.argv[1] ?? '').replace(/\.m?js$/, '');
  const entry = findCommand(name);
  return entry && { entry, name };
}

/** Builds `harvest COMMAND ...`. Only that command is loaded; the others serve the help and suggestions for wrong names. */
async function harvest(words: readonly string[]): Promise<Command> {
  const program = new Command('harvest')
    .description(
      'Gather documents politely, export and replicate their summaries, search them: the Harvest protocols.',
    )
    .version(version())
    // A command receives its arguments as typed, including "--".
    .enablePositionalOptions()
    .commandsGroup('Help:')
    .addHelpText('after', HELP);
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  const wanted = findCommand((first === 'help' ? second : first) ?? '');
  for (const heading of Object.keys(GROUPS) as (keyof typeof GROUPS)[]) {
    for (const entry of COMMANDS.filter(({ group }) => group === heading)) {
      const command = entry === wanted ? await entry.load() : new Command(entry.name);
      program.addCommand(command.summary(entry.summary).helpGroup(GROUPS[heading]));
    }
  }
  return program;
}

/** Lets commander throw its errors and begin their messages with the program's name. */
function prepare(command: Command, name: string): void {
  command
    .configureHelp({ optionDescription })
    .exitOverride()
    .configureOutput({
      writeOut: printHelp,
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    });
  for (const child of command.commands) prepare(child, name);
}

/** The description of an option with its default, unless that is "off" or an empty list. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:false|\[\])\)$/, '');
}

/** The reader of the help may close the pipe early (`| head`). */
function printHelp(text: string): void {
  process.stdout.once('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(text);
}

/** Reports an error and returns the exit status. Commander has already reported its own errors. */
function statusAfter(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  reportError(error, name, linked?.entry.name ?? words.find((word) => !word.startsWith('-')));
  return exitStatusOf(error);
}

const words = process.argv.slice(2);
const linked = linkedCommand();
const name = linked?.name ?? 'harvest';
// Errors of event listeners and timers. A server with a listener of its own decides itself.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) process.exit(statusAfter(error));
});
try {
  const program = linked === undefined ? await harvest(words) : (await linked.entry.load()).name(name);
  prepare(program, name);
  // The meaning of original options depends on the command, which may be the name of the link.
  const line = originalOptions(['', '', ...(linked === undefined ? [] : [linked.entry.name]), ...words]);
  await program.parseAsync(line.slice(linked === undefined ? 2 : 3), { from: 'user' });
} catch (error) {
  process.exitCode = statusAfter(error);
}
