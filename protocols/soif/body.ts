import { ProtocolError, StateError } from '../errors.js';
import type { SoifWarning } from './attempt.js';
import { LayoutReader } from './layout-reader.js';
import { NameTable } from './names.js';
import type { SoifAttribute } from './object.js';
import { type DecoderLimits, decoderLimits, type SoifDecoderOptions } from './options.js';
import { Window } from './window.js';

/**
 * Reads attribute lines without the lines around them, as a summarizer writes them (SOIF-3.7). The list ends
 * with the input, so {@link end} returns all of it; `maxObjectBytes` bounds the memory. A malformed list is an
 * error in both modes: there is no next object to continue with.
 */
export class SoifBodyDecoder {
  readonly #limits: DecoderLimits;
  readonly #window: Window;
  readonly #layout: LayoutReader;
  readonly #names = new NameTable();
  #ended = false;

  /** @throws RangeError for a limit out of its range */
  constructor(options: SoifDecoderOptions = {}) {
    this.#limits = decoderLimits(options);
    this.#window = new Window(this.#limits.maxObjectBytes);
    this.#layout = new LayoutReader(this.#limits, { sections: false, endLine: false });
    this.#layout.beginBody(0);
  }

  /** Defects that lenient mode has tolerated so far. */
  get warnings(): readonly SoifWarning[] {
    return this.#layout.warnings;
  }

  /** @throws ProtocolError when the list is malformed or too long; StateError after {@link end} */
  push(chunk: Uint8Array): void {
    if (this.#ended) throw new StateError('push after end');
    this.#window.append(chunk);
    this.#advance(false);
  }

  /** Returns the attributes, as views. @throws ProtocolError when the list is malformed or truncated */
  end(): SoifAttribute[] {
    if (this.#ended) throw new StateError('end after end');
    this.#ended = true;
    this.#advance(true);
    return [...this.#layout.take(this.#window, this.#names)];
  }

  #advance(final: boolean): void {
    if (this.#layout.advance(this.#window, this.#names, final) !== 'defect') return;
    this.#ended = true;
    const { rule, offset, message } = this.#layout.defect;
    throw new ProtocolError(message, { protocol: 'soif', rule, offset });
  }
}

/** Decodes a complete list. @throws ProtocolError when it is malformed (SOIF-3.7) */
export function decodeAttributes(bytes: Uint8Array, options: SoifDecoderOptions = {}): SoifAttribute[] {
  const decoder = new SoifBodyDecoder(options);
  decoder.push(bytes);
  return decoder.end();
}
