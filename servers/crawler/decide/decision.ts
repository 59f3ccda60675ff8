/** CRAWL-10.2.1: what a rule answers; NONE leaves the answer to the others. */
export type Decision = 'ACCEPT' | 'REJECT' | 'NONE';

/** What rules look at: plain data; what is not known yet is absent, and no rule about it answers then. */
export interface DecideSubject {
  /** As `cleanUri` returns it. */
  readonly uri: string;
  /** The URI on which it was found. */
  readonly via?: string;
  /** CRAWL-2.2: its hops from the seed. */
  readonly hops: string;
  readonly seed?: boolean;
  /** CRAWL-9.1. */
  readonly classKey?: string;
  /** CRAWL-2.9: the seed from which it descends. */
  readonly sourceTag?: string;
  /** CRAWL-8.1. */
  readonly status?: number;
  /** The media type, parameters and all. */
  readonly contentType?: string;
  /** Bytes. */
  readonly contentLength?: number;
  /** The server's address as text. */
  readonly address?: string;
  /** Where an external service places the address, e.g. a country code. */
  readonly location?: string;
  /** The head of the response as text. */
  readonly response?: string;
  /** CRAWL-18: the content has the digest that the history knows. */
  readonly identicalDigest?: boolean;
  /** CRAWL-5: its queue has used up its budget. */
  readonly queueOverBudget?: boolean;
}

/** One rule. Pure and synchronous. */
export interface DecideRule {
  readonly name: string;
  /** The one answer, beside NONE, that the rule can give. */
  readonly answers: 'ACCEPT' | 'REJECT';
  /** Whether it gives that answer. */
  applies(subject: DecideSubject): boolean;
}

/** A decision and the rule that made it. */
export interface Explanation {
  readonly decision: Decision;
  /** The place in the sequence, from 1, and the name of the rule whose answer holds; absent for NONE. */
  readonly ruleNumber?: number;
  readonly rule?: string;
}

/** CRAWL-10.2.1: the rules in order; the last answer that is not NONE holds. */
export class DecideSequence {
  constructor(readonly rules: readonly DecideRule[]) {}

  decide(subject: DecideSubject): Decision {
    return this.explain(subject).decision;
  }

  /** CRAWL-10.2.1: a scope takes only what is accepted. */
  accepts(subject: DecideSubject): boolean {
    return this.decide(subject) === 'ACCEPT';
  }

  /** CRAWL-10.2.1: a processor or a fetch runs unless it is rejected. */
  rejects(subject: DecideSubject): boolean {
    return this.decide(subject) === 'REJECT';
  }

  /** Why a URI is in or out (CRAWL-22, 9). */
  explain(subject: DecideSubject): Explanation {
    let decision: Decision = 'NONE';
    let deciding = -1;
    this.rules.forEach((rule, i) => {
      // A rule that can only say what holds already need not be asked.
      if (rule.answers === decision || !rule.applies(subject)) return;
      decision = rule.answers;
      deciding = i;
    });
    const rule = this.rules[deciding];
    return rule === undefined ? { decision } : { decision, ruleNumber: deciding + 1, rule: rule.name };
  }
}

/** A rule from its parts. */
export function decideRule(
  name: string,
  answers: 'ACCEPT' | 'REJECT',
  applies: (subject: DecideSubject) => boolean,
): DecideRule {
  return { name, answers, applies };
}
