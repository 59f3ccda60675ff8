import type { Expression } from '../../protocols/broker/index.js';
import type { Hit, IndexedWord, SearchOptions, SearchOutcome, WordRequest } from './contract.js';
import type { QueryLimits } from './matcher.js';
import type { SearchLimits } from './search.js';

/** An error in a message between threads, which does not preserve classes. */
export interface PlainError {
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
  | { readonly kind: 'clear' }
  | { readonly kind: 'close' };

/** Update thread to owner. */
/** `objects`: their number in the index, after the changes that are durable. */
export type UpdateReply =
  | { readonly kind: 'done'; readonly objects: number }
  | { readonly kind: 'failed'; readonly error: PlainError };
