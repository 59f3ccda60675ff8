// A row of the table of document types.
import type { SourceDocument, SummarizerContext, Summary } from '../document.js';
import type { HtmlSummary } from '../html/walk.js';

/** Summarizes a document of one type; asynchronous if it uses an asynchronous library or a program. */
type Summarizer = (
  document: SourceDocument,
  context: SummarizerContext,
) => Summary | HtmlSummary | Promise<Summary | HtmlSummary>;

/** Formats of `unnest/formats.ts`. */
export type FormatName =
  | 'gzip'
  | 'compress'
  | 'bzip2'
  | 'xz'
  | 'zstd'
  | 'tar'
  | 'ar'
  | 'cpio'
  | 'zip'
  | 'uuencode'
  | 'shar'
  | 'BinHex';

/** Bytes at an offset, as Latin-1, and the description of a document that has them. */
export type Signature = readonly [offset: number, bytes: string, description: string];

/** A type of document. */
export interface DocumentType {
  /** E-15: MIME types, separated by blanks; `image/*` for all of a family. */
  readonly mime?: string;
  /**
   * Suffixes of names, separated by blanks, for the line `*` of byname.cf; a line of the file itself precedes
   * it.
   */
  readonly suffixes?: string;
  /** Expression for descriptions, for the line `*` of bycontent.cf. */
  readonly content?: string;
  /**
   * E-16: the first row that matches wins, except that a longer signature precedes its own beginning at the
   * same offset.
   */
  readonly signatures?: readonly Signature[];
  /**
   * First lines of a text without a signature, and how they are described (E-16). The first row that matches
   * wins.
   */
  readonly beginnings?: readonly (readonly [pattern: RegExp, description: string])[];
  /**
   * What no name can change: binary content is never of a type of text, text never of a type of bytes that
   * Essence reads or leaves out.
   */
  readonly form?: 'text' | 'binary';
  /**
   * A thread of the calling process may read it (E-45): its reader is part of this project, keeps no buffer
   * besides the text and takes time and memory linear in it. The readers of all other types use libraries,
   * decompress, or run a program of the document.
   */
  readonly inThread?: true;
  /** E-117: the full text is the document itself. */
  readonly isWhole?: true;
  /** E-71: a table of the user, DocBook.sum.tbl, precedes its reader. */
  readonly isVocabulary?: true;
  /** E-58: it is the source of a program. */
  readonly isSource?: true;
  /**
   * It contains other files or objects and is unpacked, not summarized (E-40, E-43, E-44): the possible
   * formats, the most frequent one first; none if a converter or the user's program reads it (E-46).
   */
  readonly nested?: readonly FormatName[];
  /**
   * E-60, E-71. Loads what it needs at its first document. Without it, a document of the type has a title only,
   * as Unrecognized.
   */
  readonly summarize?: Summarizer;
}

/** Loads a summarizer at the first document of its type. */
export function lazy(load: () => Promise<Summarizer>): Summarizer {
  let loaded: Summarizer | undefined;
  return async (document, context) => {
    loaded ??= await load();
    return loaded(document, context);
  };
}
