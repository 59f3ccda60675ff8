// Garbage collection after large objects.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of an object, or of its indexed part, after which the memory of others is freed. */
export const LARGE_BYTES = 3 * 1024 * 1024;

/** Bytes of short-lived buffers after which {@link countBuffer} frees them. */
const BUFFERED_BYTES = 4 * 1024 * 1024;

/** Bytes of buffers that live longer after which {@link countRead} frees them. */
const OBJECT_BYTES = 32 * 1024 * 1024;

let collect: ((options?: { readonly type: 'minor' }) => void) | undefined;
let buffered = 0;
let objects = 0;

function collector(): (options?: { readonly type: 'minor' }) => void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  }
  return collect;
}

/**
 * Frees the memory of large objects that are no longer used. V8 counts the bytes of buffers late, so that
 * several objects of 60 MB would wait for their collection. Takes some milliseconds.
 */
export function collectGarbage(): void {
  buffered = 0;
  objects = 0;
  collector()();
}

/**
 * Counts a buffer that a stream of a large object has used for one piece, and frees some megabytes of them at a
 * time.
 */
export function countBuffer(bytes: number): void {
  buffered += bytes;
  if (buffered < BUFFERED_BYTES) return;
  buffered = 0;
  collector()({ type: 'minor' });
}

/**
 * Counts objects that a walk over a whole store has read, which survive minor collections, and frees some tens
 * of megabytes at a time.
 */
export function countRead(bytes: number): void {
  objects += bytes;
  if (objects >= OBJECT_BYTES) collectGarbage();
}
