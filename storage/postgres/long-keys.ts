// Keys as the primary key of a table. An index of PostgreSQL takes about 2 700 bytes; URLs may be longer.
import { createHash } from 'node:crypto';

/** Bytes up to which a key is itself in the index. */
const LONGEST_KEY = 2000;
const DIGEST_BYTES = 32;

/** A key of the index: the key itself, or its beginning and its SHA-256 if it is long. */
export function indexKey(key: Uint8Array): Uint8Array {
  if (key.length <= LONGEST_KEY) return key;
  const beginning = key.subarray(0, LONGEST_KEY - DIGEST_BYTES);
  return Buffer.concat([beginning, createHash('sha256').update(key).digest()]);
}

/** Whether {@link indexKey} is not the key itself, so that the row has the key beside it. */
export function isLong(key: Uint8Array): boolean {
  return key.length > LONGEST_KEY;
}
