// The reply to `#BULK`, in the shipped format and in the interface of 1995.

import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { type BrokerMessage, REPLY, VERSION_TEXT } from '../../../protocols/broker/index.js';
import {
  BULK_ERROR,
  BulkReplyEncoder,
  CHANGE_KINDS,
  type ChangeKind,
  encodeBulkError,
  encodeBulkSuccess,
  encodeDigest,
  formatTransferText,
  groupClose,
  groupOpen,
} from '../../../protocols/bulk/index.js';
import { encodeGzipTrailer, GZIP_HEADER } from '../../../protocols/gatherd/index.js';
import { Mutex } from '../../../protocols/mutex.js';
import type { Debug, HostConnection } from '../../host/index.js';
import type { RequestLog } from '../admin/request-log.js';
import { writePage } from '../query/page-items.js';
import type { PageBudget } from '../query/reply-memory.js';
import type { RequestContext } from '../query/request-context.js';
import { type BrokerDescription, encodeDescription } from './object-list.js';
import type { BulkRefusal, BulkTransfer, BulkTransfers } from './transfer.js';

/** The parts of a Broker that the reply to a bulk request uses. */
export interface BulkBroker {
  readonly bulk: BulkTransfers;
  readonly requests: RequestLog;
  readonly debug: Debug;
  /** The facts for the Header of the interface of 1995 (BP-12). */
  description(): Promise<BrokerDescription>;
}

type BulkMessage = BrokerMessage & { readonly kind: 'bulk' };

/** Objects sent, by group. */
type BulkCounts = Record<ChangeKind, number>;

/** Characters of a notice, which repeats the peer's words: a string has 64 KiB at most (BP-27). */
const MAX_NOTICE = 8192;

const encoder = new BulkReplyEncoder();

/**
 * Answers `#BULK` in the shipped format (BT-9 to BT-17) or, on request, in that of 1995 (Part B). While the
 * client reads, the transfer occupies the memory of one page and no slot.
 *
 * A transfer that fails in the middle ends without its closing braces, or without its Trailer; the caller
 * closes the connection (BT-10).
 */
export async function answerBulk(
  connection: HostConnection,
  message: BulkMessage,
  line: string,
  broker: BulkBroker,
  request: RequestContext,
): Promise<void> {
  const { address } = connection.peer;
  broker.requests.bulk('Bulk-Transfer', address, line);
  const started = performance.now();
  const counts: BulkCounts = { delete: 0, refresh: 0, update: 0 };
  let outcome = 'aborted';
  try {
    const answer = message.flags.interface === 2 ? answerProposed : answerShipped;
    outcome = await answer(connection, message, broker, request, counts);
  } finally {
    // BT-28
    const sent = `${counts.delete} deleted, ${counts.refresh} refreshed, ${counts.update} updated`;
    const milliseconds = Math.round(performance.now() - started);
    broker.requests.bulk('Bulk-Return', address, `${outcome}: ${sent}, ${milliseconds} ms`);
    broker.debug(75, 1, () => `bulk transfer to ${address}: ${outcome}: ${sent}`);
  }
}

/** Answers in the shipped format (Part A). */
async function answerShipped(
  connection: HostConnection,
  { flags, query }: BulkMessage,
  broker: BulkBroker,
  request: RequestContext,
  counts: BulkCounts,
): Promise<string> {
  if (flags.digest !== undefined || flags.compress === true) {
    return refuse(connection, '#digest and #compress need #interface 2', request);
  }
  const transfer = await broker.bulk.prepare(query, flags, request);
  if ('refused' in transfer) return refuse(connection, transfer.refused, request);
  await connection.write(encodeBulkSuccess(formatTransferText(transfer.time)));
  for await (const bytes of encodeGroups(transfer, request.pages, counts)) {
    await writePage(connection, bytes, request.pages);
  }
  return 'sent';
}

async function refuse(
  connection: HostConnection,
  sentence: string,
  request: RequestContext,
): Promise<string> {
  await request.beforeRefusal();
  await connection.write(encodeBulkError(sentence));
  return `refused, ${sentence}`;
}

