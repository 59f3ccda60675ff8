// Restrictions of a result, chosen from its facets.
import { quoted } from './compose-query.js';

/** The properties by which a result can be narrowed. */
export const NARROW_KINDS = ['type', 'host', 'gatherer'] as const;
export type NarrowKind = (typeof NARROW_KINDS)[number];

/** One restriction of a result, chosen from its facets. */
export interface Narrowing {
  readonly kind: NarrowKind;
  /** Type, host in lower case (`file:` for a URL without one) or name of the Gatherer. */
  readonly value: string;
}

/** Limits: restrictions of one query, and characters of a value. */
const MAX_NARROWINGS = 8;
const MAX_VALUE = 500;

/** Reads `narrow=kind:value` fields. Invalid ones count as absent. */
export function readNarrowings(fields: readonly string[]): readonly Narrowing[] {
  const found: Narrowing[] = [];
  for (const field of fields) {
    const [, name, text = ''] = /^([a-z]+):(.+)$/s.exec(field) ?? [];
    const kind = NARROW_KINDS.find((known) => known === name);
    const value = text.replace(/\s+/g, ' ').trim();
    if (kind === undefined || value === '' || value.length > MAX_VALUE) continue;
    if (!found.some((other) => other.kind === kind && other.value === value)) found.push({ kind, value });
  }
  return found.slice(0, MAX_NARROWINGS);
}

/** Formats a restriction as a field that {@link readNarrowings} parses. */
export function writeNarrowing({ kind, value }: Narrowing): string {
  return `${kind}:${value}`;
}

/**
 * Adds restrictions to the text of a query, in the language that every Broker understands.
 *
 * @param query a whole query as `formatQuery` writes it
 */
export function narrowQuery(query: string, narrowings: readonly Narrowing[]): string {
  const terms = narrowings.map(narrowingTerm);
  if (terms.length === 0) return query;
  return query === '#allb' ? terms.join(' and ') : `(${query}) and ${terms.join(' and ')}`;
}

function narrowingTerm({ kind, value }: Narrowing): string {
  switch (kind) {
    case 'type':
      return `type exact ${quoted(value.replaceAll('\\', '\\\\'))}`;
    case 'gatherer':
      return `gatherer-name exact ${quoted(value.replaceAll('\\', '\\\\'))}`;
    case 'host': {
      const literal = value.replace(/[^\p{L}\p{N}_-]/gu, (c) => (/\s/.test(c) ? '.' : `\\${c}`));
      return value.endsWith(':')
        ? `url regexp ${quoted(`^${literal}`)}`
        : `url regexp ${quoted(`^[a-z][a-z0-9+.-]*://([^/?#@]*@)?${literal}([:/?#]|$)`)}`;
    }
  }
}
