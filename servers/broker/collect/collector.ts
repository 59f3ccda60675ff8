// Collects from a Gatherer (collection types 0 to 3, BRK-7.5) and applies the changes to the Broker's store.
import { crc32 } from 'node:zlib';
import { collectChanges, type GatherdChange, GatherdClient } from '../../../clients/gatherd/index.js';
import { type CollectionPoint, collectionMode } from '../../../protocols/config/index.js';
import type { SequenceMark } from '../../../protocols/gatherd/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { Applier, type ReceivedUpTo } from './applier.js';
import { type CollectContext, connectionLimits, largeObjects } from './context.js';
import { type PointReport, Tally } from './report.js';

/**
 * Returns the key of a point's `<last>` in the store. Types 0 to 3 of one Gatherer share a key. Each type and
 * filter of a Broker has its own (BT-7), because each requests other objects.
 */
export function pointKey(point: CollectionPoint): string {
  if (!isGathererType(point.type)) {
    const { flags = '', query = '' } = point.filter ?? {};
    return `broker ${point.host.toLowerCase()}:${point.port} ${point.type} ${flags}\n${query}`;
  }
  if (point.own === true) return 'gatherer own';
  return `gatherer ${point.host.toLowerCase()}:${point.port}`;
}

/** What is requested: the changes after a number, or since a time from a Gatherer without numbers. */
interface From {
  readonly since: UnixSeconds;
  readonly after: SequenceMark | undefined;
}

const NOTHING = { last: 0, origin: '', sequence: 0 } as const;

/** GATHERD-13.2, 13.4: whether the type is one of the Gatherer's (0 to 3). */
export function isGathererType(type: number): boolean {
  return type >= 0 && type <= 3;
}

/**
 * Collects from one Gatherer (types 0 to 3) and applies its changes batch by batch (GATHERD-13.4, 13.8).
 *
 * Failures of the Gatherer are in the report, and everything received before is applied. Rejects only when the
 * store or the index fails, or the signal is aborted.
 */
export async function collectPoint(point: CollectionPoint, context: CollectContext): Promise<PointReport> {
  const full = point.type === 0 || point.type === 2;
  const key = pointKey(point);
  const state = await context.store.points.get(key);
  const { last, origin, sequence } = state ?? { ...NOTHING, last: firstTime(point, context) };
  const since = full ? 0 : last;
  const tally = new Tally(point);
  const source = crc32(key);
  const gatherers = context.points.filter(({ type }) => isGathererType(type));
  const others = new Set(gatherers.map((other) => crc32(pointKey(other))));
  others.delete(source);
  const applier = new Applier(context, tally, { source, others }, last);
  const after = origin === '' ? undefined : { origin, sequence };
  const error = await applier.collect(key, () => receiveAll(point, { since, after }, last, applier));
  return tally.report(since, error);
}

/** GATHERD-6.11: an update since 0 has no deletions, one since 1 has the same objects and all deletions. */
function firstTime({ own = false }: CollectionPoint, { store }: CollectContext): UnixSeconds {
  return own && store.count > 0 ? 1 : 0;
}

/**
 * Receives the changes since a time. The objects of that very second come again, so nothing at all means that
 * the times of the Gatherer lie before ours: its clock was wrong, or it was built anew. Then everything is
 * requested, and its newest time counts.
 *
 * @returns the time for the next request (GATHERD-13.6)
 */
async function receiveAll(
  point: CollectionPoint,
  from: From,
  last: UnixSeconds,
  applier: Applier,
): Promise<ReceivedUpTo> {
  const { arrived } = applier.tally;
  const next = await receive(point, from, applier);
  const isNumbered = (next.mark?.sequence ?? 0) > 0;
  if (from.since <= 1 || arrived.received > 0 || isNumbered)
    return { ...next, last: Math.max(last, next.last) };
  return receive(point, { since: 0, after: undefined }, applier);
}

/**
 * Receives the changes since a time, over as many connections as necessary, and passes them to the applier.
 *
 * @returns the time for the next request (GATHERD-13.6)
 */
async function receive(
  point: CollectionPoint,
  { since, after }: From,
  applier: Applier,
): Promise<ReceivedUpTo> {
  const { context, tally } = applier;
  const { signal, limits } = context;
  const { connectTimeoutMs, timeoutMs, ...receiveLimits } = connectionLimits(context);
  const connection = {
    host: point.host,
    fingerprint: point.fingerprint,
    port: point.port,
    connectTimeoutMs,
    timeoutMs,
    onWarning: (warning: { readonly message: string }) => tally.countMalformed(warning.message),
    signal,
  };
  const collection = collectChanges({
    ...connection,
    ...receiveLimits,
    large: largeObjects(context),
    since,
    after,
    numbers: true,
    compression: collectionMode(point.type).compressed,
    now: context.now,
    maxFailures: limits.maxFailures ?? 5,
    pauseMs: limits.retryPauseMs ?? 1000,
    onRetry: ({ error, pauseMs }) => context.onRetry(error.message, pauseMs),
  });
  try {
    for await (const change of collection) {
      applier.numbered = collection.numbered;
      await applier.receive(change);
    }
  } finally {
    tally.arrived.connections += collection.totals.connections;
  }
  await applier.finish(undefined);
  if (tally.unknown.length > 0) {
    await using client = new GatherdClient({ ...connection, large: largeObjects(context) });
    tally.arrived.connections += 1;
    await fetchUnknown(client, tally, applier, signal);
    // The transfer is complete, even if the Gatherer closes the connection without a reply.
    await client.quit().catch(() => undefined);
  }
  const { next, mark } = collection.totals;
  // An object with a wrong time has to come again when the clock is right.
  return { last: next, mark: tally.arrived.ahead > 0 ? after : mark };
}

/** GATHERD-4.4: requests objects that were refreshed but are not stored (GATHERD-5). */
async function fetchUnknown(
  client: GatherdClient,
  tally: Tally,
  applier: Applier,
  signal: AbortSignal,
): Promise<void> {
  for (const url of tally.unknown) {
    const receive = (change: GatherdChange) => applier.fetched(change);
    const found = await client.receiveObject(url, receive, { signal });
    if (!found) tally.countUnknown(url);
  }
}
