import { channel } from 'node:diagnostics_channel';
import { collectChanges, GatherdClient } from '../../clients/gatherd/index.js';
import type { CollectionPoint } from '../../protocols/config/index.js';
import { messageOf } from '../../protocols/errors.js';
import { encodeSoif, identityOf, isExpired } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { ApplyCounts, ApplyObserver, BrokerStore } from '../../storage/index.js';
import { Applier, Tally } from './applier.js';

/** What one collection point gave. */
export interface PointReport extends ApplyCounts {
  readonly host: string;
  readonly port: number;
  readonly type: number;
  /** The time asked for; 0 for everything. */
  readonly since: UnixSeconds;
  /** Objects received, whatever became of them. */
  readonly received: number;
  /** Objects whose time to live had passed when they came; they were not stored (BRK-7.14). */
  readonly expired: number;
  /** Faults in the stream that were skipped. */
  readonly malformed: number;
  /** Connections that it took. */
  readonly connections: number;
  /** True when the whole transfer arrived; only then `<last>` moved (GATHERD-13.6). */
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly error?: string;
  /** Some of the reasons for `rejected` and `malformed`. */
  readonly reasons: readonly string[];
  readonly milliseconds: number;
}

/** Message on the diagnostics channel `harvest:broker:collect`. */
export type CollectEvent =
  | { readonly event: 'start'; readonly points: number }
  | { readonly event: 'progress'; readonly host: string; readonly port: number; readonly received: number }
  | { readonly event: 'point'; readonly report: PointReport }
  | { readonly event: 'end'; readonly received: number; readonly milliseconds: number };

/** Diagnostics channel of {@link CollectEvent}s. */
export const collectChannel = channel('harvest:broker:collect');

/** Limits of {@link collectPoint}. */
export interface CollectLimits {
  /** Objects applied in one batch, default 256. */
  readonly batchObjects?: number;
  /** Bytes applied in one batch, default 1 MiB. */
  readonly batchBytes?: number;
  /** Milliseconds until a Gatherer must have accepted the connection, default 30 000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds a Gatherer may stay silent, default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number;
  /** Connections in a row that may fail without a new object, default 5. */
  readonly maxFruitless?: number;
  /** Milliseconds before a broken transfer is taken up again, default 1000; doubled while nothing new comes. */
  readonly retryPauseMs?: number;
}

/** What {@link collectPoint} works with. */
export interface CollectContext {
  readonly store: BrokerStore;
  /** Called after each applied batch; the next is read meanwhile, but not applied before it resolves. */
  readonly applied: () => Promise<void>;
  readonly now: () => UnixSeconds;
  /** Told what became of each change. */
  readonly observe?: ApplyObserver;
  /** Told that a transfer broke and will be taken up again. */
  readonly onRetry?: (why: string, pauseMs: number) => void;
  readonly limits?: CollectLimits;
  readonly signal?: AbortSignal;
}

/** A day: an `Update-Time` further ahead of our clock than this does not move `<last>`. */
const MAX_AHEAD: UnixSeconds = 86_400;

/**
 * The name under which the store keeps a point's `<last>`: types 0 to 3 of one Gatherer share it; of a Broker each type and
 * filter has its own (BT-7), because each asks for other objects.
 */
export function pointKey(point: CollectionPoint): string {
  if (!isGathererType(point.type)) {
    const { flags = '', query = '' } = point.filter ?? {};
    return `broker ${point.host.toLowerCase()}:${point.port} ${point.type} ${flags}\n${query}`;
  }
  return `gatherer ${point.host.toLowerCase()}:${point.port}`;
}

/** GATHERD-13.2, 13.4: whether the type is one of the Gatherer's (0 to 3). */
export function isGathererType(type: number): boolean {
  return type >= 0 && type <= 3;
}

/**
 * Collects from one Gatherer (types 0 to 3) and applies what it sends, batch by batch (GATHERD-13.4, 13.8).
 *
 * Never rejects for the Gatherer's faults: they are in the report, and everything received before is applied.
 * Rejects for our own: the store or the index failed, or the signal was aborted.
 */
