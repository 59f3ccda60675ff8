// Checks the wrappers of a gatherd stream (SOIF-8.8).
import type { Findings } from './findings.js';

/** SOIF-8.8: the sections of a stream, in this order, each once. */
const ORDER = ['DELETE', 'REFRESH', 'UPDATE'];

/**
 * The kind of a stream: an update stream of gatherd with its wrappers, or objects one after the other
 * (SOIF-1.3).
 */
export type StreamKind = 'gatherd-stream' | 'objects';

/** Checks the sections of a stream (SOIF-8.8). */
export class WrapperChecker {
  readonly #findings: Findings;
  #kind: StreamKind | undefined;
  #opened = 0;
  #open = '';
  #reportedOutside = false;
  #isDamaged = false;

  /** @param kind undefined: the first line decides */
  constructor(findings: Findings, kind: StreamKind | undefined) {
    this.#findings = findings;
    this.#kind = kind;
  }

  get kind(): StreamKind {
    return this.#kind ?? 'objects';
  }

  get isInSection(): boolean {
    return this.#open !== '';
  }

  /** Whether a section has ended and no other has begun. */
  get isAfterSection(): boolean {
    return this.#open === '' && this.#opened > 0;
  }

  /** Whether an object of the open section must be complete (SOIF-8.4): a deleted one has only its URL. */
  get needsBookkeeping(): boolean {
    return this.#open !== 'DELETE';
  }

  /**
   * Opens a wrapper.
   * @param exact whether it is written as in SOIF-8.8: in capital letters, on its own line
   */
  open(word: string, exact: boolean, offset: number): void {
    this.#kind ??= 'gatherd-stream';
    const name = word.toUpperCase();
    if (this.#kind === 'objects')
      this.#findings.report('layout', offset, '', `a wrapper @${word} { among objects`);
    if (!exact || word !== name) this.#report(offset, `@${word} { is not alone on its line in upper case`);
    if (this.#open !== '') this.#report(offset, `@${name} opens within @${this.#open}`);
    if (ORDER[this.#opened] !== name) {
      this.#report(
        offset,
        `section ${this.#opened + 1} is @${name}, not @${ORDER[this.#opened] ?? 'another'}`,
      );
    }
    this.#opened++;
    this.#open = name;
  }

  close(): void {
    this.#open = '';
  }

  /** Reports a `}` outside of sections and objects. */
  strayBrace(offset: number): void {
    if (this.kind === 'objects')
      this.#findings.report('layout', offset, '', 'a closing brace outside of objects');
    else this.#report(offset, 'a closing brace outside of sections');
  }

  /** Records the begin of an object. */
  object(offset: number): void {
    this.#kind ??= 'objects';
    if (this.#kind === 'objects') return;
    this.#findings.countCheck('wrappers');
    if (this.#open !== '' || this.#reportedOutside || this.#isDamaged) return;
    this.#reportedOutside = true;
    this.#report(offset, 'objects outside of sections');
  }

  /** Records that text was skipped, which may have contained a missing wrapper. */
  markDamaged(): void {
    this.#isDamaged = true;
  }

  end(offset: number): void {
    if (this.kind === 'objects') return;
    this.#findings.countCheck('wrappers');
    if (this.#isDamaged) return;
    if (this.#open !== '') this.#report(offset, `@${this.#open} is not closed`);
    if (this.#opened < ORDER.length) this.#report(offset, `the section @${ORDER[this.#opened]} is missing`);
  }

  #report(offset: number, message: string): void {
    if (this.#kind === 'gatherd-stream') this.#findings.report('wrappers', offset, '', message);
  }
}
