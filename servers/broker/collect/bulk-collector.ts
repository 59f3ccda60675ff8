// Collects from another Broker (types 4 to 7).
import { BulkClient } from '../../../clients/bulk/index.js';
import { type CollectionPoint, collectionMode } from '../../../protocols/config/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { Applier } from './applier.js';
import { pointKey } from './collector.js';
import { type CollectContext, connectionLimits, largeObjects } from './context.js';
import { readLastCollections, writeLastCollections } from './last-collection.js';
import { type PointReport, Tally } from './report.js';

/**
 * Collects from another Broker (types 4 to 7) and applies its changes batch by batch, in the order of their
 * arrival (BT-6, BT-25). A broken transfer is not resumed: its objects are kept, and the next collection
 * requests the same again (BT-19).
 *
 * Failures of the other Broker are in the report. Rejects only when the store or the index fails, or the signal
 * is aborted.
 */
export async function collectFromBroker(
  point: CollectionPoint,
  context: CollectContext,
): Promise<PointReport> {
  const { incremental, byQuery } = collectionMode(point.type);
  const key = pointKey(point);
  const last = (await context.store.collectionState(key))?.last ?? (await readSavedLast(point, context));
  // BT-6: the request of type 6 has no time.
  const since = incremental ? last : byQuery ? undefined : 0;
  const tally = new Tally(point);
  tally.connections = 1;
  const applier = new Applier(context, tally, { relayed: true });
  const error = await applier.collect(key, () => receive(point, since, applier));
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
    port: point.port,
    ...connectionLimits(context),
    large: largeObjects(context),
    onWarning: ({ rule, offset, message }) => tally.countMalformed(`${message} (${rule}, byte ${offset})`),
    now: context.now,
  });
  const transfer = client.transfer({
    flags,
    ...(query === '' ? {} : { query }),
    since,
    signal,
  });
  for await (const { change, ...received } of transfer) await applier.receive({ kind: change, ...received });
  return transfer.totals.next;
}
