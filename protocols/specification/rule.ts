// What a rule of a specification is.

/**
 * What a rule rests on, the strongest first: a seed document, a manual or note of the original system, a deployed
 * client or program of its time, a conclusion from these, a choice of this project.
 */
export const BASES = ['seed', 'manual', 'client', 'inferred', 'choice'] as const;
export type Basis = (typeof BASES)[number];

/** EXT: an extension of this project that peers may lack. NOTE: a fact that binds no implementation. */
export const RULE_LEVELS = ['MUST', 'SHOULD', 'MAY', 'EXT', 'NOTE'] as const;
export type RuleLevel = (typeof RULE_LEVELS)[number];

/** Where a rule, or a part of it, comes from. */
export interface Evidence {
  readonly basis: Basis;
  /** The source with its place, or the reason of a conclusion or choice. */
  readonly source: string;
}

/** A numbered rule. */
export interface Rule {
  /** Its number, e.g. `SOIF-2.3`. */
  readonly id: string;
  readonly level: RuleLevel;
  /** At least one, the strongest first. */
  readonly evidence: readonly Evidence[];
  /** The heading of its section, e.g. `2. Layout`. */
  readonly section: string;
  /** Markdown, without the blank lines around it. */
  readonly text: string;
  /** The line of its heading, from 1. */
  readonly line: number;
}

/** A row of the table of sources. */
export interface Source {
  readonly name: string;
  readonly basis: string;
  readonly description: string;
}

/** A specification document. */
export interface Specification {
  readonly title: string;
  readonly sources: readonly Source[];
  /** In the order of the document. */
  readonly rules: readonly Rule[];
  /** The text of its `abnf` blocks, each with the line of its first line. */
  readonly grammar: readonly GrammarBlock[];
}

/** A fenced block of language `abnf`. */
export interface GrammarBlock {
  readonly text: string;
  /** The line of its first line in the document, from 1. */
  readonly line: number;
}

/** Something that breaks the format of the documents. */
export interface SpecificationProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** Returns what the rule rests on most. */
export function basisOf({ evidence }: Pick<Rule, 'evidence'>): Basis {
  return BASES.find((basis) => evidence.some((one) => one.basis === basis)) ?? 'choice';
}

/** Returns whether a part of the rule rests on a choice of this project. */
export function restsOnChoice({ evidence }: Pick<Rule, 'evidence'>): boolean {
  return evidence.some(({ basis }) => basis === 'choice');
}

/** Returns the first sentence of a rule as plain text, without Markdown. */
export function sentenceOf({ text }: Pick<Rule, 'text'>): string {
  const [paragraph = ''] = text.split(/\n\s*\n/);
  const plain = plainText(paragraph);
  // A full stop ends a sentence before a blank and a capital letter, digit, quote or code.
  const end = /[.!?](?=\s+[^a-z\s])/.exec(plain);
  return end === null ? plain : plain.slice(0, end.index + 1);
}

/** Removes the Markdown of a paragraph: emphasis, code marks, links. */
function plainText(markdown: string): string {
  // Every second part is code, which has no emphasis.
  return markdown
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : withoutEmphasis(part)))
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}

const LINK = /\[([^\]]*)\]\([^)]*\)|\[([A-Z]+-\d[\d.]*[a-z]?)\]/g;

/** Replaces links by their texts: `[SOIF](../soif/specification.md)`, and `[SOIF-2.3]` with its target elsewhere. */
export function withoutLinks(markdown: string): string {
  return markdown
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replace(LINK, '$1$2')))
    .join('`');
}

function withoutEmphasis(markdown: string): string {
  return markdown.replace(LINK, '$1$2').replace(/\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/g, '');
}
