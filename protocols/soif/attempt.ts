import type { ProtocolErrorDetails } from '../errors.js';
import type { DecoderLimits } from './options.js';

/** Something that was read although it is not right, or that was left out. */
export interface SoifWarning {
  readonly kind: 'warning';
  /** The rule that the input breaks, e.g. `SOIF-4.4`. */
  readonly rule: string;
  /** Bytes from the start of the stream. */
  readonly offset: number;
  readonly message: string;
}

/** Why an object was given up. */
export interface Defect extends Pick<ProtocolErrorDetails, 'rule' | 'offset'> {
  readonly message: string;
}

/** What one call of {@link LayoutReader.advance} came to. */
export type Progress = 'more' | 'object' | 'defect' | 'section';

/** What may stand around objects, besides the objects. */
export interface Surroundings {
  /** `@DELETE {`, `@REFRESH {`, `@UPDATE {` may open sections (SOIF-8.9). */
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

/** Warnings of one object; what more there is adds nothing to what the reader knows. */
const MAX_WARNINGS = 100;

/**
 * An attempt at one object: where it stands and what was found so far. All positions are offsets in the
 * stream, so that the window may move.
 */
export abstract class Attempt {
  /** Offset of the object's `@` (of the first byte, for a body). */
  start = 0;
  /** Next byte to look at; behind the object when it is complete. */
  at = 0;
  /** Whether the object had the exact layout of SOIF-2.2 so far. */
  exact = true;
  /** What was tolerated in this object so far. */
  warnings: SoifWarning[] = [];
  /** Set when {@link advance} says `defect`. */
  defect: Defect = { rule: '', offset: 0, message: '' };
  /** The word that opens a section, when {@link advance} says `section`. */
  word = '';

  protected state: State = 'type';
  /** Where the part at hand began. */
  protected mark = 0;

  constructor(
    protected readonly limits: DecoderLimits,
    protected readonly surroundings: Surroundings,
  ) {}

  protected tooLong(at: number): boolean {
    return at - this.start >= this.limits.maxObjectBytes;
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
