// Removes generations that are published no longer, and what killed publishers left.
import type { BlobRequestOptions } from '../blobs/contract.js';
import {
  filesPrefix,
  type ListedManifest,
  listManifests,
  type PublicationPlace,
  readManifest,
} from './manifest.js';

export interface CollectOldOptions extends BlobRequestOptions {
  /** Generations that remain, the newest included. Default 3. */
  readonly keepGenerations?: number;
  /** Seconds for which a replaced generation remains, for readers that are fetching it. Default 3600. */
  readonly holdSeconds?: number;
  /** Seconds for which files that no manifest names remain, which a publisher may be sending. Default 86 400. */
  readonly holdUnnamedSeconds?: number;
}

const KEEP = 3;
const HOLD_SECONDS = 3600;
const HOLD_UNNAMED_SECONDS = 86_400;

/** What was removed. */
export interface CollectedOld {
  readonly generations: number;
  readonly files: number;
}

/**
 * Removes old generations: manifests first, so that no manifest names a file that is gone. May run beside publishers
 * and readers. A publisher whose former generation is removed finds a later one, and plans again.
 */
export async function collectOld(
  place: PublicationPlace,
  options: CollectOldOptions = {},
): Promise<CollectedOld> {
  const { store } = place;
  const { signal } = options;
  const manifests = await listManifests(place, 0, { signal });
  const old = oldManifests(manifests, options);
  const freed = new Set<string>();
  for (const { number } of old) {
    // A damaged one frees nothing: its files go as those that no manifest names.
    const manifest = await readManifest(place, number, { signal }).catch(() => undefined);
    for (const { key } of manifest?.files ?? []) freed.add(key);
  }
  for (const { key } of old) await store.delete(key, { signal });

  const named = new Set<string>();
  const gone = new Set(old.map(({ number }) => number));
  // Listed again: what was published meanwhile names files, too.
  for (const { number } of await listManifests(place, 0, { signal })) {
    if (gone.has(number)) continue;
    const manifest = await readManifest(place, number, { signal });
    for (const { key } of manifest?.files ?? []) named.add(key);
  }
  const unnamed = await unnamedFiles(place, named, freed, options);
  for (const key of unnamed) await store.delete(key, { signal });
  return { generations: old.length, files: unnamed.length };
}

/** The keys of files that no manifest names, of removed generations or old enough. */
async function unnamedFiles(
  { store, area }: PublicationPlace,
  named: ReadonlySet<string>,
  freed: ReadonlySet<string>,
  { signal, holdUnnamedSeconds = HOLD_UNNAMED_SECONDS }: CollectOldOptions,
): Promise<string[]> {
  const prefix = filesPrefix(area);
  /** By publication: its unnamed files, and the age of the youngest file. */
  const publications = new Map<string, { readonly keys: string[]; youngest: number }>();
  for await (const page of store.list(prefix, { signal })) {
    for (const { key, ageSeconds } of page) {
      const id = key.slice(prefix.length).replace(/\/.*/, '');
      const publication = publications.get(id) ?? { keys: [], youngest: Number.POSITIVE_INFINITY };
      publications.set(id, publication);
      publication.youngest = Math.min(publication.youngest, ageSeconds);
      if (!named.has(key)) publication.keys.push(key);
    }
  }
  return [...publications.values()].flatMap(({ keys, youngest }) =>
    keys.filter((key) => freed.has(key) || youngest > holdUnnamedSeconds),
  );
}

/** @param manifests ascending */
function oldManifests(
  manifests: readonly ListedManifest[],
  { keepGenerations = KEEP, holdSeconds = HOLD_SECONDS }: CollectOldOptions,
): ListedManifest[] {
  const surplus = manifests.slice(0, Math.max(0, manifests.length - Math.max(1, keepGenerations)));
  // A generation was replaced when the next one was written.
  return surplus.filter((_, i) => (manifests[i + 1]?.ageSeconds ?? 0) >= holdSeconds);
}
