// Builds mutants of a References Server.
import { type Mutant, readings } from './mutant.js';
import type { SstpChange } from './sstp-link.js';

export type SstpMutant = Mutant<SstpChange>;

export const KINDS = {
  '081': 'REFERENCES',
  '082': 'REFERERS',
  '083': 'SITEREFERENCES',
  '084': 'SITEREFERERS',
} as const;
/** A request that is refused, and one that is answered. */
const BAD = 'SSTP/1.0 081 X\r\n\r\n';
export const GOOD = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 10\r\n\r\n';

export function replyMutant(
  name: string,
  rule: string,
  edit: (reply: string, request: string) => string,
  fails: readonly string[],
  only?: readonly string[],
): SstpMutant {
  const mutant: SstpMutant = { name, rule, change: { reply: edit }, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

/** A server that takes requests that match for another. */
const answering =
  (other: string) =>
  (name: string, rule: string, pattern: RegExp, fails: readonly string[]): SstpMutant => ({
    name,
    rule,
    change: { request: (request) => (pattern.test(request) ? other : request) },
    fails,
  });

/** A server that refuses requests that match. */
export const refusing = answering(BAD);
/** A server that answers requests that match, which it must refuse. */
export const accepting = answering(GOOD);
/** A server that reads requests otherwise. */
export const misreading = (
  name: string,
  rule: string,
  pattern: RegExp,
  replacement: string,
  fails: readonly string[],
): SstpMutant => ({
  name,
  rule,
  change: { request: (request) => request.replace(pattern, replacement) },
  fails,
});
export const misreadings = readings(misreading);

/** A server that reads every request so. */
export function lenient(
  name: string,
  rule: string,
  request: (text: string) => string,
  ...fails: readonly string[]
): SstpMutant {
  return { name, rule, change: { request }, fails: fails.map((id) => `refuse/${id}`) };
}
/** Reads what matches otherwise. */
export const reading = (pattern: RegExp, replacement: string) => (text: string) =>
  text.replace(pattern, replacement);
