// Memory for buffers of megabytes.

/** Bytes from which a buffer is allocated by the system instead of the C library. */
const LARGE_BYTES = 512 * 1024;

/**
 * Allocates zeroed bytes, which return to the system as soon as they are freed. After it has freed a large
 * block, the C library keeps free blocks of up to twice that size in each thread; V8 asks the system for the
 * memory of a resizable buffer.
 */
export function largeBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  return bytes < LARGE_BYTES
    ? new Uint8Array(bytes)
    : new Uint8Array(new ArrayBuffer(bytes, { maxByteLength: bytes }));
}
