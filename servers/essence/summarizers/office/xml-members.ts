import type { SourceDocument } from '../../document.js';
import { type MarkupEvents, type MarkupOptions, MarkupStream } from '../../html/markup-stream.js';
import { unreadable } from '../extracted.js';
import type { ZipMembers } from './zip-members.js';

/** Maximum depth of elements. The parser searches the open elements at each end tag. */
export const MAX_DEPTH = 400;

/** Reads members of one document as XML. Damage becomes a warning; the text before it is kept. */
export class XmlMembers {
  readonly zip: ZipMembers;
  readonly #document: SourceDocument;

  constructor(zip: ZipMembers, document: SourceDocument) {
    this.zip = zip;
    this.#document = document;
  }

  /** Reads a member, by default until the time of the document is over; does nothing if it is missing. */
  async read(name: string, events: MarkupEvents, options: MarkupOptions = {}): Promise<void> {
    const stream = new MarkupStream(events, {
      isFull: this.#document.isOutOfTime,
      maxDepth: MAX_DEPTH,
      ...options,
    });
    try {
      await this.zip.read(name, (chunk) => stream.write(chunk));
    } catch (error) {
      this.#document.warn(unreadable(name, error));
    }
    stream.end();
  }
}
