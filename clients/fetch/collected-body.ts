// The bodies of protocols without messages, for the reader in memory and for an archive.
import { ConnectionError, messageOf } from '../../protocols/errors.js';
import { type BodyCollector, BoundedBody } from './bounded-body.js';
import { SpooledBody } from './spooled-body.js';
import { type BodyBytes, beginningOf, isStored } from './stored-body.js';
import type { TransferWatch } from './transfer.js';
import { DEFAULT_MAX_BYTES, type FetchRequest, type FetchResult } from './types.js';

const NOTHING = new Uint8Array();

/** Whether a body that is too long for memory goes to disk, and is not cut at `maxBytes`. */
export function isSpooled({ keepWire, spool }: Pick<FetchRequest, 'keepWire' | 'spool'>): boolean {
  return keepWire !== undefined && spool !== undefined;
}

/** Returns what collects the body of a request: on disk if the request has a spool and the body is long. */
export function collectorFor(request: FetchRequest): BodyCollector {
  const { maxBytes = DEFAULT_MAX_BYTES, spool } = request;
  return spool === undefined || !isSpooled(request) ? new BoundedBody(maxBytes) : new SpooledBody(spool);
}

/**
 * Collects a piece, and waits while the disk is slower than its sender.
 * @param piece may be kept and must not change after the call
 * @throws the errors of the disk
 */
export async function collect(body: BodyCollector, piece: Uint8Array): Promise<void> {
  body.push(piece);
  if (!body.isFull) return;
  await new Promise<void>((resolve, reject) => {
    body.whenRoom((error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** What a fetcher knows of a body. */
export type BodyAnswer = Pick<FetchResult, 'body' | 'truncated' | 'wire' | 'late' | 'lenient'>;

/**
 * Returns the body of an answer; one that is on disk is `wire.body`, without messages.
 * @throws the errors of the disk
 */
export async function bodyAnswer(collected: BodyCollector, request: FetchRequest): Promise<BodyAnswer> {
  return await answerOf(await collected.finish(), collected.truncated, request);
}

/** Returns the body of an answer. @param truncated the document is longer @throws the errors of the disk */
export async function answerOf(
  kept: BodyBytes,
  truncated: boolean,
  { maxBytes = DEFAULT_MAX_BYTES }: FetchRequest,
): Promise<BodyAnswer> {
  if (!isStored(kept) && kept.length <= maxBytes) return { body: kept, truncated };
  const body = await beginningOf(kept, maxBytes);
  const wire = { request: NOTHING, head: NOTHING, body: kept, truncated };
  return { body, truncated: truncated || kept.length > maxBytes, wire };
}

/**
 * Returns what cut a body whose transfer failed, if the request keeps the part that arrived: `keepLate` after the
 * whole time of a transfer, `keepIncomplete` after an end of the connection, or silence.
 * @param isSilent the server stopped sending
 * @throws the error, if nothing is kept
 */
export function cutBy(
  error: unknown,
  watch: TransferWatch,
  request: FetchRequest,
  isSilent: boolean,
): Partial<Pick<FetchResult, 'late' | 'lenient' | 'truncated'>> {
  const cause = watch.causeOf(error);
  if (watch.late !== undefined && cause === watch.late && request.keepLate === true)
    return { late: watch.late.message, truncated: true };
  // The watch ends what takes too much: a limit of this side.
  const isEarly = cause instanceof ConnectionError && watch.reason === undefined;
  if (!isEarly || request.keepIncomplete !== true) throw cause;
  const cut = isSilent ? 'time' : 'disconnect';
  return { lenient: { deviations: [], head: NOTHING, problem: messageOf(cause), cut } };
}
