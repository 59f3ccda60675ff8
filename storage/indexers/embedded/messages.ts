import type { Expression } from '../../../protocols/broker/index.js';
import { PeerError, StorageError } from '../../../protocols/errors.js';
import type { Hit, IndexedWord, SearchOptions, SearchOutcome, WordRequest } from '../contract.js';
import type { QueryLimits } from '../query/matcher.js';
import { storageError } from './index/index-file.js';
import type { SearchLimits } from './search/search.js';

/** An error in a message between threads, which does not preserve classes. */
interface PlainError {
  readonly kind: 'peer' | 'storage';
  readonly message: string;
}

/** Parameters of the query thread. */
export interface QueryWorkerData {
  readonly file: string;
  readonly storeDirectory: string;
  readonly rebuildOnError: boolean;
  /** Compare the pages of the file with each other before it is used: it was not closed in good order. */
  readonly checkPages: boolean;
  readonly cacheKiB: number;
  readonly busyTimeoutMs: number;
  readonly queryLimits: QueryLimits;
  readonly searchLimits: SearchLimits;
}

/** Owner to query thread. A query works only while a batch is requested: that is the backpressure. */
export type QueryRequest =
  | {
      readonly kind: 'query';
      readonly id: number;
      readonly expression: Expression;
      readonly options: Omit<SearchOptions, 'signal' | 'pause'>;
    }
  | { readonly kind: 'words'; readonly id: number; readonly request: Omit<WordRequest, 'signal'> }
  | { readonly kind: 'pull' | 'stop' | 'pause' | 'resume'; readonly id: number }
  | { readonly kind: 'close' };

/** Query thread to owner. */
export type QueryReply =
  | { readonly kind: 'ready'; readonly watermark: number; readonly objects: number }
  | { readonly kind: 'unusable'; readonly error: PlainError }
  /** The last batch has an outcome. */
  | {
      readonly kind: 'batch';
      readonly id: number;
      readonly hits: readonly Hit[];
      readonly outcome?: SearchOutcome;
    }
  | { readonly kind: 'words'; readonly id: number; readonly words: readonly IndexedWord[] }
  | { readonly kind: 'failed'; readonly id: number; readonly error: PlainError };

/** Parameters of the update thread. */
export interface UpdateWorkerData {
  readonly file: string;
  readonly cacheKiB: number;
  readonly busyTimeoutMs: number;
  /** Approximate bytes of objects in one transaction. */
  readonly transactionBytes: number;
}

/** One change: the object's bytes are `bytes[start..end]` of the message; an empty range is a removal. */
export interface PackedChange {
  readonly oid: number;
  readonly start: number;
  readonly end: number;
}

/** Owner to update thread; replies are in the order of the requests. */
export type UpdateRequest =
  | { readonly kind: 'apply'; bytes: Uint8Array; readonly changes: readonly PackedChange[] }
  | { readonly kind: 'flush'; readonly watermark: number }
  | { readonly kind: 'clear' | 'merge' }
  | { readonly kind: 'close' };

/** Update thread to owner. */
/** `objects`: their number in the index, after the changes that are durable. */
export type UpdateReply =
  | { readonly kind: 'done'; readonly objects: number }
  | { readonly kind: 'failed'; readonly error: PlainError };

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
