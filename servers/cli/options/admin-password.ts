import { UsageError } from '../../../protocols/errors.js';
import { hiddenAnswer, readFirstLine } from './hidden-answer.js';

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
export const PASSWORD_HELP = `The password is Admin-Password of broker.conf. It is read from --password-file, from $${PASSWORD_VARIABLE}, or
from the terminal, in this order. --password shows it to every user who can list processes.`;

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
