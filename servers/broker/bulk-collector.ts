import { BulkClient } from '../../clients/bulk/index.js';
import { type CollectionPoint, collectionMode } from '../../protocols/config/index.js';
import { messageOf } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { Applier } from './applier.js';
import { type CollectContext, connectionTimeouts } from './collect-context.js';
import { type PointReport, Tally } from './collect-report.js';
import { pointKey } from './collector.js';
import { readLastCollections, writeLastCollections } from './last-collection.js';

/** What {@link collectFromBroker} works with. */
export interface BulkCollectContext extends CollectContext {
  /** BT-7: where `<last>` is when the store does not know it. */
  readonly lastCollections: string;
}

/**
 * Collects from another Broker (types 4 to 7) and applies what it sends, batch by batch, in the order in which it comes
 * (BT-6, BT-25). A transfer that breaks is not taken up again: what came is kept, and the next collection asks for the same
 * (BT-19).
 *
 * Never rejects for the other Broker's faults: they are in the report. Rejects for our own: the store or the index failed, or
 * the signal was aborted.
 */
export async function collectFromBroker(
  point: CollectionPoint,
  context: BulkCollectContext,
): Promise<PointReport> {
  const { incremental, byQuery } = collectionMode(point.type);
  const key = pointKey(point);
  const last = (await context.store.collectionState(key))?.last ?? (await rememberedLast(point, context));
  // BT-6: type 6 is asked without a time.
  const since = incremental ? last : byQuery ? undefined : 0;
  const tally = new Tally(point);
  tally.connections = 1;
  const applier = new Applier(context, tally, { relayed: true });
  let next: UnixSeconds | undefined;
  let error: string | undefined;
  try {
    next = await receive(point, since, context, tally, applier);
  } catch (cause) {
    error = messageOf(cause);
  }
  // Our own failures first: they surface here and end the collection.
  await applier.drain();
  context.signal?.throwIfAborted();
  // BT-19: `<last>` goes into the same atomic batch as the last objects, and only when all have arrived.
  await applier.finish(next === undefined ? undefined : { key, last: next });
  // BT-27: nobody is asked for them; what is only refreshed is there to be had whole from `#SINCE 0`.
  for (const url of tally.unknown) tally.gone(url);
  return tally.report(since ?? 0, error);
}

/**
 * BT-7: a store that was taken over from an original Broker goes on from the file that came with it. An empty one asks for
 * everything: the file of a store that is lost would keep all older objects from it for ever, and so is dropped first.
 */
async function rememberedLast(point: CollectionPoint, context: BulkCollectContext): Promise<UnixSeconds> {
  const last = (await readLastCollections(context.lastCollections))(point);
  if (last === undefined) return 0;
  if (context.store.count > 0) return last;
  await writeLastCollections(context.lastCollections, []);
  return 0;
}

/** @returns what to ask for the next time */
async function receive(
  point: CollectionPoint,
  since: UnixSeconds | undefined,
  context: BulkCollectContext,
  tally: Tally,
  applier: Applier,
): Promise<UnixSeconds | undefined> {
  const { signal } = context;
  const { flags = '', query = '' } = point.filter ?? {};
  const client = new BulkClient({
    host: point.host,
    port: point.port,
    ...connectionTimeouts(context),
    onWarning: ({ rule, offset, message }) => tally.malformedObject(`${message} (${rule}, byte ${offset})`),
    now: context.now,
  });
  const transfer = client.transfer({
    flags,
    ...(query === '' ? {} : { query }),
    ...(since === undefined ? {} : { since }),
    ...(signal === undefined ? {} : { signal }),
  });
  for await (const { change, ...received } of transfer) await applier.receive({ kind: change, ...received });
  return transfer.totals.next;
}
