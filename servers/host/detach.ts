import { spawn } from 'node:child_process';
import { closeSync, createReadStream, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConnectionError, messageOf, StorageError } from '../../protocols/errors.js';

export interface DetachOptions {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Where its standard error goes. */
  readonly logFile: string;
  /** What it prints on standard output once it is ready. */
  readonly ready: RegExp;
  /** Milliseconds it may take for that. Default 30 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Most bytes of a failed start's last words. */
const LAST_WORDS = 4096;

/**
 * Starts a daemon that outlives this process: a session of its own, no terminal. Waits until it says that it is ready.
 *
 * @returns its process id and what `ready` matched
 * @throws ConnectionError when it ends or is not ready in time, with the last line that it wrote to its log
 */
export async function startDetached(
  options: DetachOptions,
): Promise<{ readonly pid: number; readonly match: RegExpExecArray }> {
  const [program, ...words] = options.command;
  const { log, begin } = openForAppending(options.logFile);
  const child = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  let timer: NodeJS.Timeout | undefined;
  try {
    const match = await new Promise<RegExpExecArray>((resolve, reject) => {
      let said = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        said = `${said}${text}`.slice(-LAST_WORDS);
        const found = options.ready.exec(said);
        if (found !== null) resolve(found);
      });
      child.once('error', (cause) => reject(new ConnectionError(`${program}: ${cause.message}`, { cause })));
      child.once('close', () => reject(new ConnectionError('it ended at once')));
      const { timeoutMs = 30_000 } = options;
      timer = setTimeout(() => reject(new ConnectionError(`it was not ready in ${timeoutMs} ms`)), timeoutMs);
      options.signal?.addEventListener('abort', () => reject(new ConnectionError('stopped meanwhile')), {
        once: true,
      });
    });
    if (child.pid === undefined) throw new ConnectionError(`${program}: no process`);
    return { pid: child.pid, match };
  } catch (cause) {
    child.kill();
    const why = messageOf(cause);
    const words = await lastLine(options.logFile, begin);
    throw new ConnectionError(words === '' ? why : words, { cause });
  } finally {
    clearTimeout(timer);
    child.stdout?.destroy();
    child.unref();
  }
}

function openForAppending(file: string): { readonly log: number; readonly begin: number } {
  try {
    mkdirSync(dirname(file), { recursive: true });
    return { log: openSync(file, 'a'), begin: statSync(file).size };
  } catch (cause) {
    const why = messageOf(cause);
    throw new StorageError(`the log ${file} cannot be opened: ${why}`, { cause });
  }
}

/** The last line that was written to a file behind `begin`. */
async function lastLine(file: string, begin: number): Promise<string> {
  const start = Math.max(begin, statSync(file).size - LAST_WORDS);
  let text = '';
  for await (const piece of createReadStream(file, { start, encoding: 'utf8' })) text += piece;
  return text.trimEnd().split('\n').at(-1) ?? '';
}
