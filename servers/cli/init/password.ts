import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf, UsageError } from '../../../protocols/errors.js';
import { firstLine } from '../hidden-answer.js';

/** Where a new password may come from. */
export interface PasswordSources {
  /** In the clear, from the command line. */
  readonly password?: string;
  /** A file whose first line it is; `-` is standard input. */
  readonly passwordFile?: string;
}

/**
 * The password that the command line gives, if it does.
 *
 * @throws UsageError when it gives two, or the file cannot be read
 */
export async function readPassword({ password, passwordFile }: PasswordSources): Promise<string | undefined> {
  if (passwordFile === undefined) return password;
  if (password !== undefined) throw new UsageError('--password and --password-file exclude each other');
  try {
    const content = passwordFile === '-' ? await text(process.stdin) : await readFile(passwordFile, 'utf8');
    return firstLine(content);
  } catch (cause) {
    const why = messageOf(cause);
    throw new UsageError(`${passwordFile}: cannot be read: ${why}`, { cause });
  }
}
