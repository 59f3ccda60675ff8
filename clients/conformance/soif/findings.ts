// Counts the checks and violations of each rule.
/** The rules for a stream, each with its own verdict. */
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

/** One violation of a rule. */
export interface Violation {
  /** Bytes from the start of the (decompressed) stream. */
  readonly offset: number;
  /** URL of the object that contains it; empty outside of objects. */
  readonly url: string;
  readonly message: string;
}

/** The counts for one rule. */
export interface Finding {
  /** Number of checks. */
  checks: number;
  /** Number of violations. */
  violations: number;
  /** The first violations. */
  readonly examples: Violation[];
}

/** Violations of one rule that are kept to be shown. */
const MAX_EXAMPLES = 10;
/** Characters of a URL that are shown. */
const SHOWN_URL = 200;

/** Collects checks and violations by rule. Memory does not grow with the stream. */
export class Findings {
  objects = 0;
  attributes = 0;
  /** Bytes of the stream, decompressed. */
  bytes = 0;
  readonly #byRule = new Map<RuleId, Finding>();

  of(rule: RuleId): Finding {
    let finding = this.#byRule.get(rule);
    if (finding === undefined) {
      finding = { checks: 0, violations: 0, examples: [] };
      this.#byRule.set(rule, finding);
    }
    return finding;
  }

  /** Counts a check. */
  countCheck(rule: RuleId): void {
    this.of(rule).checks++;
  }

  /** Records a violation. */
  report(rule: RuleId, offset: number, url: string, message: string): void {
    const finding = this.of(rule);
    finding.violations++;
    if (finding.examples.length < MAX_EXAMPLES) {
      finding.examples.push({ offset, url: url.slice(0, SHOWN_URL), message });
    }
  }
}
