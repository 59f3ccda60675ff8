// Reads the arguments of the suite `gatherd-client`.
import { UsageError } from '../../../protocols/errors.js';

/** The arguments of the suite. */
export interface SuiteArguments {
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
export function parseArguments(args: readonly string[]): SuiteArguments {
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
