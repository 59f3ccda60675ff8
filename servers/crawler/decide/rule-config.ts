import { z } from 'zod';
import { UsageError } from '../../../protocols/errors.js';

/** A pattern in RE2 syntax that must match the whole text. */
const pattern = z.string().min(1).max(4096);
const answer = z.enum(['ACCEPT', 'REJECT']);
const count = z.int().min(0);

/** Sources of SURT prefixes: the seeds, and lines that are prefixes, URIs or hosts (CRAWL-15.2). */
const prefixes = {
  /** Default true: the prefixes that the seeds imply. */
  seeds: z.boolean().default(true),
  /** Additional lines. */
  lines: z.array(z.string()).default([]),
};
const logic = z.enum(['OR', 'AND']).default('OR');

/** CRAWL-10.2.4, 10.1: the rules of the catalog as an operator writes them. */
const ruleConfigSchema = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('all'), answer }),
  z.strictObject({ rule: z.literal('seed'), answer: answer.default('ACCEPT') }),
  z.strictObject({ rule: z.literal('surt-prefixed'), answer: answer.default('ACCEPT'), ...prefixes }),
  z.strictObject({ rule: z.literal('not-surt-prefixed'), answer: answer.default('REJECT'), ...prefixes }),
  z.strictObject({ rule: z.literal('on-hosts'), answer: answer.default('ACCEPT'), ...prefixes }),
  z.strictObject({ rule: z.literal('not-on-hosts'), answer: answer.default('REJECT'), ...prefixes }),
  z.strictObject({ rule: z.literal('on-domains'), answer: answer.default('ACCEPT'), ...prefixes }),
  z.strictObject({ rule: z.literal('not-on-domains'), answer: answer.default('REJECT'), ...prefixes }),
  z.strictObject({
    rule: z.literal('scope-plus-one'),
    answer: answer.default('ACCEPT'),
    on: z.enum(['hosts', 'domains']).default('domains'),
    ...prefixes,
  }),
  z.strictObject({ rule: z.literal('too-many-hops'), max: count.default(20) }),
  z.strictObject({ rule: z.literal('too-many-link-hops'), max: count.default(25) }),
  z.strictObject({
    rule: z.literal('transclusion'),
    maxTransHops: count.default(3),
    maxSpeculativeHops: count.default(1),
  }),
  z.strictObject({
    rule: z.literal('classic-focus'),
    answer: answer.default('ACCEPT'),
    on: z.enum(['domains', 'hosts', 'paths']),
  }),
  z.strictObject({ rule: z.literal('classic-transitive'), maxTransHops: count.default(5) }),
  z.strictObject({ rule: z.literal('pathological-path'), maxRepetitions: z.int().min(1).default(2) }),
  z.strictObject({ rule: z.literal('too-many-path-segments'), max: count.default(20) }),
  z.strictObject({ rule: z.literal('prerequisite'), answer: answer.default('ACCEPT') }),
  z.strictObject({
    rule: z.literal('scheme-not-in'),
    schemes: z.array(z.string()).default(['http', 'https', 'ftp', 'sftp', 'dns', 'whois']),
  }),
  z.strictObject({ rule: z.literal('matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('not-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({
    rule: z.literal('file-pattern'),
    answer: answer.default('ACCEPT'),
    preset: z.enum(['images', 'audio', 'video', 'documents', 'all']).default('all'),
  }),
  z.strictObject({ rule: z.literal('has-via'), answer }),
  z.strictObject({ rule: z.literal('via-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('hops-match'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('class-key-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('source-tag-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('status-in'), answer, statuses: z.array(z.int()) }),
  z.strictObject({ rule: z.literal('status-not-in'), answer, statuses: z.array(z.int()) }),
  z.strictObject({ rule: z.literal('status-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('content-type-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('response-matches'), answer, patterns: z.array(pattern), logic }),
  z.strictObject({ rule: z.literal('content-length-above'), answer: answer.default('REJECT'), bytes: count }),
  z.strictObject({
    rule: z.literal('content-length-at-most'),
    answer: answer.default('ACCEPT'),
    bytes: count,
  }),
  z.strictObject({ rule: z.literal('location-in'), answer, locations: z.array(z.string()) }),
  z.strictObject({ rule: z.literal('address-in'), answer, addresses: z.array(z.string()) }),
  z.strictObject({ rule: z.literal('redirect-from-root'), answer: answer.default('ACCEPT') }),
  z.strictObject({ rule: z.literal('identical-digest'), answer: answer.default('REJECT') }),
  z.strictObject({ rule: z.literal('queue-over-budget'), answer: answer.default('REJECT') }),
]);

/** A validated rule with its defaults. */
export type RuleConfig = z.output<typeof ruleConfigSchema>;
/** A rule as an operator writes it. */
export type RuleInput = z.input<typeof ruleConfigSchema>;

/** CRAWL-10.2: a sequence as an operator writes it. */
export const sequenceConfigSchema = z.array(ruleConfigSchema);

/** Validates rules. @throws UsageError that names the rule and the problem */
export function parseRules(input: unknown): RuleConfig[] {
  const result = sequenceConfigSchema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const [index, ...field] = issue?.path ?? [];
  const subject = typeof index === 'number' ? `rule ${index + 1}` : 'the rules';
  throw new UsageError(
    `${subject}: ${field.length > 0 ? `${field.join('.')}: ` : ''}${issue?.message ?? 'not valid'}`,
  );
}

/**
 * CRAWL-10.2.2: returns a default sequence. `1.x` and `3.x` are those of the originals; `default` has all rules
 * of 3.x with the transclusion limits of 1.x (CRAWL-21).
 *
 * @param reject lines of negative SURT prefixes, and patterns of URIs to reject
 */
export function defaultRules(
  generation: 'default' | '1.x' | '3.x' = 'default',
  reject: { readonly surts?: readonly string[]; readonly patterns?: readonly string[] } = {},
): RuleInput[] {
  const firstRules: RuleInput[] = [
    { rule: 'all', answer: 'REJECT' },
    { rule: 'surt-prefixed' },
    { rule: 'too-many-hops', max: 20 },
    { rule: 'transclusion', maxTransHops: generation === '3.x' ? 2 : 3, maxSpeculativeHops: 1 },
  ];
  const negative: RuleInput[] = [
    { rule: 'surt-prefixed', answer: 'REJECT', seeds: false, lines: [...(reject.surts ?? [])] },
    { rule: 'matches', answer: 'REJECT', patterns: [...(reject.patterns ?? [])] },
  ];
  const lastRules: RuleInput[] = [
    { rule: 'pathological-path', maxRepetitions: 2 },
    { rule: 'too-many-path-segments', max: 20 },
    { rule: 'prerequisite' },
  ];
  if (generation === '1.x') return [...firstRules, ...lastRules];
  return [...firstRules, ...negative, ...lastRules, { rule: 'scheme-not-in' }];
}
