import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { messageOf, UsageError } from '../../../protocols/errors.js';

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
