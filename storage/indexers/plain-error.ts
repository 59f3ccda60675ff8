import { PeerError, StorageError } from '../../protocols/errors.js';
import { storageError } from './index-file.js';
import type { PlainError } from './messages.js';

/** Converts an error to the form that crosses threads. Every error except a PeerError becomes a storage error. */
export function plainError(error: unknown): PlainError {
  if (error instanceof PeerError) return { kind: 'peer', message: error.message };
  return { kind: 'storage', message: storageError('the index failed', error).message };
}

/** Converts an error back after it has crossed threads. */
export function revivedError({ kind, message }: PlainError): Error {
  return kind === 'peer' ? new PeerError(message, 111) : new StorageError(message);
}
