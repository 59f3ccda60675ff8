// The events of an HTTP response.
import type { Deviation, HttpField } from './head.js';

/** The head of a response: its status line and header. */
export interface HttpHead {
  readonly kind: 'head';
  /** The bytes as they were sent, from the first byte to the empty line; empty for HTTP/0.9. */
  readonly raw: Uint8Array;
  /** As sent, e.g. `1.1`; `0.9` for a response without a head. */
  readonly version: string;
  readonly status: number;
  readonly reason: string;
  /** A 1xx response: the head of the response itself follows (RFC 9110 15.2). */
  readonly isInterim: boolean;
  /** In the order of the message; repeated ones stay apart. */
  readonly fields: readonly HttpField[];
  /** Transfer codings other than chunked that the body still has, in the order of their application. */
  readonly transferCodings: readonly string[];
}

/**
 * An event of a response, in order. Each byte of the message is in the `raw` of exactly one event, so that
 * their concatenation is the message as it was sent.
 */
export type HttpEvent =
  | HttpHead
  /** A piece of the body. */
  | { readonly kind: 'data'; readonly raw: Uint8Array }
  /** The bytes around a chunk: its size, its extension, line ends. */
  | { readonly kind: 'framing'; readonly raw: Uint8Array }
  /** The trailer section, with the empty line after it. */
  | { readonly kind: 'trailers'; readonly raw: Uint8Array; readonly fields: readonly HttpField[] }
  /** The message is over; bytes after it are not part of it. */
  | {
      readonly kind: 'end';
      /** Why the body is not complete, as far as that can be known; undefined for a complete one. */
      readonly problem: string | undefined;
      /** What the message did not do by the rules. */
      readonly deviations: readonly Deviation[];
    };
