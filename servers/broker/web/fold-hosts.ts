// Folds the results of one host together.
import { hostOfUrl } from '../admin/name-counter.js';
import type { ShownHit } from './results.js';

/** Objects of one host that are listed. */
const LISTED = 2;

/** A folded list. */
export interface FoldedHits {
  readonly hits: readonly ShownHit[];
  /** The last listed object of a host with more, and how many are not listed. */
  readonly folded: ReadonlyMap<ShownHit, { readonly host: string; readonly objects: number }>;
}

/** Lists the first two objects of each host. A result from one host is not folded. */
export function foldHosts(hits: readonly ShownHit[]): FoldedHits {
  const hosts = new Map<string, { last: ShownHit; objects: number }>();
  const listed: ShownHit[] = [];
  for (const hit of hits) {
    const host = hostOfUrl(hit.url);
    const known = hosts.get(host) ?? { last: hit, objects: 0 };
    hosts.set(host, known);
    known.objects += 1;
    if (known.objects > LISTED) continue;
    known.last = hit;
    listed.push(hit);
  }
  if (hosts.size < 2) return { hits, folded: new Map() };
  const more = [...hosts].filter(([, { objects }]) => objects > LISTED);
  const folded = new Map(
    more.map(([host, { last, objects }]) => [last, { host, objects: objects - LISTED }]),
  );
  return { hits: listed, folded };
}
