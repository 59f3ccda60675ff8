// Stored objects as replies: the raw bytes, and the part that the readable view shows. A large object is read
// in pieces.
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type ByteSource, decodeSoif, readOutline, readRange } from '../../../protocols/soif/index.js';
import { countRead } from '../../../storage/files/collect-garbage.js';
import type { StoredParts } from '../../../storage/index.js';
import { MAX_ATTRIBUTES, MAX_VALUE, type ShownObject } from './object-page.js';

/** Bytes of the values of a large object that its page shows; further values are in the raw summary. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/** Sends the bytes of an object, and closes a large one. */
export async function sendObject(
  reply: FastifyReply,
  object: Uint8Array | StoredParts,
): Promise<FastifyReply> {
  if (object instanceof Uint8Array) {
    return withType(reply, await charsetOf([object])).send(object);
  }
  try {
    // All bytes are read and verified before the first is sent.
    const charset = await charsetOf(counted(object));
    // Reading ahead would hold several parts.
    const body = Readable.from(counted(object), { objectMode: true, highWaterMark: 1 });
    if (reply.raw.destroyed) await object[Symbol.asyncDispose]();
    else reply.raw.once('close', () => void object[Symbol.asyncDispose]());
    return withType(reply, charset).header('content-length', object.length).send(body);
  } catch (error) {
    await object[Symbol.asyncDispose]();
    throw error;
  }
}

/** The pieces of an object. Those of several replies at a time outlive minor garbage collections. */
async function* counted(object: ByteSource): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of object.pieces()) {
    countRead(piece.length);
    yield piece;
  }
}

function withType(reply: FastifyReply, charset: string): FastifyReply {
  return reply.type(`text/plain; charset=${charset}`).header('x-robots-tag', 'noindex');
}

/**
 * Returns the character set of an object. SOIF does not define one (SOIF-7.4): UTF-8 if the bytes are valid
 * UTF-8, else windows-1252.
 */
async function charsetOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  let isText = true;
  /** The beginning of a character that the piece before cuts. */
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of pieces) {
    // The others are read too: their checksum is compared.
    if (!isText) continue;
    const from = Math.min(piece.length, rest.length === 0 ? 0 : missingBytes(rest));
    const first = Buffer.concat([rest, piece.subarray(0, from)]);
    const cut = lastCharacter(piece, from);
    isText = isUtf8(first) && isUtf8(piece.subarray(from, cut));
    rest = piece.slice(cut);
  }
  return isText && rest.length === 0 ? 'utf-8' : 'windows-1252';
}

/** Bytes of a character that its beginning lacks. */
function missingBytes(beginning: Uint8Array): number {
  const lead = beginning[0] ?? 0;
  return (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2) - beginning.length;
}

/** Where the character begins that the end of the bytes cuts; their length if it cuts none. */
function lastCharacter(bytes: Uint8Array, from: number): number {
  for (let at = bytes.length - 1; at >= Math.max(from, bytes.length - 3); at--) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0xc0) return missingBytes(bytes.subarray(at)) > 0 ? at : bytes.length;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

/** Returns the part of an object that the readable view shows; closes a large one. */
export async function shownObject(stored: Uint8Array | StoredParts): Promise<ShownObject> {
  if (stored instanceof Uint8Array) {
    const { type, url, attributes } = decodeSoif(stored, { maxObjectBytes: stored.length });
    const values = attributes.map(({ name, value }) => ({ name, value, length: value.length }));
    return { type, url, bytes: stored.length, size: attributes.length, attributes: values };
  }
  await using parts = stored;
  return await shownLarge(parts);
}

async function shownLarge(source: ByteSource): Promise<ShownObject> {
  const { head, attributes } = await readOutline(source);
  const shown: ShownObject['attributes'][number][] = [];
  let left = MAX_SHOWN_BYTES;
  for (const { name, start, end } of attributes.slice(0, MAX_ATTRIBUTES)) {
    const bytes = Math.min(end - start, MAX_VALUE, left);
    left -= bytes;
    shown.push({ name, value: await readRange(source, start, start + bytes), length: end - start });
  }
  const { type, url } = head;
  return { type, url, bytes: source.length, size: attributes.length, attributes: shown };
}
