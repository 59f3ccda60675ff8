// Warns about files with passwords that other users can read.
import { statSync } from 'node:fs';
import { ConfigError } from '../../protocols/errors.js';

/** Mode bits that let users other than the owner read a file. */
const READABLE_BY_OTHERS = 0o044;

/**
 * Returns a warning if users other than its owner can read a file that holds passwords; undefined if not, or if
 * the file cannot be examined. It is for the start of a program.
 *
 * @param variable that holds the password, or that names the file
 */
export function passwordFileWarning(file: string, variable: string): ConfigError | undefined {
  // Windows has no such bits.
  if (process.platform === 'win32') return undefined;
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined || !status.isFile() || (status.mode & READABLE_BY_OTHERS) === 0) return undefined;
  const text = `the file holds passwords, and other users than its owner can read it: \`chmod 600 ${file}\``;
  return new ConfigError(file, 0, variable, text);
}
