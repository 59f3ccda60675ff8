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

/** Returns whether the bytes are on disk. */
export function isStored(bytes: BodyBytes): bytes is StoredBody {
  return !(bytes instanceof Uint8Array);
}
