// Replies with long lists, within the memory for replies of the Broker.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ReplyMemory } from '../query/reply-memory.js';
import type { Visitor } from './visitor.js';

/** Bytes of an object in a list, about. */
const OBJECT_BYTES = 512;
/** Lists up to this size are not counted. */
const SMALL_BYTES = 128 * 1024;
/** Bytes that are passed to the connection at a time, so that the progress of its client is known. */
const PIECE_BYTES = 128 * 1024;

/** The memory of a long list until its client has read it. */
export interface ListMemory extends Disposable {
  /** The client has accepted so many bytes. */
  progress(bytes: number): void;
}

/**
 * Waits for the memory of a list before it is written. While others wait, the slowest client is cut
 * (`reply-memory.ts`), so that hundreds that do not read occupy no more than a few.
 *
 * @param cut ends the reply
 * @returns undefined for a short list
 */
export async function holdList(
  objects: number,
  memory: ReplyMemory,
  { client, signal }: Visitor,
  cut: () => void,
): Promise<ListMemory | undefined> {
  const bytes = objects * OBJECT_BYTES;
  if (bytes <= SMALL_BYTES) return undefined;
  const reply = memory.enter({ client, cut });
  try {
    const held = await reply.hold(bytes, signal);
    return {
      progress: (sent) => reply.progress(sent),
      [Symbol.dispose]: () => {
        held[Symbol.dispose]();
        reply[Symbol.dispose]();
      },
    };
  } catch (error) {
    reply[Symbol.dispose]();
    throw error;
  }
}

/** Sends a list piece by piece as its client reads, then gives the memory back. */
export function sendList(reply: FastifyReply, body: string, memory: ListMemory): FastifyReply {
  const bytes = Buffer.from(body);
  const release = (): void => memory[Symbol.dispose]();
  if (reply.raw.destroyed) release();
  else reply.raw.once('close', release);
  const pieces = function* (): Generator<Uint8Array, void, undefined> {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const piece = bytes.subarray(from, from + PIECE_BYTES);
      yield piece;
      memory.progress(piece.length);
    }
  };
  const stream = Readable.from(pieces(), { objectMode: true, highWaterMark: 1 });
  return reply.header('content-length', bytes.length).send(stream);
}
