import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../../protocols/errors.js';

/**
 * Asks at the terminal; what is typed is not shown.
 *
 * @throws UsageError when the answer was refused with Ctrl-C
 */
export async function hiddenAnswer(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const stop = new AbortController();
  // Without this, Ctrl-C at the prompt would wait for an answer for ever.
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

/** The first line of what a file or standard input holds. */
export function firstLine(content: string): string {
  return content.split(/\r?\n/, 1)[0] ?? '';
}
