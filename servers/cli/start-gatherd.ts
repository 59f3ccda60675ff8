import { fileURLToPath } from 'node:url';
import { ConnectionError } from '../../protocols/errors.js';
import { gatherdFiles } from '../gatherd/index.js';
import { startDetached } from '../host/index.js';

/** Path of the `harvest` program, for commands that start another command. */
export const HARVEST_PROGRAM = fileURLToPath(new URL('./harvest.js', import.meta.url));

/**
 * Starts gatherd in the background and waits until it accepts connections.
 *
 * @param words other options of gatherd, and the port
 * @returns its process id and address
 * @throws ConnectionError with gatherd's message if it does not start
 */
export async function startGatherd(
  directory: string,
  log: string | undefined,
  words: readonly string[],
): Promise<{ readonly pid: number; readonly address: string }> {
  const files = await gatherdFiles(directory, { log });
  try {
    const { pid, match } = await startDetached({
      command: [
        process.execPath,
        HARVEST_PROGRAM,
        'gatherd',
        '-d',
        files.directory,
        '--log',
        files.log,
        ...words,
      ],
      logFile: files.log,
      ready: /^ready gatherd=(\S+)$/m,
    });
    return { pid, address: match[1] ?? '' };
  } catch (cause) {
    if (!(cause instanceof ConnectionError)) throw cause;
    // The last line of its output begins with a program name, as the message of this process will.
    const why = cause.message.replace(/^\s*[\w.-]+: /, '');
    throw new ConnectionError(`gatherd did not start: ${why}`, { cause });
  }
}
