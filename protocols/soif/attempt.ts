// The types and the state that the readers of one object share.
import type { ProtocolErrorDetails } from '../errors.js';
import type { DecoderLimits } from './options.js';

/** A defect that was tolerated, or input that was dropped. */
export interface SoifWarning {
  readonly kind: 'warning';
  /** The rule that the input breaks, e.g. `SOIF-4.4`. */
  readonly rule: string;
  /** Bytes from the start of the stream. */
  readonly offset: number;
  readonly message: string;
}

/** The reason an object could not be read. */
export interface Defect extends Pick<ProtocolErrorDetails, 'rule' | 'offset'> {
  readonly message: string;
}

/** Result of one call of {@link LayoutReader.advance}. */
export type Progress = 'more' | 'object' | 'defect' | 'section';

/** Elements of a stream besides objects that a decoder recognizes. */
export interface Surroundings {
  /** `@DELETE {`, `@REFRESH {`, `@UPDATE {` open sections (SOIF-8.9). */
  readonly sections: boolean;
  /** A line `NNN - ` may end the stream (GATHERD-3.7). */
  readonly endLine: boolean;
}

export type State =
  | 'type'
  | 'open-brace'
  | 'section-look'
  | 'url-start'
  | 'url'
  | 'url-rest'
  | 'url-line'
  | 'attribute'
  | 'name'
  | 'size'
  | 'colon'
  | 'tab'
  | 'value'
  | 'after-value'
  | 'closed'
  | 'closed-cr';

/** Warnings kept for one object. More would not help a reader. */
const MAX_WARNINGS = 100;

/**
 * State of the attempt to read one object. All positions are offsets in the stream, so the window may move.
 */
export abstract class Attempt {
  /** Offset of the object's `@` (of the first byte, for a body). */
  start = 0;
  /** Next byte to read; after the object when it is complete. */
  position = 0;
  /** Whether the object had the exact layout of SOIF-2.2 so far. */
  exact = true;
  /** Defects tolerated in this object so far. */
  warnings: SoifWarning[] = [];
  /** Set when {@link advance} returns `defect`. */
  defect: Defect = { rule: '', offset: 0, message: '' };
  /** The keyword that opens a section, set when {@link advance} returns `section`. */
  sectionWord = '';

  protected state: State = 'type';
  /** Start of the current element. */
  protected mark = 0;

  constructor(
    protected readonly limits: DecoderLimits,
    protected readonly surroundings: Surroundings,
  ) {}

  protected isTooLong(offset: number): boolean {
    return offset - this.start >= this.limits.maxObjectBytes;
  }

  protected failTooLong(): 'defect' {
    return this.fail('SOIF-4.4', this.start, `an object of more than ${this.limits.maxObjectBytes} bytes`);
  }

  protected fail(rule: string, offset: number, message: string): 'defect' {
    this.defect = { rule, offset, message };
    return 'defect';
  }

  protected warn(rule: string, offset: number, message: string): void {
    this.exact = false;
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push({ kind: 'warning', rule, offset, message });
  }
}
