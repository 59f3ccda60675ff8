// The diagnostics channel for debugging messages (G-150).
import { channel } from 'node:diagnostics_channel';

/** One debugging message (G-150). A subscriber decides by section and level whether it computes the text. */
export interface DebugMessage {
  /** 1 to 255. */
  readonly section: number;
  /** 1 to 9 (G-151). */
  readonly level: number;
  /** Returns the text: one line, without the section. */
  readonly text: () => string;
}

/** `harvest:debug`, with a {@link DebugMessage}. Libraries publish; programs with `-D` subscribe. */
export const debugChannel = channel('harvest:debug');

/** Publishes a debugging message. Costs nothing while the channel has no subscriber. */
export function publishDebug(section: number, level: number, text: () => string): void {
  if (!debugChannel.hasSubscribers) return;
  const message: DebugMessage = { section, level, text };
  debugChannel.publish(message);
}

/** A fact about a retrieval that logs report in addition to its result. */
export type FetchNote =
  /** Answered from the disk cache (G-98). */
  | { readonly kind: 'cached'; readonly url: string }
  /** The server requested a login (G-82). */
  | {
      readonly kind: 'login';
      readonly url: string;
      /** Undefined if the server named none, or a scheme other than Basic. */
      readonly realm: string | undefined;
      /** A login was sent and refused; no login has this realm; or those that have it are for other URLs. */
      readonly login: 'refused' | 'unknown' | 'elsewhere';
    }
  /**
   * A Local-Mapping applies but its file cannot be used (G-75, G-76): the document is requested from the
   * server.
   */
  | { readonly kind: 'not-mapped'; readonly url: string; readonly path: string; readonly reason: string };

/** `harvest:fetch:note`, with a {@link FetchNote}; published before the result of the retrieval. */
export const fetchNoteChannel = channel('harvest:fetch:note');

/** Publishes a note. */
export function publishNote(note: FetchNote): void {
  if (fetchNoteChannel.hasSubscribers) fetchNoteChannel.publish(note);
}
