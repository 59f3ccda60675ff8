import { constants, createGunzip } from 'node:zlib';
import { StorageError } from '../../../protocols/errors.js';
import { LineSplitter } from '../../../protocols/line-splitter.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { type JournalEvent, parseJournalLine } from './journal-line.js';

export interface ReadJournalOptions {
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of bytes of a line; longer ones are bad lines. Default 65 536. */
  readonly maxLineLength?: number;
  /** Called for a line that is not an event; it is skipped. */
  readonly onBadLine?: (lineNumber: number, text: string) => void;
  /**
   * Called if the compressed data is damaged, not only cut off. The events before the damage have been
   * returned, those after it are lost. Without this callback the error is thrown.
   */
  readonly onDamage?: (error: StorageError) => void;
}

/** Compressed bytes per step of decompression; gzip expands them at most a thousandfold. */
const CHUNK_BYTES = 16_384;

/**
 * Reads the events of a recovery journal (CRAWL-17.1.1), gzip or plain text, in bounded memory. The file may
 * end within a line or a gzip member; an incomplete last line is skipped.
 *
 * @throws StorageError when the file cannot be read or is damaged, the signal's reason
 */
export async function* readJournal(
  path: string,
  options: ReadJournalOptions = {},
): AsyncGenerator<JournalEvent, void, undefined> {
  const { onBadLine } = options;
  for await (const { number, text } of readLines(path, options)) {
    const event = text === undefined ? undefined : parseJournalLine(text);
    if (event !== undefined) yield event;
    else if (text !== '') onBadLine?.(number, text ?? '');
  }
}

/** A line of a file, without its line end. */
export interface NumberedLine {
  /** From 1. */
  readonly number: number;
  /** undefined if it is too long. */
  readonly text: string | undefined;
}

export interface ReadLinesOptions extends Omit<ReadJournalOptions, 'onBadLine'> {
  /** Whether a last line without a line end counts: in a file that is complete. Default false. */
  readonly isComplete?: boolean;
}

/**
 * Reads the lines of a file, gzip or plain text, in bounded memory.
 *
 * @throws StorageError when the file cannot be read or is damaged, the signal's reason
 */
export async function* readLines(
  path: string,
  options: ReadLinesOptions = {},
): AsyncGenerator<NumberedLine, void, undefined> {
  const { signal, onDamage, isComplete = false } = options;
  const lines = new LineSplitter(options.maxLineLength ?? 65_536);
  let number = 0;
  try {
    for await (const chunk of (await isGzip(path)) ? decompress(path) : chunksOf(path)) {
      signal?.throwIfAborted();
      for (const text of lines.push(chunk as Buffer)) yield { number: ++number, text };
    }
    if (isComplete) for (const text of lines.end()) yield { number: ++number, text };
  } catch (error) {
    if (signal?.aborted || !isSystemError(error)) throw error;
    const failure = new StorageError(`${path}: ${error.message}`, { cause: error });
    // A code Z_... means damaged data, any other code an error of the file.
    if (!String(error.code).startsWith('Z_') || onDamage === undefined) throw failure;
    onDamage(failure);
  }
}

async function isGzip(path: string): Promise<boolean> {
  const handle = await openRegular(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead > 0 && buffer[0] === 0x1f && (bytesRead < 2 || buffer[1] === 0x8b);
  } finally {
    await handle.close();
  }
}

/** The file in pieces. */
async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = await openRegular(path);
  yield* file.createReadStream({ highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
}

/**
 * Decompresses all members of a gzip file. Node's stream discards output when an error follows, so its output
 * is collected here.
 */
async function* decompress(path: string): AsyncGenerator<Buffer> {
  // A truncated member is read like a flushed one.
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const output: Buffer[] = [];
  const error = new Promise<Error>((resolve) => gunzip.once('error', resolve));
  const ended = new Promise<void>((resolve) => gunzip.once('end', resolve));
  gunzip.on('data', (chunk: Buffer) => output.push(chunk));
  try {
    for await (const chunk of chunksOf(path)) {
      const written = new Promise<unknown>((resolve) => gunzip.write(chunk, resolve));
      const problem = await Promise.race([error, written]);
      yield* output.splice(0);
      if (problem instanceof Error) throw problem;
    }
    gunzip.end();
    const problem = await Promise.race([error, ended]);
    yield* output.splice(0);
    if (problem instanceof Error) throw problem;
  } finally {
    gunzip.destroy();
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && !(error instanceof StorageError);
}
