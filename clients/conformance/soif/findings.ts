/** The rules that a stream is judged by, one verdict each. */
export type RuleId =
  | 'layout'
  | 'sizes'
  | 'line-ends'
  | 'names'
  | 'url'
  | 'url-encoding'
  | 'empty-values'
  | 'duplicates'
  | 'times'
  | 'md5'
  | 'required-attributes'
  | 'utf-8'
  | 'wrappers'
  | 'final-newlines'
  | 'tolerant-reader';

/** One place where a rule is broken. */
interface Offense {
  /** Bytes from the start of the (decompressed) stream. */
  readonly offset: number;
  /** URL of the object it is in; empty outside of objects. */
  readonly url: string;
  readonly message: string;
}

/** What was found about one rule. */
export interface Finding {
  /** Number of checks. */
  looked: number;
  /** How often the rule was broken. */
  broken: number;
  /** The first of these. */
  readonly offenses: Offense[];
}

/** Offenses of one rule that are kept to be shown. */
const SHOWN_OFFENSES = 10;
/** Characters of a URL that are shown. */
const SHOWN_URL = 200;

/** Collects the findings of the checks, rule by rule. Memory does not grow with the stream. */
export class Findings {
  objects = 0;
  attributes = 0;
  /** Bytes of the stream, decompressed. */
  bytes = 0;
  readonly #byRule = new Map<RuleId, Finding>();

  of(rule: RuleId): Finding {
    let finding = this.#byRule.get(rule);
    if (finding === undefined) {
      finding = { looked: 0, broken: 0, offenses: [] };
      this.#byRule.set(rule, finding);
    }
    return finding;
  }

  /** Counts a check. */
  look(rule: RuleId): void {
    this.of(rule).looked++;
  }

  /** The rule is broken. */
  offend(rule: RuleId, offset: number, url: string, message: string): void {
    const finding = this.of(rule);
    finding.broken++;
    if (finding.offenses.length < SHOWN_OFFENSES) {
      finding.offenses.push({ offset, url: url.slice(0, SHOWN_URL), message });
    }
  }
}
