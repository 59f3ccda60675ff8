// Bodies that are too large for memory: they are on disk, and read in pieces.

/** A file for one body, which its caller provides and which ends with it. */
export interface BodyFile {
  /** @throws KitError if there is no room */
  append(bytes: Uint8Array): Promise<void>;
  /** Yields the bytes in pieces; each is valid until the next one is requested. */
  pieces(start?: number, end?: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** The bytes of a body on disk. */
export interface StoredBody {
  readonly length: number;
  /** SHA-1 of the bytes, 20 bytes; computed as they arrived. */
  readonly sha1: Uint8Array;
  /** Yields the bytes in pieces; each is valid until the next one is requested. */
  pieces(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /** Gives the disk space back; nothing can be read any more. */
  close(): Promise<void>;
}

/** The bytes of a body: in memory, or on disk if they are many. */
export type BodyBytes = Uint8Array | StoredBody;

/** Gives back the disk space of a result's bodies, if they have any; its `body` in memory stays. */
export async function closeBodies({
  wire,
}: {
  readonly wire?: { readonly body: BodyBytes; readonly framed?: BodyBytes | undefined } | undefined;
}): Promise<void> {
  for (const bytes of [wire?.body, wire?.framed])
    if (bytes !== undefined && isStored(bytes)) await bytes.close();
}

/**
 * Returns the first bytes of a body, as an array of their own.
 * @throws the errors of reading what is on disk
 */
export async function beginningOf(body: BodyBytes, maxBytes: number): Promise<Uint8Array> {
  if (!isStored(body)) return body.slice(0, maxBytes);
  const bytes = new Uint8Array(Math.min(body.length, maxBytes));
  let at = 0;
  for await (const piece of body.pieces(0, bytes.length)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Returns whether the bytes are on disk. */
export function isStored(bytes: BodyBytes): bytes is StoredBody {
  return !(bytes instanceof Uint8Array);
}
