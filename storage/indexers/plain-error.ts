import { PeerError, StorageError } from '../../protocols/errors.js';
import { storageError } from './index-file.js';
import type { PlainError } from './messages.js';

/** An error in the form that crosses threads. Whatever the database or the store throws is a storage error. */
export function plainError(error: unknown): PlainError {
  if (error instanceof PeerError) return { kind: 'peer', message: error.message };
  return { kind: 'storage', message: storageError('the index failed', error).message };
}

/** The error as it was before it crossed. */
export function revivedError({ kind, message }: PlainError): Error {
  return kind === 'peer' ? new PeerError(message, 111) : new StorageError(message);
}
