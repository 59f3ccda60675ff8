import type { SoifDecoderOptions, SoifObject } from '../soif/index.js';
import type { UpdateEvent } from './update-reader.js';

export interface GatherdClientOptions {
  /** Bytes of the longest status line. Default 8192. */
  readonly maxLineBytes?: number;
  /** Bytes of lines we do not understand between two we do. Default 1 MiB. */
  readonly maxIgnoredBytes?: number;
  /** Limits and mode for the objects received. */
  readonly soif?: SoifDecoderOptions;
}

/** What came in, in order. */
export type GatherdClientEvent =
  | { readonly kind: 'greeting'; readonly version: string; readonly hostname: string }
  /** Answer to HELLO or SET; not accepted means that the session goes on without it (GATHERD-6.9, 6.11). */
  | { readonly kind: 'reply'; readonly to: 'hello' | 'compression' | 'changes'; readonly accepted: boolean }
  | UpdateEvent
  /**
   * Deflate data of a compressed update, always the last event of a push. Feed it to a raw inflate stream, hand
   * what comes out to `inflated`, and call `inflateEnd` when the stream has found its end.
   */
  | { readonly kind: 'inflate'; readonly bytes: Uint8Array }
  | { readonly kind: 'update-end'; readonly text: string }
  | { readonly kind: 'object'; readonly object: SoifObject }
  /** The answer to SEND-OBJECT or INFO is complete; `found` tells whether there was an object. */
  | { readonly kind: 'object-end'; readonly to: 'object' | 'info'; readonly found: boolean }
  | { readonly kind: 'bye' };

/** What the oldest unanswered line of a session was; the greeting answers the connection itself. */
export type Pending =
  | 'greeting'
  | 'hello'
  | 'compression'
  | 'changes'
  | 'update'
  | 'object'
  | 'info'
  | 'quit';

/** How far a session came whose server closed too early. */
export const BEFORE_ANSWER: Readonly<Record<Pending, string>> = {
  greeting: 'without a greeting',
  hello: 'instead of answering HELLO',
  compression: 'instead of answering SET',
  changes: 'instead of answering SET',
  update: 'before the update was complete',
  object: 'before the object was complete',
  info: 'before the description was complete',
  quit: '',
};
