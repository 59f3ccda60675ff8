import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf, UsageError } from '../../protocols/errors.js';
import { firstLine, hiddenAnswer } from './hidden-answer.js';

/** Where a Broker's administrative password may come from. */
export interface PasswordSources {
  /** In the clear, from the command line. */
  readonly password?: string;
  /** A file whose first line it is; `-` is standard input. */
  readonly passwordFile?: string;
}

/** The environment variable that holds it. */
export const PASSWORD_VARIABLE = 'HARVEST_ADMIN_PASSWORD';

/** The lines of an option table that are the same wherever the password is asked for. */
export const PASSWORD_HELP = `The password is that of broker.conf (Admin-Password). It is taken from --password-file, else from
$${PASSWORD_VARIABLE}, else asked for at the terminal. --password shows it to everybody who can list processes.`;

/**
 * The password, from the first source that there is: an option, the environment, the terminal.
 *
 * @throws UsageError when there is none, or the file cannot be read
 */
export async function adminPassword({ password, passwordFile }: PasswordSources): Promise<string> {
  if (password !== undefined && passwordFile !== undefined) {
    throw new UsageError('--password and --password-file exclude each other');
  }
  if (password !== undefined) return password;
  if (passwordFile !== undefined) return firstLine(await readPasswordFile(passwordFile));
  const fromEnvironment = process.env[PASSWORD_VARIABLE];
  if (fromEnvironment !== undefined) return fromEnvironment;
  if (process.stdin.isTTY) return hiddenAnswer('Password: ');
  throw new UsageError(`a password is wanted: --password-file, $${PASSWORD_VARIABLE}, or a terminal`);
}

async function readPasswordFile(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    const why = messageOf(cause);
    throw new UsageError(`${file}: cannot be read: ${why}`, { cause });
  }
}
