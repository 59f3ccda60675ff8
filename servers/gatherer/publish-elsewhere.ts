// Publishes for servers on other machines what is published on this one.
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { openBlobs } from '../../storage/blobs/place.js';
import { currentGeneration } from '../../storage/generations/directory.js';
import { type PublishedFiles, publishFiles } from '../../storage/publishing/publish-files.js';
import { publishPlaceOf } from './configuration/publish-place.js';
import type { Gatherer } from './gatherer.js';

/** What was published at another place. */
export interface PublishedElsewhere {
  /** Without a login. */
  readonly place: string;
  readonly generations?: PublishedFiles;
  /** Undefined if links are switched off, or none are published yet. */
  readonly references?: PublishedFiles;
}

export interface PublishElsewhereOptions {
  readonly signal?: AbortSignal;
  /** Called if old generations cannot be removed there. */
  readonly onLeftover?: (error: unknown) => void;
}

/** What is published, by the directory of its generations. */
const AREAS = ['generations', 'references'] as const;

/**
 * Publishes the newest generation and the newest references of a Gatherer to the place of its `Publish` (G-188).
 * Returns undefined without one. Nothing else may publish in the directory meanwhile.
 *
 * @throws StorageError if the place fails: what is published here stays
 */
export async function publishElsewhere(
  { config, options: { directory } }: Gatherer,
  options: PublishElsewhereOptions = {},
): Promise<PublishedElsewhere | undefined> {
  const place = publishPlaceOf(config);
  if (place === undefined) return undefined;
  try {
    await using store = await openBlobs(place);
    const published: { -readonly [K in keyof PublishedElsewhere]: PublishedElsewhere[K] } = {
      place: store.address,
    };
    for (const area of AREAS) {
      if (area === 'references' && !config.references) continue;
      const number = await currentGeneration(join(directory, area));
      if (number === undefined) continue;
      published[area] = await publishFiles({ store, area }, join(directory, area, String(number)), options);
    }
    return published;
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw new StorageError(
      `the generation is published here, but not at the place of Publish: ${messageOf(cause)}`,
      { cause },
    );
  }
}
