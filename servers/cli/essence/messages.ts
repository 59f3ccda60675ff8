import { createLogger } from '../../host/index.js';

/** Where messages about documents go. */
export interface Messages {
  /** What is worth knowing of a document that was read. */
  note(text: string): void;
  /** A document that could not be read. */
  error(text: string): void;
  [Symbol.dispose](): void;
}

/**
 * Standard error, one line a message after `essence: `; or a log file, to which lines with the head of G-146 are appended, each at once
 * (G-147).
 *
 * @param file the log; undefined is standard error
 * @throws StorageError the log cannot be opened
 */
export function openMessages(file: string | undefined): Messages {
  if (file === undefined) {
    const write = (text: string): void => void process.stderr.write(`essence: ${text}\n`);
    return { note: write, error: write, [Symbol.dispose]() {} };
  }
  const log = createLogger({ program: 'essence', file });
  return {
    note: (text) => log.info(text),
    error: (text) => log.error(text),
    [Symbol.dispose]: () => log.flush(),
  };
}
