// The checkpoints of a run (CRAWL-17.3), and the state that the next run needs beside the store.
import { join } from 'node:path';
import type { CloseStack } from '../../../protocols/close-stack.js';
import { messageOf } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { GathererBatch } from '../../../storage/gatherer/batch.js';
import type { GathererStore } from '../../../storage/gatherer/store.js';
import { Checkpoints } from '../../crawler/checkpoint.js';
import { saveComponents } from '../../crawler/component-state.js';
import type { CrawlController } from '../../crawler/controller.js';
import { announce } from '../../crawler/events.js';
import type { CrawlFrontier } from '../../crawler/frontier/contract.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { RunNetwork } from './network.js';
import type { CrawlRecords } from './records.js';

export interface RunCheckpointsOptions {
  readonly options: {
    readonly store: GathererStore;
    readonly order: CrawlOrderConfig;
    /** The Gatherer's directory. */
    readonly directory: string;
  };
  /** The directory of the crawl's files. */
  readonly directory: string;
  readonly network: Pick<RunNetwork, 'servers' | 'bandwidth'>;
  readonly frontier: CrawlFrontier<GathererBatch>;
  readonly records: CrawlRecords;
  readonly resources: CloseStack;
}

/** The figures of servers, statistics, bandwidth and frontier, which are not in the store. */
function componentsOf({ network, records, frontier }: RunCheckpointsOptions) {
  return {
    servers: network.servers.snapshot(),
    statistics: records.statistics.toJSON(),
    bandwidth: network.bandwidth.snapshot(),
    frontier: frontier.counts,
  };
}

/** Saves the components when the resources close, unless the crawl is complete. */
export function keepComponents(options: RunCheckpointsOptions): void {
  options.resources.defer(async () => {
    if (options.frontier.empty) return;
    await saveComponents(options.directory, componentsOf(options)).catch((error: unknown) => {
      // The next run continues without these figures.
      announce(`cannot save the state of servers and statistics: ${messageOf(error)}`);
    });
  });
}

/** Opens the directory of checkpoints; one that is being taken is finished before the resources close. */
export async function openCheckpoints(options: RunCheckpointsOptions): Promise<Checkpoints> {
  const { frontier, records, resources } = options;
  const { store, order } = options.options;
  const { events, journal } = records;
  const directory = join(options.directory, 'checkpoints');
  // G-81: checkpoints copy the working store, whose queues contain logins.
  await createDirectory(directory, 0o700);
  const checkpoints = await Checkpoints.open(directory, {
    store,
    ...(order.seen === 'level' ? {} : { seenDirectory: join(options.options.directory, 'seen') }),
    kept: order.checkpointsKept,
    // The copy has no events whose lines are in the logs already.
    atRest: (work) =>
      frontier.atRest(async () => {
        await events.purge();
        return work();
      }),
    components: () => componentsOf(options),
    rotate: async (suffix) => {
      await events.rotate(suffix);
      await journal?.file.rotate(suffix);
    },
  });
  resources.defer(() => checkpoints.settled());
  return checkpoints;
}

/** Takes a checkpoint at these intervals; 0 takes none. */
export function scheduleCheckpoints(
  minutes: number,
  controller: CrawlController,
  resources: CloseStack,
): void {
  if (minutes === 0) return;
  let current: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let begun = 0;
  // Each rotates the logs, whose parts stay: a short interval grows, so that a long crawl does not have a file for
  // every moment of it.
  const schedule = (): void => {
    if (closed) return;
    timer = setTimeout(take, checkpointInterval(minutes, begun));
  };
  const take = (): void => {
    begun++;
    current = controller
      .checkpoint()
      .catch((error: unknown) => announce(`the checkpoint failed: ${messageOf(error)}`))
      .finally(schedule);
  };
  schedule();
  resources.defer(async () => {
    closed = true;
    clearTimeout(timer);
    await current;
  });
}

/** Checkpoints that may follow each other faster than {@link MIN_INTERVAL_MS}, as at the beginning of a crawl. */
const FAST_CHECKPOINTS = 100;
const MIN_INTERVAL_MS = 60_000;
/** The longest time of a timer. */
const MAX_INTERVAL_MS = 2 ** 31 - 1;

/**
 * Milliseconds until the next checkpoint: what the order says, and at least a minute after the first hundred.
 *
 * @param begun checkpoints of this run before it
 */
export function checkpointInterval(minutes: number, begun: number): number {
  const interval = Math.min(minutes * 60_000, MAX_INTERVAL_MS);
  return begun < FAST_CHECKPOINTS ? interval : Math.max(interval, MIN_INTERVAL_MS);
}
