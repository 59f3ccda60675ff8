import { bufferOf } from '../bytes.js';
import type { EssenceSources } from '../context.js';
import type { DraftPiece } from '../document.js';
import type { EssenceInput, EssenceLink, EssenceOptions, EssenceOutput } from '../model.js';

/** The worker data of a thread: plain data, from which it compiles its own context. */
export interface WorkerSetup {
  readonly options: EssenceOptions;
  readonly sources: EssenceSources;
  /**
   * E-45: the thread of a reader process reads every document; other threads read only what `recognition/trust.ts`
   * allows. Default false.
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
  const bytes = bufferOf(packed);
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

// What a pool needs of a worker, whether it is a thread or a process.

/** The reply of a worker to one document. */
export type DocumentReply =
  | { readonly kind: 'output'; readonly output: EssenceOutput }
  /** An error of a summarizer, or the end of the worker; with the parts that were read before. */
  | { readonly kind: 'failure'; readonly reason: string; readonly pieces?: readonly DraftPiece[] }
  /** The worker is a thread, and only a reader process may read this document (E-45). */
  | { readonly kind: 'untrusted' };

/** Why a worker ended by itself. */
export interface WorkerEnd {
  /** A clause, e.g. `reading it takes more than 384 MiB of memory`. */
  readonly reason: string;
  /** Set if the memory of documents before may be the cause: the document is read once more by a new worker. */
  readonly retry?: boolean;
}

/** Calls of a worker to its owner. The end is reported once, and nothing after it. */
export interface WorkerEvents {
  ready(): void;
  /** Further pieces of the current document. */
  draft(pieces: readonly DraftPiece[]): void;
  reply(reply: DocumentReply): void;
  ended(end: WorkerEnd): void;
}

/** Summarizes the documents that are posted to it, one at a time; the replies come in the same order. */
export interface DocumentWorker {
  post(input: EssenceInput): void;
  /** Milliseconds of processor time that the worker has used so far, as far as is known; it never shrinks. */
  processorMs(): number;
  /** Whether the worker keeps this process alive. */
  hold(busy: boolean): void;
  /** Ends it at once, whatever it is doing, and waits until it is gone. */
  end(): Promise<void>;
}

// Documents on the pipe to a reader process: a frame is the length of the head, the length of the body (4 bytes
// each, little-endian), the head as JSON, the body. The body arrives in a buffer of its exact size, so that a
// large document is in memory once.

const PREFIX_BYTES = 8;

/** Encodes the part of a frame before the body. */
export function frameHead(input: EssenceInput): Uint8Array {
  const { body, ...rest } = input;
  const head = Buffer.from(JSON.stringify(rest));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(body.length, 4);
  return Buffer.concat([prefix, head]);
}

/**
 * Assembles documents from the chunks of a pipe. The peer is the pool of the same version, so the bytes are not
 * checked.
 */
export class FrameReader {
  readonly #onDocument: (input: EssenceInput) => void;
  #current = Buffer.alloc(PREFIX_BYTES);
  #filled = 0;
  #part: 'prefix' | 'head' | 'body' = 'prefix';
  #bodyBytes = 0;
  #head: Omit<EssenceInput, 'body'> | undefined;

  constructor(onDocument: (input: EssenceInput) => void) {
    this.#onDocument = onDocument;
  }

  /** Adds a chunk; calls the constructor's function for each document that is complete. */
  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, this.#current.length - this.#filled);
      this.#current.set(chunk.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      while (this.#filled === this.#current.length) this.#next();
    }
  }

  #next(): void {
    const bytes = this.#current;
    if (this.#part === 'prefix') {
      this.#bodyBytes = bytes.readUInt32LE(4);
      this.#expect('head', bytes.readUInt32LE(0));
    } else if (this.#part === 'head') {
      this.#head = JSON.parse(bytes.toString('utf8'));
      this.#expect('body', this.#bodyBytes);
    } else {
      const head = this.#head!;
      this.#expect('prefix', PREFIX_BYTES);
      this.#onDocument({ ...head, body: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) });
    }
  }

  #expect(part: 'prefix' | 'head' | 'body', bytes: number): void {
    this.#part = part;
    this.#filled = 0;
    // Not from Node's pool: the body is transferred to a thread.
    this.#current = Buffer.from(new ArrayBuffer(bytes));
  }
}