export async function collectPoint(point: CollectionPoint, context: CollectContext): Promise<PointReport> {
  const started = performance.now();
  const full = point.type === 0 || point.type === 2;
  const last = (await context.store.collectionState(pointKey(point)))?.last ?? 0;
  const since = full ? 0 : last;
  const tally = new Tally();
  let error: string | undefined;
  let next = last;
  const applier = new Applier(context, tally);
  try {
    next = Math.max(last, await receive(point, since, context, tally, applier));
  } catch (cause) {
    error = messageOf(cause);
  }
  // Our own failures first: they surface here and end the collection.
  await applier.drain();
  context.signal?.throwIfAborted();
  const complete = error === undefined;
  // GATHERD-13.6: `<last>` goes into the same atomic batch as the last objects, and only when all have arrived.
  await applier.finish(complete ? { key: pointKey(point), last: next } : undefined);
  return {
    host: point.host,
    port: point.port,
    type: point.type,
    since,
    received: tally.received,
    expired: tally.expired,
    malformed: tally.malformed,
    connections: tally.connections,
    ...tally.counts,
    complete,
    ...(error === undefined ? {} : { error }),
    reasons: tally.reasons,
    milliseconds: Math.round(performance.now() - started),
  };
}

/**
 * Receives everything since a time, over as many connections as it takes, and hands it to the applier.
 *
 * @returns what to ask for the next time (GATHERD-13.6)
 */
async function receive(
  point: CollectionPoint,
  since: UnixSeconds,
  context: CollectContext,
  tally: Tally,
  applier: Applier,
): Promise<UnixSeconds> {
  const { signal, limits = {} } = context;
  const connection = {
    host: point.host,
    port: point.port,
    connectTimeoutMs: limits.connectTimeoutMs ?? 30_000,
    idleTimeoutMs: limits.idleTimeoutMs ?? 120_000,
    onWarning: (warning: { readonly message: string }) => tally.malformedObject(warning.message),
    ...(signal === undefined ? {} : { signal }),
  };
  const collection = collectChanges({
    ...connection,
    since,
    compression: point.type === 2 || point.type === 3,
    maxAheadSeconds: MAX_AHEAD,
    maxFruitless: limits.maxFruitless ?? 5,
    pauseMs: limits.retryPauseMs ?? 1000,
    onRetry: ({ error, pauseMs }) => context.onRetry?.(error.message, pauseMs),
  });
  try {
    for await (const { kind, object, bytes, exact } of collection) {
      tally.received += 1;
      // What a lenient reader understood is stored as everybody understands it (SOIF-3.1).
      const stored = exact ? bytes : encodeSoif(object);
      if (kind === 'update' && isExpired(object, context.now()) && identityOf(object) !== undefined) {
        // BRK-7.14: it would be deleted right after. What it replaces is outdated all the same.
        tally.expired += 1;
        await applier.add({ kind: 'delete', object, bytes: stored });
      } else {
        await applier.add({ kind, object, bytes: stored });
      }
      if (tally.received % 256 === 0)
        publish({ event: 'progress', host: point.host, port: point.port, received: tally.received });
    }
  } finally {
    tally.connections += collection.totals.connections;
  }
  await applier.finish(undefined);
  if (tally.unknown.length > 0) {
    await using client = await GatherdClient.connect(connection);
    tally.connections += 1;
    await fetchUnknown(client, tally, applier, signal);
    // The transfer is whole; a Gatherer that closes instead of saying good-bye takes nothing from it.
    await client.quit().catch(() => undefined);
  }
  return collection.totals.next;
}

/** GATHERD-4.4: an object that was only refreshed, but is not here, is asked for whole (GATHERD-5). */
async function fetchUnknown(
  client: GatherdClient,
  tally: Tally,
  applier: Applier,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const url of tally.unknown) {
    const object = await client.object(url, signal === undefined ? {} : { signal });
    if (object === undefined) tally.gone(url);
    else await applier.add({ kind: 'update', object, bytes: encodeSoif(object) });
  }
}

/** Publishes on {@link collectChannel} when somebody listens. */
export function publish(event: CollectEvent): void {
  if (collectChannel.hasSubscribers) collectChannel.publish(event);
}
