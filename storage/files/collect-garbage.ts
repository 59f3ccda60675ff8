// Garbage collection after large objects, and in all threads after a load.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel } from 'node:worker_threads';

/** Bytes of an object, or of its indexed part, after which the memory of others is freed. */
export const LARGE_BYTES = 3 * 1024 * 1024;

/** Bytes of short-lived buffers after which {@link countBuffer} frees them. */
const BUFFERED_BYTES = 4 * 1024 * 1024;

/** Bytes of buffers that live longer after which {@link countRead} frees them. */
const OBJECT_BYTES = 32 * 1024 * 1024;

/** Since this version, of Node 22, a heap keeps free pages in reserve, unless it is told that memory is short. */
const RESERVING_V8 = 12;

/** The name under which the threads of this process are asked to collect. */
const CHANNEL = 'harvest: collect garbage';

type Collect = (options?: { readonly type: 'minor' | 'major'; readonly flavor?: 'last-resort' }) => void;

let collect: Collect | undefined;
let buffered = 0;
let objects = 0;

function collector(): Collect {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
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

/**
 * Frees what this thread and those that {@link collectOnRequest} do not use, and returns it to the system. Stops each
 * for a tenth of a second and more.
 */
export function collectEverywhere(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(undefined);
  channel.close();
  collectAndReturn();
}

/** From now on this thread takes part in {@link collectEverywhere}. */
export function collectOnRequest(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = collectAndReturn;
  channel.unref();
}

function collectAndReturn(): void {
  if (Number.parseInt(process.versions.v8, 10) < RESERVING_V8) collector()();
  else collector()({ type: 'major', flavor: 'last-resort' });
}
