import type { EssenceSources } from './context.js';
import type { WorkerEnd } from './document-worker.js';
import type { EssenceInput, EssenceLink, EssenceOptions, EssenceOutput } from './model.js';
import type { DraftPiece } from './summary.js';

/** The worker data of a thread: plain data, from which it compiles its own context. */
export interface WorkerSetup {
  readonly options: EssenceOptions;
  readonly sources: EssenceSources;
  /**
   * E-45: the thread of a reader process reads every document; other threads read only what `trust.ts` allows.
   * Default false.
   */
  readonly isolated?: boolean;
  /**
   * Milliseconds of processor time after which a reader stops by itself and keeps what it has read (E-70).
   * Default: no limit.
   */
  readonly readingMs?: number;
}

/** A document on its way to a worker. */
export interface WorkerRequest {
  readonly input: EssenceInput;
}

/** A worker posts `ready` once, then for each request, in order, pieces of the document and one reply. */
export type WorkerReply =
  /** The number of the thread, by which its processor time is measured; absent where threads have none. */
  | { readonly ready: true; readonly thread?: number | undefined }
  | { readonly piece: DraftPiece }
  | { readonly output: PackedOutput }
  | { readonly failure: string }
  /** Only a reader process may read the document (E-45). */
  | { readonly untrusted: true };

/** The first message to a reader process. */
export interface ReaderSetup {
  readonly worker: WorkerSetup;
  /** MiB of the whole process. */
  readonly maxMemoryMb: number;
}

/** A message from a reader process: what its thread posts, and the reason why the process is about to end. */
export type ReaderMessage = {
  /** Milliseconds of processor time that the process and its programs have used. */
  readonly processorMs: number;
} & (
  | Exclude<WorkerReply, { readonly untrusted: true } | { readonly piece: DraftPiece }>
  | { readonly pieces: readonly DraftPiece[] }
  | { readonly end: WorkerEnd }
);

/** An output as it is posted: a page's hundreds of links are one buffer instead of an object each. */
export type PackedOutput = Omit<EssenceOutput, 'links'> & { readonly links: Uint8Array };

/** Encodes an output for {@link unpackOutput}; its buffers can be transferred. */
export function packOutput(output: EssenceOutput): PackedOutput {
  const { links, soif } = output;
  return {
    ...output,
    links: packLinks(links),
    ...(soif === undefined ? {} : { soif: detached(soif) }),
  };
}

/** Decodes the result of {@link packOutput}. */
export function unpackOutput(packed: PackedOutput): EssenceOutput {
  return { ...packed, links: unpackLinks(packed.links) };
}

const NO_LINKS: readonly EssenceLink[] = [];
const LINE_END = 0x0a;
const HOPS: ReadonlyMap<number, EssenceLink['hop']> = new Map(
  (['L', 'E', 'R', 'X'] as const).map((hop) => [hop.charCodeAt(0), hop]),
);

/** One line per link: the hop's letter, then the URL, which in its canonical form contains no line end. */
function packLinks(links: readonly EssenceLink[]): Uint8Array {
  if (links.length === 0) return new Uint8Array();
  let lines = '';
  for (const { url, hop } of links) lines += `${hop}${url}\n`;
  return detached(Buffer.from(lines));
}

/** Decodes every URL separately: substrings of one long string would keep all of it in memory. */
function unpackLinks(packed: Uint8Array): readonly EssenceLink[] {
  if (packed.length === 0) return NO_LINKS;
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const links: EssenceLink[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, start);
    links.push({
      url: bytes.toString('utf8', start + 1, end),
      hop: HOPS.get(bytes[start] ?? 0) ?? 'L',
    });
    start = end + 1;
  }
  return links;
}

/** Returns the bytes' buffer if they are all of it, so that it can be transferred. */
export function transferable(bytes: Uint8Array | undefined): ArrayBuffer[] {
  if (bytes === undefined || bytes.length === 0 || !(bytes.buffer instanceof ArrayBuffer)) return [];
  return bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

/** Returns bytes that are all of their buffer, copied if necessary, so that a message carries nothing else. */
function detached(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
    ? bytes
    : new Uint8Array(bytes);
}
