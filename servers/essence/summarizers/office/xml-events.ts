import { Parser } from 'htmlparser2';
import type { SourceDocument } from '../../document.js';
import { unreadable } from '../extracted.js';
import type { ZipMembers } from './zip-members.js';

/** Maximum depth of elements. The parser searches the open elements at each end tag. */
const MAX_DEPTH = 400;

/** Attributes of an element, with their prefixes as written. */
export type XmlAttributes = Readonly<Record<string, string>>;

/** What happens at the tags of an XML document. Names have their prefix, as written. */
export interface XmlEvents {
  open(tag: string, attributes: XmlAttributes): void;
  text?(text: string): void;
  close?(tag: string): void;
}

/** Reads one XML document in chunks. */
export class XmlReader {
  readonly #parser: Parser;
  readonly #isFull: () => boolean;
  #depth = 0;

  /**
   * @param skip elements whose content is not reported, by tag
   * @param isFull whether the reader needs nothing more
   * @param html whether the document is a page: more entities, and end tags that may be missing
   */
  constructor(events: XmlEvents, skip: ReadonlySet<string>, isFull: () => boolean, html = false) {
    this.#isFull = isFull;
    let skipped = 0;
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => {
          this.#depth++;
          if (skipped > 0 || skip.has(tag)) skipped++;
          else events.open(tag, attributes);
        },
        ontext: (text) => {
          if (skipped === 0) events.text?.(text);
        },
        onclosetag: (tag) => {
          this.#depth--;
          if (skipped > 0) skipped--;
          else events.close?.(tag);
        },
      },
      { xmlMode: !html, decodeEntities: true, recognizeSelfClosing: true },
    );
  }

  /** Returns whether the reader needs more. @throws Error if the elements are nested too deep */
  write(chunk: string): boolean {
    // Small pieces: one chunk can open thousands of elements before the depth is looked at.
    for (let offset = 0; offset < chunk.length; offset += 4096) {
      if (this.#isFull()) return false;
      this.#parser.write(chunk.slice(offset, offset + 4096));
      if (this.#depth > MAX_DEPTH) throw new Error(`elements nested deeper than ${MAX_DEPTH} (E-45)`);
    }
    return true;
  }

  /** Closes the open elements. */
  end(): void {
    this.#parser.end();
  }
}

const NOTHING: ReadonlySet<string> = new Set();

/** Reads members of one document as XML. Damage becomes a warning; the text before it is kept. */
export class XmlMembers {
  readonly zip: ZipMembers;
  readonly #document: SourceDocument;

  constructor(zip: ZipMembers, document: SourceDocument) {
    this.zip = zip;
    this.#document = document;
  }

  /** Reads a member; does nothing if it is missing. The parameters are those of {@link XmlReader}. */
  async read(
    name: string,
    events: XmlEvents,
    skip: ReadonlySet<string> = NOTHING,
    isFull: () => boolean = this.#document.isOutOfTime,
    html = false,
  ): Promise<void> {
    const reader = new XmlReader(events, skip, isFull, html);
    try {
      await this.zip.read(name, (chunk) => reader.write(chunk));
    } catch (error) {
      this.#document.warn(unreadable(name, error));
    }
    reader.end();
  }
}
