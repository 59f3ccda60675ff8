// What a pool needs of a worker, whether it is a thread or a process.
import type { EssenceInput, EssenceOutput } from './model.js';
import type { DraftPiece } from './summary.js';

/** The reply of a worker to one document. */
export type DocumentReply =
  | { readonly kind: 'output'; readonly output: EssenceOutput }
  /** An error of a summarizer, or the end of the worker; with what was read before. */
  | { readonly kind: 'failure'; readonly reason: string; readonly pieces?: readonly DraftPiece[] }
  /** The worker is a thread, and only a reader process may read this document (E-45). */
  | { readonly kind: 'untrusted' };

/** Why a worker ended by itself. */
export interface WorkerEnd {
  /** A clause, e.g. `reading it takes more than 384 MiB of memory`. */
  readonly reason: string;
  /** Set if the memory of documents before may be the cause: the document is read once more by a new worker. */
  readonly retry?: boolean;
}

/** Calls of a worker to its owner. The end is reported once, and nothing after it. */
export interface WorkerEvents {
  ready(): void;
  /** Further pieces of the current document. */
  draft(pieces: readonly DraftPiece[]): void;
  reply(reply: DocumentReply): void;
  ended(end: WorkerEnd): void;
}

/** Summarizes the documents that are posted to it, one at a time; the replies come in the same order. */
export interface DocumentWorker {
  post(input: EssenceInput): void;
  /** Milliseconds of processor time that the worker has used so far, as far as is known; it never shrinks. */
  processorMs(): number;
  /** Whether the worker keeps this process alive. */
  hold(busy: boolean): void;
  /** Ends it at once, whatever it is doing, and waits until it is gone. */
  end(): Promise<void>;
}
