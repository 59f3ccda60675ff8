// The seen filter of a run.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { GathererStore } from '../../../storage/index.js';
import { openSeenFilter, type SeenFilter } from '../../../storage/seen/index.js';
import { announce } from '../../crawler/events.js';
import type { CrawlStatistics } from '../../crawler/logs/statistics.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';

/** Where the filter of a run is. */
export interface SeenLocation {
  readonly store: GathererStore;
  readonly order: Pick<CrawlOrderConfig, 'seen'>;
  /** Of the Gatherer. */
  readonly directory: string;
}

/**
 * Opens the order's seen filter. `level` is a table of the working store; the others have their own files,
 * which a new run empties.
 * @throws StorageError that names the damaged file and what to remove
 */
export async function openSeen(
  { store, order, directory }: SeenLocation,
  resumed: boolean,
): Promise<SeenFilter> {
  if (order.seen === 'level') return store.openSeenFilter();
  const filterDirectory = join(directory, 'seen', order.seen);
  if (!resumed) await rm(filterDirectory, { recursive: true, force: true });
  await createDirectory(filterDirectory);
  try {
    return await openSeenFilter({ kind: order.seen, directory: filterDirectory });
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    throw new StorageError(
      `${cause.message}; after \`rm -r ${filterDirectory}\` the run continues, and fetches some documents again`,
      { cause },
    );
  }
}

/** A filter of a crawl that has done something is empty only if its files were lost. */
export function warnOfEmptyFilter(kind: string, statistics: CrawlStatistics): void {
  const { succeeded, failed } = statistics.counters;
  if (succeeded + failed === 0) return;
  announce(
    `the seen filter ${kind} has lost its content: the crawl continues with the queued URIs, and ${succeeded + failed} that are done may be fetched again`,
  );
}
