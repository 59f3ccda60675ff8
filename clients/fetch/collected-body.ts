// The bodies of protocols without messages, for the reader in memory and for an archive.
import { type BodyCollector, BoundedBody } from './bounded-body.js';
import { SpooledBody } from './spooled-body.js';
import { beginningOf, isStored } from './stored-body.js';
import { DEFAULT_MAX_BYTES, type FetchRequest, type FetchResult } from './types.js';

const NOTHING = new Uint8Array();

/** Returns what collects the body of a request: on disk if the request has a spool and the body is long. */
export function collectorFor({ maxBytes = DEFAULT_MAX_BYTES, keepWire, spool }: FetchRequest): BodyCollector {
  return keepWire === undefined || spool === undefined ? new BoundedBody(maxBytes) : new SpooledBody(spool);
}

/**
 * Returns the body of an answer; one that is on disk is `wire.body`, without messages.
 * @throws the errors of the disk
 */
export async function bodyAnswer(
  collected: BodyCollector,
  { maxBytes = DEFAULT_MAX_BYTES }: FetchRequest,
): Promise<Pick<FetchResult, 'body' | 'truncated' | 'wire'>> {
  const kept = await collected.finish();
  const { truncated } = collected;
  if (!isStored(kept) && kept.length <= maxBytes) return { body: kept, truncated };
  const body = await beginningOf(kept, maxBytes);
  const wire = { request: NOTHING, head: NOTHING, body: kept, truncated };
  return { body, truncated: truncated || kept.length > maxBytes, wire };
}
