import { Parser } from 'htmlparser2';

/** Values of attributes by name; names are as written, with prefix, and in lower case in HTML. */
export type MarkupAttributes = Readonly<Record<string, string>>;

/**
 * Receives what a {@link MarkupStream} reads. Names of elements are as written, with prefix, and in lower case in
 * HTML.
 */
export interface MarkupEvents {
  open(tag: string, attributes: MarkupAttributes): void;
  /** Character references are replaced. The text between two tags may arrive in several calls. */
  text?(text: string): void;
  /** Every element that is opened is closed, also without an end tag. */
  close?(tag: string): void;
  comment?(text: string): void;
  /** A processing instruction without its brackets: `?xml-stylesheet href="a.css"?`. */
  instruction?(text: string): void;
}

/** How a document is read. */
export interface MarkupOptions {
  /**
   * The default `xml` keeps names as written, and only knows the entities of XML; those that the document declares
   * are never expanded. `html` implies end tags and knows all entities; in `xhtml`, `<p/>` also is empty.
   */
  readonly dialect?: 'xml' | 'html' | 'xhtml';
  /** Reading fails at more open elements than this; without limit by default. */
  readonly maxDepth?: number;
  /** Reading fails at more elements than this; without limit by default. */
  readonly maxElements?: number;
  /** Tags of elements whose content is not reported, nor are they. */
  readonly skip?: ReadonlySet<string>;
  /** Whether nothing more is needed; asked every 4096 characters. */
  readonly isFull?: () => boolean;
}

/** A document exceeds a limit of its reader. */
export class MarkupLimitError extends RangeError {
  readonly code = 'ERR_MARKUP_LIMIT';
  readonly rule = 'E-45';
  /** Characters from the start of the document to the tag. */
  readonly offset: number;

  constructor(problem: string, offset: number) {
    super(`${problem} (E-45)`);
    this.offset = offset;
  }
}

/** Characters that are parsed before the limits are looked at. */
const PIECE_LENGTH = 4096;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * Reads XML, or a page in HTML, as a stream of events, in chunks. What is not well-formed is read as htmlparser2
 * does; nothing is fetched. Pages that are at hand as a whole are read faster by `readHtml`.
 */
export class MarkupStream {
  readonly #events: MarkupEvents;
  readonly #parser: Parser;
  readonly #maxDepth: number;
  readonly #maxElements: number;
  readonly #skip: ReadonlySet<string>;
  readonly #isFull: () => boolean;
  /** Tags of the open elements, the innermost last. */
  readonly #open: string[] = [];
  /** How many of them are not reported. */
  #skipped = 0;
  #elements = 0;
  #excess: MarkupLimitError | undefined;

  constructor(
    events: MarkupEvents,
    {
      dialect = 'xml',
      maxDepth = Number.POSITIVE_INFINITY,
      maxElements = Number.POSITIVE_INFINITY,
      skip = NOTHING,
      isFull = () => false,
    }: MarkupOptions = {},
  ) {
    this.#events = events;
    this.#maxDepth = maxDepth;
    this.#maxElements = maxElements;
    this.#skip = skip;
    this.#isFull = isFull;
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => this.#onOpen(tag, attributes),
        ontext: (text) => {
          if (this.#skipped === 0 && this.#excess === undefined) events.text?.(text);
        },
        onclosetag: () => {
          if (this.#excess === undefined) this.#close();
        },
        oncomment: (text) => events.comment?.(text),
        onprocessinginstruction: (_name, text) => events.instruction?.(text),
      },
      { xmlMode: dialect === 'xml', decodeEntities: true, recognizeSelfClosing: dialect !== 'html' },
    );
  }

  /** Within `open`: characters from the start of the document to the tag. */
  get offset(): number {
    return this.#parser.startIndex;
  }

  /**
   * Reads the next part of the document.
   * @returns whether more is needed
   * @throws MarkupLimitError if the document exceeds a limit. The elements before are complete after {@link end}.
   */
  write(chunk: string): boolean {
    // Small pieces: one chunk can open thousands of elements before the limits are looked at.
    for (let offset = 0; offset < chunk.length; offset += PIECE_LENGTH) {
      if (this.#isFull()) return false;
      this.#parser.write(chunk.slice(offset, offset + PIECE_LENGTH));
      if (this.#excess !== undefined) throw this.#excess;
    }
    return true;
  }

  /** Closes the open elements. */
  end(): void {
    if (this.#excess === undefined) this.#parser.end();
    while (this.#open.length > 0) this.#close();
  }

  /** The parser cannot be stopped: nothing is reported once a limit is exceeded. */
  #onOpen(tag: string, attributes: MarkupAttributes): void {
    if (this.#excess !== undefined) return;
    if (this.#open.length >= this.#maxDepth)
      this.#excess = new MarkupLimitError(`elements nested deeper than ${this.#maxDepth}`, this.offset);
    else if (++this.#elements > this.#maxElements)
      this.#excess = new MarkupLimitError(`more than ${this.#maxElements} elements`, this.offset);
    else {
      this.#open.push(tag);
      if (this.#skipped > 0 || this.#skip.has(tag)) this.#skipped++;
      else this.#events.open(tag, attributes);
    }
  }

  #close(): void {
    const tag = this.#open.pop();
    if (this.#skipped > 0) this.#skipped--;
    else if (tag !== undefined) this.#events.close?.(tag);
  }
}

/** The name of an element without its prefix. */
export function localName(tag: string): string {
  return tag.slice(tag.indexOf(':') + 1);
}

/** Reads a whole document by a {@link MarkupStream}. @throws MarkupLimitError */
export function readMarkup(text: string, events: MarkupEvents, options?: MarkupOptions): void {
  const stream = new MarkupStream(events, options);
  stream.write(text);
  stream.end();
}
