// A collection from all points (BRK-7.12).

import { readFile } from 'node:fs/promises';
import { type CollectionPoint, parseCollectionConf } from '../../../protocols/config/index.js';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { type ApplyCounts, addCounts, NO_COUNTS } from '../../../storage/index.js';
import type { Logger } from '../../host/index.js';
import { changeObserver } from '../admin/event-log.js';
import type { Maintenance } from '../admin/maintenance.js';
import type { BrokerParts } from '../admin/parts.js';
import { collectFromBroker } from './bulk-collector.js';
import { collectPoint, isGathererType, pointKey } from './collector.js';
import type { CollectLimits } from './context.js';
import { type LastCollection, lastCollectionFile, writeLastCollections } from './last-collection.js';
import { type PointReport, publish } from './report.js';

/** The result of a collection. */
export interface CollectionReport {
  readonly points: readonly PointReport[];
  /** The counts of all points together. */
  readonly totals: ApplyCounts;
  readonly received: number;
  /** Objects deleted because their time to live had passed. */
  readonly expired: number;
  readonly milliseconds: number;
}

/** What a collection works with. */
export interface CollectionContext extends BrokerParts {
  readonly maintenance: Pick<Maintenance, 'clean' | 'collected'>;
  /** Collection points instead of those in `Collection-File`. */
  readonly points: readonly CollectionPoint[] | undefined;
  /** Limits that precede those of the configuration. */
  readonly limits: CollectLimits | undefined;
}

/** The points, read again for each collection, so that an edit of `Collection-File` needs no restart. */
export async function collectionPoints(context: CollectionContext): Promise<readonly CollectionPoint[]> {
  return context.points ?? (await readCollectionFile(context.settings.value.collectionFile, context.log));
}

/** Objects with URLs that cannot be stored that the log names for each point; the report counts all. */
const MAX_NAMED = 10_000;

/** BRK-7.12: collects from every point in file order, then deletes expired objects. */
export async function collectAll(context: CollectionContext, signal: AbortSignal): Promise<CollectionReport> {
  const { log, events, debug, settings } = context;
  const started = performance.now();
  const points = await collectionPoints(context);
  publish({ event: 'start', points: points.length });
  const reports: PointReport[] = [];
  for (const point of points) {
    debug(71, 1, () => `${point.host}:${point.port}: collecting, type ${point.type}`);
    const collect = isGathererType(point.type) ? collectPoint : collectFromBroker;
    const { brokerDirectory, collectionMaxSize, collectionMaxTime } = settings.value;
    let named = 0;
    const report = await collect(point, {
      store: context.store,
      lastCollections: lastCollectionFile(brokerDirectory),
      spoolDirectory: brokerDirectory,
      applied: () => context.keeper.follow(),
      now: context.now,
      signal,
      observe: changeObserver(events, debug),
      onUnwritable: (reason) => {
        if (named++ < MAX_NAMED)
          events.write('Collection', `${point.host}:${point.port}: not stored: ${reason}`);
      },
      onRetry: (why, pauseMs) =>
        log.warn(`Collection: ${point.host}:${point.port}: ${why}; the transfer is resumed in ${pauseMs} ms`),
      limits: {
        maxReceivedBytes: collectionMaxSize * 2 ** 20,
        maxDurationMs: collectionMaxTime * 1000,
        ...context.limits,
      },
    });
    await context.keeper.settle();
    reports.push(report);
    publish({ event: 'point', report });
    logPoint(report, context);
  }
  await saveTimes(points, context);
  const expired = await context.maintenance.clean();
  const milliseconds = Math.round(performance.now() - started);
  const received = reports.reduce((sum, report) => sum + report.received, 0);
  publish({ event: 'end', received, milliseconds });
  if (events.isEnabled('Collection')) {
    const summary = `${received} objects received, ${context.store.count} in all, ${milliseconds} ms`;
    log.info(`Collection: ${summary}`);
    events.write('Collection', summary);
  }
  return {
    points: reports,
    totals: reports.reduce<ApplyCounts>(addCounts, NO_COUNTS),
    received,
    expired,
    milliseconds,
  };
}

/** BT-7: writes the stored times of the points that are Brokers to the file. */
async function saveTimes(points: readonly CollectionPoint[], context: CollectionContext): Promise<void> {
  const known: LastCollection[] = [];
  for (const point of points) {
    if (isGathererType(point.type)) continue;
    const state = await context.store.collectionState(pointKey(point));
    if (state !== undefined) known.push({ point, last: state.last });
  }
  if (known.length > 0)
    await writeLastCollections(lastCollectionFile(context.settings.value.brokerDirectory), known);
}

function logPoint(report: PointReport, { log, events, debug }: CollectionContext): void {
  const point = `${report.host}:${report.port}`;
  const { added, updated, refreshed, deleted, duplicates, absent, rejected, malformed, expired, ahead } =
    report;
  const counts = Object.entries({
    added,
    updated,
    refreshed,
    deleted,
    duplicates,
    [absent === 1 ? 'deletion of an unknown object' : 'deletions of unknown objects']: absent,
    rejected,
    malformed,
    'already expired': expired,
    'with a time far ahead': ahead,
  })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  const summary = counts.length === 0 ? 'nothing new' : counts.join(', ');
  for (const reason of report.reasons) {
    log.warn(`Collection: ${point}: ${reason}`);
    debug(72, 1, `${point}: ${reason}`);
  }
  debug(71, 1, `${point}: ${report.connections} connections, ${report.milliseconds} ms`);
  // BRK-7.12: the collection continues with the next point.
  if (report.error !== undefined) {
    log.error(`Collection: ${point}: incomplete: ${report.error} (${summary})`);
    events.write('Collection', `${point}: incomplete: ${report.error} (${summary})`);
  } else if (events.isEnabled('Collection')) {
    log.info(`Collection: ${point}: ${summary} (since ${report.since})`);
    events.write('Collection', `${point}: ${summary} (since ${report.since})`);
  }
}

/**
 * Reads `Collection-File`. Invalid points are logged and left out (BRK-7.8). @throws ConfigError when it cannot
 * be read
 */
async function readCollectionFile(file: string, log: Logger): Promise<readonly CollectionPoint[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, 0, '', messageOf(error));
  }
  const { points, warnings } = parseCollectionConf(text, file);
  for (const warning of warnings) log.warn(warning.message);
  return points;
}
