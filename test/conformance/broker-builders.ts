// Builds mutants of how a Broker understands messages.
import type { BrokerChange } from './broker-link.js';
import { type Mutant, readings } from './mutant.js';

export type BrokerMutant = Mutant<BrokerChange>;
type Replacement = string | ((match: string, ...groups: string[]) => string);

/** A message that no Broker understands. */
const MALFORMED = 'nonsense\r\n';
/** A message that finds nothing. */
export const FINDS_NOTHING = '#USER #END zzyzxplugh\r\n';
export const TERM = '(?:"[^"]*"|[^\\s()"]+)';

export function misreading(
  name: string,
  rule: string,
  pattern: RegExp,
  replacement: Replacement,
  fails: readonly string[],
  only?: readonly string[],
): BrokerMutant {
  const message = (text: string) =>
    typeof replacement === 'string' ? text.replace(pattern, replacement) : text.replace(pattern, replacement);
  const mutant: BrokerMutant = { name, rule, change: { message }, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

export const misreadings = readings(misreading);

/** A Broker that does not understand messages that match. */
export function refusing(
  name: string,
  rule: string,
  pattern: RegExp,
  fails: readonly string[],
  only?: readonly string[],
): BrokerMutant {
  return misreading(
    name,
    rule,
    new RegExp(`^[\\s\\S]*${pattern.source}[\\s\\S]*$`, pattern.flags),
    MALFORMED,
    fails,
    only,
  );
}

/** A Broker that accepts messages that match, as if they were a query. */
export function accepting(
  name: string,
  rule: string,
  pattern: RegExp,
  fails: readonly string[],
): BrokerMutant {
  return misreading(
    name,
    rule,
    new RegExp(`^[\\s\\S]*${pattern.source}[\\s\\S]*$`, pattern.flags),
    FINDS_NOTHING,
    fails,
  );
}
