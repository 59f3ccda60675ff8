import type { Findings } from './findings.js';

/** SOIF-8.8: the sections of a stream, in this order, each once. */
const ORDER = ['DELETE', 'REFRESH', 'UPDATE'];

/** What a stream is: an update stream of gatherd with its wrappers, or objects one after the other (SOIF-1.3). */
export type StreamKind = 'gatherd-stream' | 'objects';

/** Follows the sections of a stream (SOIF-8.8). */
export class WrapperChecker {
  readonly #findings: Findings;
  #kind: StreamKind | undefined;
  #opened = 0;
  #open = '';
  #complained = false;
  #damaged = false;

  /** @param kind undefined: the first line decides */
  constructor(findings: Findings, kind: StreamKind | undefined) {
    this.#findings = findings;
    this.#kind = kind;
  }

  get kind(): StreamKind {
    return this.#kind ?? 'objects';
  }

  get inSection(): boolean {
    return this.#open !== '';
  }

  /** Whether an object of the open section must be complete (SOIF-8.4): a deleted one has only its URL. */
  get wantsBookkeeping(): boolean {
    return this.#open !== 'DELETE';
  }

  /**
   * A wrapper opens.
   * @param exact whether it is written as SOIF-8.8 has it: capital letters, a line of its own
   */
  opens(word: string, exact: boolean, offset: number): void {
    this.#kind ??= 'gatherd-stream';
    const name = word.toUpperCase();
    if (this.#kind === 'objects')
      this.#findings.offend('layout', offset, '', `a wrapper @${word} { among objects`);
    if (!exact || word !== name) this.#offend(offset, `@${word} { is not alone on its line in upper case`);
    if (this.#open !== '') this.#offend(offset, `@${name} opens within @${this.#open}`);
    if (ORDER[this.#opened] !== name) {
      this.#offend(
        offset,
        `section ${this.#opened + 1} is @${name}, not @${ORDER[this.#opened] ?? 'another'}`,
      );
    }
    this.#opened++;
    this.#open = name;
  }

  closes(): void {
    this.#open = '';
  }

  /** A `}` outside of sections and objects. */
  strayBrace(offset: number): void {
    if (this.kind === 'objects')
      this.#findings.offend('layout', offset, '', 'a closing brace outside of objects');
    else this.#offend(offset, 'a closing brace outside of sections');
  }

  /** An object begins. */
  object(offset: number): void {
    this.#kind ??= 'objects';
    if (this.#kind === 'objects') return;
    this.#findings.look('wrappers');
    if (this.#open !== '' || this.#complained || this.#damaged) return;
    this.#complained = true;
    this.#offend(offset, 'objects outside of sections');
  }

  /** Text was skipped that may have been a wrapper; a missing wrapper may be in it. */
  damaged(): void {
    this.#damaged = true;
  }

  end(offset: number): void {
    if (this.kind === 'objects') return;
    this.#findings.look('wrappers');
    if (this.#damaged) return;
    if (this.#open !== '') this.#offend(offset, `@${this.#open} is not closed`);
    if (this.#opened < ORDER.length) this.#offend(offset, `the section @${ORDER[this.#opened]} is missing`);
  }

  #offend(offset: number, message: string): void {
    if (this.#kind === 'gatherd-stream') this.#findings.offend('wrappers', offset, '', message);
  }
}
