import type { EssenceInput, EssenceOptions, EssenceOutput, EssenceSources } from './context.js';

/** What a worker is born with: plain data, from which it compiles its own context. */
export interface WorkerSetup {
  readonly options: EssenceOptions;
  readonly sources: EssenceSources;
}

/** A document on its way to a worker. */
export interface WorkerRequest {
  readonly input: EssenceInput;
}

/** A worker says once that it is ready, then answers one request at a time, in order. */
export type WorkerReply =
  | { readonly ready: true }
  | { readonly output: EssenceOutput }
  | { readonly failure: string };

/** The buffers that can change hands with a message: those that nothing else has a view of. */
export function transferable(bytes: Uint8Array | undefined): ArrayBuffer[] {
  if (bytes === undefined || bytes.length === 0 || !(bytes.buffer instanceof ArrayBuffer)) return [];
  return bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

/** The same bytes in a buffer of their own, so that a message carries them and not what lies beside them. */
export function detached(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
    ? bytes
    : new Uint8Array(bytes);
}
