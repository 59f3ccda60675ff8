/** CRAWL-10.2.1: the answer of a rule or sequence; NONE leaves the decision to other rules. */
export type Decision = 'ACCEPT' | 'REJECT' | 'NONE';

/** The data that rules test. An unknown field is absent, and rules about it do not apply. */
export interface DecideSubject {
  /** As `cleanUri` returns it. */
  readonly uri: string;
  /** The URI on which it was found. */
  readonly via?: string | undefined;
  /** CRAWL-2.2: its hops from the seed. */
  readonly hops: string;
  readonly seed?: boolean;
  /** CRAWL-9.1. */
  readonly classKey?: string;
  /** CRAWL-2.9: the seed from which it descends. */
  readonly sourceTag?: string;
  /** CRAWL-8.1. */
  readonly status?: number;
  /** The media type with its parameters. */
  readonly contentType?: string | undefined;
  /** Bytes. */
  readonly contentLength?: number | undefined;
  /** The server's address as text. */
  readonly address?: string;
  /** Location of the address from an external service, e.g. a country code. */
  readonly location?: string;
  /** The head of the response as text. */
  readonly response?: string;
  /** CRAWL-18: the content has the digest of its last fetch. */
  readonly identicalDigest?: boolean;
  /** CRAWL-5: its queue has spent its budget. */
  readonly queueOverBudget?: boolean;
}

/** A rule; pure and synchronous. */
export interface DecideRule {
  readonly name: string;
  /** The answer of the rule if it applies; otherwise it answers NONE. */
  readonly answers: 'ACCEPT' | 'REJECT';
  /** Whether the rule applies. */
  applies(subject: DecideSubject): boolean;
}

/** A decision and the rule that made it. */
export interface Explanation {
  readonly decision: Decision;
  /** Position in the sequence, from 1, and name of the deciding rule; absent for NONE. */
  readonly ruleNumber?: number;
  readonly rule?: string;
}

/** CRAWL-10.2.1: rules in order; the last answer other than NONE decides. */
export class DecideSequence {
  constructor(readonly rules: readonly DecideRule[]) {}

  decide(subject: DecideSubject): Decision {
    return this.explain(subject).decision;
  }

  /** CRAWL-10.2.1: a scope includes only accepted URIs. */
  accepts(subject: DecideSubject): boolean {
    return this.decide(subject) === 'ACCEPT';
  }

  /** CRAWL-10.2.1: a processor or a fetch runs unless it is rejected. */
  rejects(subject: DecideSubject): boolean {
    return this.decide(subject) === 'REJECT';
  }

  /** Returns the decision for a URI and the rule that made it (CRAWL-22). */
  explain(subject: DecideSubject): Explanation {
    let decision: Decision = 'NONE';
    let deciding = -1;
    this.rules.forEach((rule, i) => {
      // A rule with the current answer cannot change the decision.
      if (rule.answers === decision || !rule.applies(subject)) return;
      decision = rule.answers;
      deciding = i;
    });
    const rule = this.rules[deciding];
    return rule === undefined ? { decision } : { decision, ruleNumber: deciding + 1, rule: rule.name };
  }
}

/** Creates a rule. */
export function decideRule(
  name: string,
  answers: 'ACCEPT' | 'REJECT',
  applies: (subject: DecideSubject) => boolean,
): DecideRule {
  return { name, answers, applies };
}
