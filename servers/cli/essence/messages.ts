import { createLogger } from '../../host/logger.js';
import { writeMessage } from '../output/printable.js';

/** Receives the messages about documents. */
export interface Messages {
  /** Writes a note about a document that was read. */
  note(text: string): void;
  /** Writes why a document could not be read. */
  error(text: string): void;
  [Symbol.dispose](): void;
}

/**
 * Writes messages to standard error after `essence: `, or appends them to a log with the line format of G-146,
 * each immediately (G-147).
 *
 * @param file the log; undefined is standard error
 * @throws StorageError if the log cannot be opened
 */
export function openMessages(file: string | undefined): Messages {
  if (file === undefined) {
    const write = (text: string): void => writeMessage(`essence: ${text}`);
    return { note: write, error: write, [Symbol.dispose]() {} };
  }
  const log = createLogger({ program: 'essence', file });
  return {
    note: (text) => log.info(text),
    error: (text) => log.error(text),
    [Symbol.dispose]: () => log.flush(),
  };
}
