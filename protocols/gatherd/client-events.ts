// The options and events of a client session.
import type { SoifDecoderOptions, SoifObject } from '../soif/index.js';
import type { UpdateEvent } from './update-reader.js';

export interface GatherdClientOptions {
  /** Bytes of the longest status line. Default 8192. */
  readonly maxLineBytes?: number;
  /** Bytes of unknown lines between two known ones. Default 1 MiB. */
  readonly maxIgnoredBytes?: number;
  /** Limits and mode for the objects received. */
  readonly soif?: SoifDecoderOptions;
}

/** An event of a session, in order of arrival. */
export type GatherdClientEvent =
  | { readonly kind: 'greeting'; readonly version: string; readonly hostname: string }
  /** Reply to HELLO or SET. If it is not accepted, the session continues without it (GATHERD-6.9, 6.11). */
  | { readonly kind: 'reply'; readonly to: 'hello' | 'compression' | 'changes'; readonly accepted: boolean }
  | UpdateEvent
  /**
   * Deflate data of a compressed update, always the last event of a push. Feed it to a raw inflate stream, pass
   * the output to `inflated`, and call `inflateEnd` when the stream has found its end.
   */
  | { readonly kind: 'inflate'; readonly bytes: Uint8Array }
  | { readonly kind: 'update-end'; readonly text: string }
  | { readonly kind: 'object'; readonly object: SoifObject }
  /** The reply to SEND-OBJECT or INFO is complete; `found` says whether it had an object. */
  | { readonly kind: 'object-end'; readonly to: 'object' | 'info'; readonly found: boolean }
  | { readonly kind: 'bye' };

/** A line that is not answered yet; `greeting` is the server's answer to the connection itself. */
export type Pending =
  | 'greeting'
  | 'hello'
  | 'compression'
  | 'changes'
  | 'update'
  | 'object'
  | 'info'
  | 'quit';

/** The end of the sentence "the server closed the connection ...", by the line that is not answered yet. */
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
