import type { FileHandle } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

/** The inflated body of a gzip member. */
export interface InflatedMember {
  readonly buffer: Buffer;
  /** Compressed bytes of the body, without header and trailer. */
  readonly consumed: number;
}

/**
 * Inflates the body of the gzip member at the start of the bytes; others may follow it.
 *
 * @returns undefined if the body is incomplete or damaged, or has more than `maxBytes` inflated bytes
 */
export function inflateMember(bytes: Uint8Array, maxBytes: number): InflatedMember | undefined {
  try {
    const result: unknown = inflateRawSync(bytes, { info: true, maxOutputLength: maxBytes });
    return hasInfo(result) ? { buffer: result.buffer, consumed: result.engine.bytesWritten } : undefined;
  } catch {
    return undefined;
  }
}

/** The result of `inflateRawSync` with the option `info`, which its type does not describe. */
function hasInfo(
  result: unknown,
): result is { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } } {
  return typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result;
}

/** Reads `length` bytes, fewer only at the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let size = 0;
  while (size < length) {
    const { bytesRead } = await file.read(buffer, size, length - size, position + size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return buffer.subarray(0, size);
}
