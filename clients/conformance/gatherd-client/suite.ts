// The suite `gatherd-client`.

import { UsageError } from '../../../protocols/errors.js';
import { prepareClients as prepare } from '../client-context.js';
import { CommandClient } from '../command-client.js';
import type { PreparedSuite, Suite } from '../runner.js';
import { Bench, type ClientsUnderTest } from './bench.js';
import type { ClientCase } from './checks.js';
import { COMPRESSION_CASES } from './compression-cases.js';
import { INCOMPLETE_CASES, SECTION_CASES, VALUE_CASES } from './data-cases.js';
import { DELIVERY_CASES, INFO_CASES, LINE_CASES, REFUSAL_CASES, SESSION_CASES } from './session-cases.js';

export const CLIENT_CASES: readonly ClientCase[] = [
  ...SESSION_CASES,
  ...LINE_CASES,
  ...VALUE_CASES,
  ...SECTION_CASES,
  ...DELIVERY_CASES,
  ...INCOMPLETE_CASES,
  ...REFUSAL_CASES,
  ...COMPRESSION_CASES,
  ...INFO_CASES,
];

/** Binds the cases to clients. The command line does it by {@link suite}. */
export function prepareClients(clients: ClientsUnderTest): PreparedSuite {
  const target = [clients.client?.name, clients.infoClient?.name]
    .filter((name) => name !== undefined)
    .join(' | ');
  return prepare(suite.name, target, CLIENT_CASES, new Bench(clients));
}

/** Checks a gatherd client: runs its commands against scripted servers. */
export const suite: Suite = {
  name: 'gatherd-client',
  title: 'a client that collects from gatherd: what it sends, understands and writes out',
  usage:
    '[--no-output] [--info COMMANDLINE] -- COMMAND [ARG...]  ({host} and {port} are replaced, or appended)',
  requirements: [
    'COMMAND fetches everything. It must write the objects that it receives to standard output as SOIF,',
    'with or without the groups @DELETE, @REFRESH and @UPDATE, and end with exit status 0 only if the',
    'transfer was complete (GATHERD-11.4).',
    '--no-output: the output is not judged, only the dialogue and the exit status are.',
    '--info: a command line that fetches the description (INFO) and writes that object in the same way;',
    'without it the cases info/* are skipped.',
  ],
  cases: CLIENT_CASES,
  async prepare(args) {
    const { command, info, checksOutput } = parseArguments(args);
    return prepareClients({
      ...(command.length === 0 ? {} : { client: await CommandClient.of(command) }),
      ...(info.length === 0 ? {} : { infoClient: await CommandClient.of(info) }),
      checksOutput,
    });
  },
};
export type { Bench, ClientContext, ClientsUnderTest, Observation } from './bench.js';
export type { ClientCase } from './checks.js';
export type { Behavior, Step } from './dialogue.js';
export type { Content, Section, SectionObject, WireObject } from './objects.js';
export type { OutputReader } from './output.js';

/** The arguments of the suite. */
interface SuiteArguments {
  /** The program that fetches everything, with its arguments; empty when only `--info` is given. */
  readonly command: readonly string[];
  /** The program that fetches the description. */
  readonly info: readonly string[];
  /** Whether the output of the programs is checked. */
  readonly checksOutput: boolean;
}

/**
 * Reads `[--no-output] [--info COMMANDLINE] [--] COMMAND [ARG...]`.
 * @throws UsageError for an unknown option or a missing command
 */
function parseArguments(args: readonly string[]): SuiteArguments {
  let checksOutput = true;
  let info: readonly string[] = [];
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--no-output') checksOutput = false;
    else if (word.startsWith('--info=')) info = splitCommandLine(word.slice('--info='.length));
    else if (word === '--info') {
      at++;
      info = splitCommandLine(args[at] ?? '');
    } else if (word.startsWith('-') && word !== '--') throw new UsageError(`unknown option ${word}`);
    else break;
    if (info.length === 0 && word.startsWith('--info')) throw new UsageError('--info needs a command line');
  }
  if (args[at] === '--') at++;
  const command = args.slice(at);
  if (command.length === 0 && info.length === 0) {
    throw new UsageError('the command of the client is missing: gatherd-client -- COMMAND [ARG...]');
  }
  return { command, info, checksOutput };
}

/**
 * Divides a command line into words at white space. Single and double quotes keep words together; a backslash
 * makes the next character literal, except between single quotes. No other character is special.
 * @throws UsageError for a quote that is not closed
 */
function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === quote) quote = '';
    else if (char === '\\' && quote !== "'" && at + 1 < line.length) {
      at++;
      word = (word ?? '') + line.charAt(at);
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') throw new UsageError(`a quote is not closed in: ${line}`);
  if (word !== undefined) words.push(word);
  return words;
}
