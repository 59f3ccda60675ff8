// What a message to a Broker asks, as types: the tree of a query.

/** The comparison of a structured term (BRK-2.14, BRK-2.17); `contains` is the user-level `tag : value`. */
export type SelectOperator = 'contains' | 'exact' | 'regexp' | 'less-than' | 'greater-than';

/**
 * A Boolean query. Text is decoded (UTF-8, else windows-1252); backslash pairs stay as typed (BRK-2.7).
 * `offset` is the byte offset of the term in the message line (or in the text given to `parseQuery`).
 */
export type Expression =
  | { readonly kind: 'term'; readonly text: string; readonly quoted: boolean; readonly offset: number }
  | {
      readonly kind: 'select';
      readonly attribute: string;
      readonly operator: SelectOperator;
      readonly value: string;
      readonly offset: number;
    }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'and' | 'or' | 'except'; readonly left: Expression; readonly right: Expression };

/** `#allb` (every object of the Broker, BRK-2.11) or an expression. */
export type Query = { readonly kind: 'all' } | Expression;

/** BRK-8.14: the shortest lifetime of a query, in seconds. */
export const MIN_LIFETIME = 10;

/**
 * The seconds that a query may run: between 10 and the server's `Glimpse-MaxLife`, which is also the default
 * (BRK-8.14).
 */
export function clampLifetime(requested: number | undefined, maxLifetime: number): number {
  return Math.min(Math.max(requested ?? maxLifetime, MIN_LIFETIME), maxLifetime);
}
