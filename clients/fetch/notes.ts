import { channel } from 'node:diagnostics_channel';

/** What a log wants to know about a retrieval beside its result. */
export type FetchNote =
  /** Answered from the disk cache (G-98). */
  | { readonly kind: 'cached'; readonly url: string }
  /** G-82: the server asked for a login. */
  | {
      readonly kind: 'login';
      readonly url: string;
      /** Absent: it named none, or another scheme than Basic. */
      readonly realm: string | undefined;
      /** A login was sent and was not taken. */
      readonly refused: boolean;
    }
  /** A Local-Mapping applies, but the file is not one for it (G-75, G-76): the server is asked. */
  | { readonly kind: 'not-mapped'; readonly url: string; readonly path: string; readonly why: string };

/** `harvest:fetch:note`, with a {@link FetchNote}; published before the retrieval's result is known. */
export const fetchNoteChannel = channel('harvest:fetch:note');

/** Publishes a note. */
export function note(about: FetchNote): void {
  if (fetchNoteChannel.hasSubscribers) fetchNoteChannel.publish(about);
}
