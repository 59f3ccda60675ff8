// Reads update streams, whose objects are in sections (SOIF-8.9).
import type { SoifWarning } from './attempt.js';
import { ItemDecoder } from './decoder.js';
import type { SoifOutline } from './kept-attributes.js';
import type { SoifObject } from './object.js';
import { decoderLimits, type SoifDecoderOptions } from './options.js';
import { type SectionName, StreamReader, type StreamSink } from './stream-reader.js';

/** An item of {@link SectionDecoder}. Offsets are bytes from the start of the stream. */
export type SectionItem =
  | {
      readonly kind: 'section';
      readonly section: SectionName;
      readonly open: boolean;
      readonly offset: number;
    }
  | {
      readonly kind: 'object';
      readonly section: SectionName;
      readonly object: SoifObject;
      /** The object as received, with the LF after its closing brace: a view of the chunk where possible. */
      readonly bytes: Uint8Array;
      readonly offset: number;
      /** Whether `bytes` have the layout of SOIF-2.2, so that they may be passed on unchanged. */
      readonly exact: boolean;
    }
  /**
   * With `largeBytes`: the next bytes of an object that is not held; `first`: they begin it. After the last of
   * them comes a `large` item, or the object is malformed: then a `rewind` may come, the last item of its call.
   * It requests a re-read from `offset`; `back` of those bytes have already arrived.
   */
  | {
      readonly kind: 'large-bytes';
      readonly bytes: Uint8Array;
      readonly offset: number;
      readonly first: boolean;
    }
  | {
      readonly kind: 'large';
      readonly section: SectionName;
      readonly outline: SoifOutline;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly kind: 'rewind'; readonly offset: number; readonly back: number }
  | SoifWarning
  /** `text` is what follows `NNN - `. */
  | { readonly kind: 'end-line'; readonly text: string; readonly code: number; readonly offset: number };

/** The lines that open sections (SOIF-8.8). */
export const SECTION_OPEN: Readonly<Record<SectionName, Uint8Array>> = {
  delete: Buffer.from('@DELETE {\n'),
  refresh: Buffer.from('@REFRESH {\n'),
  update: Buffer.from('@UPDATE {\n'),
};

/** The line that closes a section (SOIF-8.8). */
export const SECTION_CLOSE: Uint8Array = Buffer.from('}\n');

/**
 * Reads an update stream: objects in `@DELETE {`, `@REFRESH {` and `@UPDATE {` sections, in any order, number
 * and layout (SOIF-8.9); an object outside of them counts as an update. Modes, errors and memory are those of
 * `SoifDecoder`; white space between objects is allowed in both modes.
 *
 * With `endLine`, a line `NNN - ...` between objects ends the stream (GATHERD-3.7): then {@link ended} is true
 * and {@link rest} has the bytes after the line, which belong to the next stream.
 */
export class SectionDecoder extends ItemDecoder<SectionItem> {
  /** @throws RangeError for a limit out of its range */
  constructor(options: SoifDecoderOptions & { readonly endLine?: boolean } = {}) {
    const surroundings = { sections: true, endLine: options.endLine === true };
    const limits = decoderLimits(options);
    let current: SectionName = 'update';
    super((add) => {
      const sink: StreamSink = {
        object: (object, start, end, exact, window) => {
          const bytes = window.view(start, end);
          add({ kind: 'object', section: current, object, bytes, offset: start, exact });
        },
        largeBytes: (bytes, offset, first) => add({ kind: 'large-bytes', bytes, offset, first }),
        large: (outline, start, end) =>
          add({ kind: 'large', section: current, outline, offset: start, length: end - start }),
        rewind: (offset, back) => add({ kind: 'rewind', offset, back }),
        warning: add,
        section: (section, open, offset) => {
          current = open ? section : 'update';
          add({ kind: 'section', section, open, offset });
        },
        endLine: (line, code, offset) => add({ kind: 'end-line', text: line.slice(5).trim(), code, offset }),
      };
      return new StreamReader(sink, limits, surroundings);
    });
  }

  /** Whether the end line was read. */
  get ended(): boolean {
    return this.reader.ended;
  }

  /** The bytes after the end line. */
  get rest(): Uint8Array {
    return this.reader.rest;
  }
}
