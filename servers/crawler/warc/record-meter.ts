// Measures whether a compressed member has one record: readers find a record by the offset of its member.
import type { ArchiveFormat } from './record-compression.js';

/** A longer head does not begin a record. */
const MAX_HEAD_BYTES = 1024 * 1024;

/** What a format says about the first bytes of a record. */
interface RecordBegin {
  /** The head, to the byte before the block; undefined if it is not complete. */
  readonly head: RegExp;
  /** Finds the length of the block in the head. */
  readonly length: RegExp;
}

const BEGINS: Readonly<Record<ArchiveFormat, RecordBegin>> = {
  warc: {
    head: /^\s*WARC\/[\s\S]*?\r?\n\r?\n/,
    length: /\nContent-Length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r?\n/i,
  },
  arc: { head: /^\s*[a-z][a-z0-9+.-]*:[^\n]*\n/i, length: / (\d{1,15})\r?\n$/ },
};

/** What a member has instead of one record. */
export type MemberProblem = 'several records' | 'a part of a record' | 'no record';

/** Receives the content of a member in pieces. Memory is bounded. */
export class RecordMeter {
  readonly #begin: RecordBegin;
  #head = '';
  /** Bytes of the block that are still to come; undefined until the head is complete. */
  #left: number | undefined;
  #problem: MemberProblem | undefined;
  /** Bytes after the block: line ends. */
  #endBytes = 0;

  constructor(format: ArchiveFormat) {
    this.#begin = BEGINS[format];
  }

  push(piece: Uint8Array): void {
    if (this.#problem !== undefined || piece.length === 0) return;
    if (this.#left !== undefined) {
      this.#count(piece);
      return;
    }
    const before = this.#head.length;
    this.#head += Buffer.from(piece.subarray(0, MAX_HEAD_BYTES - before)).toString('latin1');
    const head = this.#begin.head.exec(this.#head)?.[0];
    if (head !== undefined) {
      const length = this.#begin.length.exec(head)?.[1];
      if (length === undefined) this.#problem = 'no record';
      this.#left = Number(length);
      this.#head = '';
      this.#count(piece.subarray(head.length - before));
    } else if (this.#head.length === MAX_HEAD_BYTES) this.#problem = 'no record';
  }

  /** What the whole member has instead of one record; undefined for one, and for a member without content. */
  get problem(): MemberProblem | undefined {
    if (this.#problem !== undefined || (this.#left === undefined && this.#head === '')) return this.#problem;
    if (this.#left === undefined) return /^\s*WARC\//.test(this.#head) ? 'a part of a record' : 'no record';
    return this.#left > 0 ? 'a part of a record' : undefined;
  }

  /** Whether the member has a record and the line ends that WARC 1.1 requires after it. */
  get isExact(): boolean {
    return this.#left === 0 && this.#endBytes === 4 && this.#problem === undefined;
  }

  #count(piece: Uint8Array): void {
    const block = Math.min(this.#left ?? 0, piece.length);
    this.#left = (this.#left ?? 0) - block;
    this.#endBytes += piece.length - block;
    // Writers differ in the number of line ends after a record.
    for (let i = block; i < piece.length; i++)
      if (piece[i] !== 0x0a && piece[i] !== 0x0d) {
        this.#problem = 'several records';
        return;
      }
  }
}
