import { PeerError, StorageError } from '../../protocols/errors.js';
import { storageError } from './index-file.js';
import type { PlainError } from './messages.js';

const INDEX_FAILED = 'the index failed';

/** How the message of an error begins that is about the index, not about the store. */
export const INDEX_FAILURES: readonly string[] = [INDEX_FAILED, 'cannot use the index'];

/**
 * Converts an error to the form that crosses threads. Every error except a PeerError becomes a storage error,
 * which names the index: SQLite's own errors do not.
 */
export function plainError(error: unknown, file: string): PlainError {
  if (error instanceof PeerError) return { kind: 'peer', message: error.message };
  return { kind: 'storage', message: storageError(`${INDEX_FAILED}: ${file}`, error).message };
}

/** Converts an error back after it has crossed threads. */
export function revivedError({ kind, message }: PlainError): Error {
  return kind === 'peer' ? new PeerError(message, 111) : new StorageError(message);
}
