// Reads the arguments of the suite `broker`, and its password file.
import { readFile } from 'node:fs/promises';
import { ConfigError, messageOf, UsageError } from '../../../protocols/errors.js';

/** The arguments of the suite. */
export interface SuiteArguments {
  /** HOST, HOST:PORT, or HOST PORT. */
  readonly address: readonly string[];
  readonly passwordFile: string | undefined;
}

const OPTION = '--password-file';

/**
 * Reads `HOST[:PORT] [--password-file FILE]`.
 * @throws UsageError for an unknown option
 */
export function parseArguments(args: readonly string[]): SuiteArguments {
  const address: string[] = [];
  let passwordFile: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === OPTION) {
      at++;
      passwordFile = args[at] ?? '';
    } else if (word.startsWith(`${OPTION}=`)) passwordFile = word.slice(OPTION.length + 1);
    else if (word.startsWith('-')) throw new UsageError(`unknown option ${word}`);
    else address.push(word);
  }
  if (passwordFile === '') throw new UsageError(`${OPTION} needs the name of a file`);
  return { address, passwordFile };
}

/**
 * Reads the first line of the file. Rejects with ConfigError when the file cannot be read or the line is empty.
 */
export async function readPassword(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const why = messageOf(cause);
    throw new ConfigError(file, 0, '', `the password cannot be read: ${why}`);
  });
  const password = text.split(/\r?\n/)[0] ?? '';
  if (password === '') throw new ConfigError(file, 1, '', 'no password');
  return password;
}
