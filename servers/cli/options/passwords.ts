import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { messageOf, UsageError } from '../../../protocols/errors.js';

/** Command-line options with a Broker's administrative password. */
export interface PasswordSources {
  /** Clear text on the command line. */
  readonly password?: string;
  /** File whose first line is the password; `-` is standard input. */
  readonly passwordFile?: string;
}

/** Environment variable that may contain the password. */
const PASSWORD_VARIABLE = 'HARVEST_ADMIN_PASSWORD';

/** Explains the password in the help of every command that needs it. */
export const PASSWORD_HELP = `The password is Admin-Password of broker.conf. It is read from --password-file, from
$${PASSWORD_VARIABLE}, or from the terminal, in this order. --password shows it to every user who
can list processes.`;

/**
 * Reads the password from the options; returns undefined if neither is set.
 *
 * @throws UsageError if both are set, or the file cannot be read
 */
export async function readPasswordOption({
  password,
  passwordFile,
}: PasswordSources): Promise<string | undefined> {
  if (passwordFile === undefined) return password;
  if (password !== undefined) throw new UsageError('--password and --password-file are mutually exclusive');
  return readFirstLine(passwordFile);
}

/**
 * Reads the password from the first source that has it: an option, the environment, the terminal.
 *
 * @throws UsageError if there is no source or the file cannot be read
 */
export async function readAdminPassword(sources: PasswordSources): Promise<string> {
  const password = (await readPasswordOption(sources)) ?? process.env[PASSWORD_VARIABLE];
  if (password !== undefined) return password;
  if (process.stdin.isTTY) return hiddenAnswer('Password: ');
  throw new UsageError(`a password is required: use --password-file, $${PASSWORD_VARIABLE}, or a terminal`);
}

/**
 * Asks a question at the terminal; the answer is not shown while typed.
 *
 * @throws UsageError if the user presses Ctrl-C
 */
export async function hiddenAnswer(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const stop = new AbortController();
  // Without this listener, Ctrl-C at the prompt has no effect.
  terminal.on('SIGINT', () => stop.abort());
  try {
    return await terminal.question('', { signal: stop.signal });
  } catch (cause) {
    throw new UsageError('no password was given', { cause });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

/**
 * Reads the first line of a file, or of standard input for `-`: for secrets, which other users could see on a
 * command line.
 *
 * @throws UsageError if it cannot be read
 */
export async function readFirstLine(file: string): Promise<string> {
  try {
    return firstLine(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (cause) {
    throw new UsageError(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Returns the first line of a text. */
export function firstLine(content: string): string {
  return content.split(/\r?\n/, 1)[0] ?? '';
}
