// Reads stored objects in groups of limited size.
import type { ByteSource } from '../../../protocols/soif/index.js';
import type { BrokerStore, RegistryEntry } from '../../../storage/index.js';

/** An object and its entry in the Registry. */
export interface StoredObject {
  readonly entry: RegistryEntry;
  /** The SOIF object as it was received. */
  readonly bytes: Uint8Array;
}

/** Limits of a group, which bound the memory for large objects. */
export interface GroupLimits {
  /** Default 4 MiB; a larger object forms its own group. */
  readonly maxBytes?: number;
  /** Returns the needed part of an object that is stored in parts. Default: all of it. */
  readonly readLarge?: ((object: ByteSource) => Promise<Uint8Array>) | undefined;
}

/** Splits entries into groups whose objects have `maxBytes` bytes at most, in order. */
export function groupByBytes(entries: readonly RegistryEntry[], maxBytes: number): RegistryEntry[][] {
  const groups: RegistryEntry[][] = [];
  let group: RegistryEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (group.length > 0 && bytes + entry.length > maxBytes) {
      groups.push(group);
      group = [];
      bytes = 0;
    }
    group.push(entry);
    bytes += entry.length;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** Reads the stored objects of these identifiers in groups; identifiers without an object are left out. */
export async function* storedObjects(
  store: BrokerStore,
  oids: readonly number[],
  limits: GroupLimits = {},
): AsyncGenerator<readonly StoredObject[], void, void> {
  const entries = (await store.entries.getMany(oids)).filter((entry) => entry !== undefined);
  for (const group of groupByBytes(entries, limits.maxBytes ?? 4 * 1024 * 1024)) {
    const objects = await store.objects(
      group.map((entry) => entry.oid),
      limits.readLarge,
    );
    const found: StoredObject[] = [];
    group.forEach((entry, i) => {
      const bytes = objects[i];
      if (bytes !== undefined) found.push({ entry, bytes });
    });
    yield found;
  }
}