/** Answers in the interface of 1995 (Part B): Version, Header, Body, Trailer. */
async function answerProposed(
  connection: HostConnection,
  { flags, query }: BulkMessage,
  broker: BulkBroker,
  request: RequestContext,
  counts: BulkCounts,
): Promise<string> {
  // BP-11: the shipped version line, which was sent before the message was read, is not part of this interface.
  await connection.write(encoder.version(VERSION_TEXT));
  if (flags.digest !== undefined) {
    // BP-21: the digest is sent as STATS.
    const data = encodeDigest(await broker.bulk.digests.report(flags.digest, request.signal));
    await connection.write(encoder.trailer({ kind: 'stats', data }));
    return 'digest sent';
  }
  const transfer = await broker.bulk.prepare(query, flags, request);
  if ('refused' in transfer) return refuseProposed(connection, transfer, request);
  // BP-12
  await connection.write(encodeDescription(encoder, await broker.description()));
  await connection.write(encoder.info({ field: 'message', text: formatTransferText(transfer.time) }));
  // BRK-3.5; the shipped format has no place for notices in its data.
  for (const flag of flags.unknown) {
    const { text } = REPLY.unknownFlag(flag);
    await connection.write(encoder.info({ field: 'message', text: text.slice(0, MAX_NOTICE) }));
  }
  if (flags.compress === true) {
    // BP-16
    await connection.write(encoder.compressedStart());
    for await (const bytes of readAhead(
      gzipPieces(encodeGroups(transfer, request.pages, counts)),
      request.pages,
    )) {
      await writePage(connection, bytes, request.pages);
    }
    await connection.write(encoder.compressedEnd());
  } else {
    for await (const bytes of encodeGroups(transfer, request.pages, counts)) {
      await writePage(connection, bytes, request.pages);
    }
  }
  const count = counts.delete + counts.refresh + counts.update;
  await connection.write(encoder.trailer({ kind: 'count', count }));
  return 'sent';
}

/** BP-23: refuses with an ERROR as Trailer. */
async function refuseProposed(
  connection: HostConnection,
  { refused, error }: BulkRefusal,
  request: RequestContext,
): Promise<string> {
  await request.beforeRefusal();
  await connection.write(encoder.trailer({ kind: 'error', number: BULK_ERROR[error], text: refused }));
  return `refused, ${refused}`;
}

/** BT-14 to BT-17: yields the three groups; empty ones are sent too. */
async function* encodeGroups(
  transfer: BulkTransfer,
  pages: PageBudget,
  counts: BulkCounts,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const group of CHANGE_KINDS) {
    yield groupOpen(group);
    for await (const { bytes, objects } of readAhead(transfer.pages(group), pages)) {
      counts[group] += objects;
      yield bytes;
    }
    yield groupClose(group);
  }
}

/** Yields the same pieces. While one is sent, the next is produced, unless many replies share the memory. */
async function* readAhead<T>(
  pieces: AsyncGenerator<T, void, undefined>,
  pages: PageBudget,
): AsyncGenerator<T, void, undefined> {
  let next: Promise<IteratorResult<T, void>> | undefined;
  try {
    for (;;) {
      const piece = await (next ?? pieces.next());
      if (piece.done === true) return;
      next = pages.mayReadAhead ? pieces.next() : undefined;
      // A rejection is thrown when the piece is awaited. If the consumer stops before that, it must not be
      // unhandled.
      next?.catch(() => undefined);
      yield piece.value;
    }
  } finally {
    await pieces.return();
  }
}

const deflate = promisify(deflateRaw);

/** Pieces that are compressed at a time, by all replies: each takes 256 KiB while it is compressed. */
const LANES = Array.from({ length: 4 }, () => new Mutex());
let nextLane = 0;

/** Bytes of output for each turn in the thread pool. */
const MIN_CHUNK = 1024;
const MAX_CHUNK = 64 * 1024;

/**
 * Yields one gzip member with the pieces. Each piece is compressed on its own and flushed, so that a reply that
 * waits for its reader has no compressor in memory.
 */
async function* gzipPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let crc = 0;
  let length = 0;
  yield GZIP_HEADER;
  for await (const piece of pieces) {
    crc = crc32(piece, crc);
    length += piece.length;
    yield await compress(piece, constants.Z_FULL_FLUSH);
  }
  // An empty final block ends the member.
  yield await compress(new Uint8Array(0), constants.Z_FINISH);
  yield encodeGzipTrailer(crc, length);
}

function compress(piece: Uint8Array, finishFlush: number): Promise<Uint8Array> {
  const lane = LANES[nextLane++ % LANES.length]!;
  const chunkSize = Math.max(MIN_CHUNK, Math.min(MAX_CHUNK, piece.length >> 1));
  return lane.runExclusive(() => deflate(piece, { finishFlush, chunkSize }));
}
