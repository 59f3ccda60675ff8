// A collection from all points (BRK-7.12).
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { BulkClient } from '../../../clients/bulk/index.js';
import {
  type CollectionPoint,
  collectionMode,
  parseCollectionConf,
} from '../../../protocols/config/index.js';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';
import { type ApplyCounts, addCounts, NO_COUNTS } from '../../../storage/index.js';
import type { Logger } from '../../host/index.js';
import { changeObserver } from '../admin/event-log.js';
import type { Maintenance } from '../admin/maintenance.js';
import type { BrokerParts } from '../admin/parts.js';
import { repairStoredTimes } from '../admin/repair-times.js';
import { Applier } from './applier.js';
import { collectPoint, isGathererType, pointKey } from './collector.js';
import { type CollectContext, type CollectLimits, connectionLimits, largeObjects } from './context.js';
import {
  type LastCollection,
  lastCollectionFile,
  readLastCollections,
  writeLastCollections,
} from './last-collection.js';
import { type PointTurn, type PointTurns, SharedTurns, turnsInOrder } from './point-turns.js';
import { type PointReport, publish, Tally } from './report.js';

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

/** The resources of a collection. */
export interface CollectionContext extends BrokerParts {
  /** This Broker among those that share its store, for people. */
  readonly name: string;
  readonly maintenance: Pick<Maintenance, 'clean' | 'collected'>;
  readonly setBackWatch: { lastRightTime(time: UnixSeconds): UnixSeconds | undefined };
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

/**
 * BRK-7.12: collects from every point in file order, then deletes expired objects. Brokers that share a store divide the
 * points.
 *
 * @param since the time of the request, of a shared store
 */
export async function collectAll(
  context: CollectionContext,
  signal: AbortSignal,
  since: number | undefined,
): Promise<CollectionReport> {
  const { log, events } = context;
  const started = performance.now();
  const points = await collectionPoints(context);
  // The clock may have been set since the start.
  await repairStoredTimes(context);
  publish({ event: 'start', points: points.length });
  const reports: PointReport[] = [];
  await using turns = turnsOf(points, context, signal, since);
  for (let turn = await turns.next(); turn !== undefined; turn = await turns.next()) {
    const collected: PointReport[] = [];
    try {
      for (const point of turn.points) collected.push(await collectFrom(point, points, turn, context));
      await turns.end(collected);
    } catch (error) {
      if (signal.aborted || !turns.isLost(error)) throw error;
      for (const { host, port } of turn.points)
        log.warn(`Collection: ${host}:${port}: another broker continues, because this one stood still`);
    }
    reports.push(...collected);
  }
  await saveTimes(points, context);
  const expired = await context.maintenance.clean(
    reports.length > 0 && reports.every(({ complete }) => complete),
  );
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

function turnsOf(
  points: readonly CollectionPoint[],
  context: CollectionContext,
  signal: AbortSignal,
  since: number | undefined,
): PointTurns {
  const { collections } = context.store;
  if (collections === undefined || since === undefined) return turnsInOrder(points, signal);
  const { keeper, log, name: owner } = context;
  return new SharedTurns({
    ...{ collections, owner, points, since, signal, log },
    onWait: () => keeper.followOthers(),
  });
}

/** Collects from a point whose turn it is. */
async function collectFrom(
  point: CollectionPoint,
  points: readonly CollectionPoint[],
  { signal, allow }: PointTurn,
  context: CollectionContext,
): Promise<PointReport> {
  const { log, events, debug, settings } = context;
  debug(71, 1, () => `${point.host}:${point.port}: collecting, type ${point.type}`);
  const collect = isGathererType(point.type) ? collectPoint : collectFromBroker;
  const { brokerDirectory, collectionMaxSize, collectionMaxTime } = settings.value;
  let named = 0;
  let isClockSet = false;
  const pointContext: CollectContext = {
    store: context.store,
    points,
    lastCollections: lastCollectionFile(brokerDirectory),
    spoolDirectory: brokerDirectory,
    applied: () => context.keeper.follow(),
    allow,
    now: context.now,
    witness: (newest) => {
      if (context.witness(newest)) isClockSet = true;
    },
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
  };
  let report = await collect(point, pointContext);
  if (isClockSet) {
    // By the former time objects had expired, or came too early: all of them come again.
    await repairStoredTimes(context);
    await context.store.resetPoints();
    report = await collect(point, pointContext);
  }
  await context.keeper.settle();
  publish({ event: 'point', report });
  logPoint(report, context);
  return report;
}

/** BT-7: writes the stored times of the points that are Brokers to the file. */
async function saveTimes(points: readonly CollectionPoint[], context: CollectionContext): Promise<void> {
  const known: LastCollection[] = [];
  for (const point of points) {
    if (isGathererType(point.type)) continue;
    const state = await context.store.points.get(pointKey(point));
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

/**
 * Collects from another Broker (types 4 to 7) and applies its changes batch by batch, in the order of their
 * arrival (BT-6, BT-25). A broken transfer is not resumed: its objects are kept, and the next collection
 * requests the same again (BT-19).
 *
 * Failures of the other Broker are in the report. Rejects only when the store or the index fails, or the signal
 * is aborted.
 */
async function collectFromBroker(point: CollectionPoint, context: CollectContext): Promise<PointReport> {
  const { incremental, byQuery } = collectionMode(point.type);
  const key = pointKey(point);
  const last = (await context.store.points.get(key))?.last ?? (await readSavedLast(point, context));
  // BT-6: the request of type 6 has no time.
  const since = incremental ? last : byQuery ? undefined : 0;
  const tally = new Tally(point);
  tally.arrived.connections = 1;
  const applier = new Applier(context, tally, { relayed: true, source: crc32(key) });
  const error = await applier.collect(key, async () => {
    const last = await receive(point, since, applier);
    return last === undefined ? undefined : { last };
  });
  // BT-27: refreshed objects that are not known are not requested; `#SINCE 0` gets them whole.
  for (const url of tally.unknown) tally.countUnknown(url);
  return tally.report(since ?? 0, error);
}

/**
 * BT-7: returns the time from the file for a point that the store does not know. A store that was imported from
 * an original Broker continues from that file. An empty store requests everything, and its file is emptied
 * first: the file of a lost store would exclude all older objects for good.
 */
async function readSavedLast(point: CollectionPoint, context: CollectContext): Promise<UnixSeconds> {
  const last = (await readLastCollections(context.lastCollections))(point);
  if (last === undefined) return 0;
  if (context.store.count > 0) return last;
  await writeLastCollections(context.lastCollections, []);
  return 0;
}

/** Receives a transfer and passes its changes to the applier. @returns the time for the next request */
async function receive(
  point: CollectionPoint,
  since: UnixSeconds | undefined,
  applier: Applier,
): Promise<UnixSeconds | undefined> {
  const { context, tally } = applier;
  const { signal } = context;
  const { flags = '', query = '' } = point.filter ?? {};
  const client = new BulkClient({
    host: point.host,
    fingerprint: point.fingerprint,
    port: point.port,
    ...connectionLimits(context),
    large: largeObjects(context),
    onWarning: ({ rule, offset, message }) => tally.countMalformed(`${message} (${rule}, byte ${offset})`),
    now: context.now,
  });
  const transfer = client.changes({
    flags,
    ...(query === '' ? {} : { query }),
    since,
    signal,
  });
  for await (const change of transfer) await applier.receive(change);
  const { next } = transfer.totals;
  const now = context.now();
  // After a time ahead of ours the other clock may be set back, and what changes until then would be left out. One that
  // is far ahead is that of a wrong clock, by which objects had expired: the next collection requests everything.
  return next !== undefined && next > now && next <= now + MAX_AHEAD ? now : next;
}
