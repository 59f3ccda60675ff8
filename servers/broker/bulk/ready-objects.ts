// All objects of the store as a complete transfer has sent them, kept in a file until the store changes.
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { StorageError } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { hasSpareSpace } from '../../../storage/files/free-space.js';
import { openNameless } from '../../../storage/files/nameless-file.js';
import type { BrokerStore } from '../../../storage/index.js';
import type { RequestContext } from '../query/request-context.js';

/** Whole objects, one after the other, each with LF at its end, or a piece of a large object. */
export interface BulkPage {
  readonly bytes: Uint8Array;
  /** Objects that end in this page. */
  readonly objects: number;
}

/** Options of {@link ReadyObjects}. */
export interface ReadyObjectsOptions {
  readonly store: Pick<BrokerStore, 'lastSequence' | 'nextExpiry'>;
  /** On the disk that may have the file. */
  readonly directory: string;
  /** Bytes of a larger transfer are not kept. 0 keeps none. */
  readonly maxBytes: () => number;
  readonly now: () => UnixSeconds;
}

/** Bytes between two looks at the free space. */
const LOOK_BYTES = 64 * 1024 * 1024;

/**
 * Pages whose bytes are in use while the next one is read: one that is being sent, the end of the one before
 * it, which the socket may not have sent yet, and one that was read ahead. New memory for each page costs more
 * than its bytes.
 */
const IN_USE = 3;

/** Bytes of the file with a checksum: those of the smallest page. */
const BLOCK_BYTES = 32 * 1024;

/** A transfer in a file that has no name and ends with the process. */
interface Recording {
  readonly file: FileHandle;
  bytes: number;
  objects: number;
  /** The checksum of each block, also of the last one, which need not be full. */
  readonly crcs: number[];
  /** Transfers that read it. */
  readers: number;
  /** Whether others have taken its place: the last reader closes it. */
  replaced: boolean;
}

/** Objects that do not change: the store's state, and the time before which none of them expires. */
interface Ready {
  readonly recording: Recording;
  readonly sequence: number;
  /** The seconds at which exactly its objects are valid; after the clock was set back others are, too. */
  readonly from: UnixSeconds;
  readonly until: UnixSeconds;
}

/**
 * Keeps a complete transfer while it is sent, so that the next one, e.g. to a client of 1998, which requests
 * everything each time, costs as much as reading a file: a walk over the store takes each object out of
 * LevelDB, ten times as long. One transfer at a time is kept, and only if the store did not change meanwhile.
 */
export class ReadyObjects implements AsyncDisposable {
  readonly #options: ReadyObjectsOptions;
  #ready: Ready | undefined;
  #isRecording = false;
  #closed = false;

  constructor(options: ReadyObjectsOptions) {
    this.#options = options;
  }

  /**
   * Yields the objects from the file, or those of `walk`. The bytes of a page are valid until the third page
   * after it is requested.
   *
   * @param walk yields all valid objects of the store
   */
  async *pages(
    walk: () => AsyncGenerator<BulkPage, void, undefined>,
    request: RequestContext,
  ): AsyncGenerator<BulkPage, void, undefined> {
    const { store, now } = this.#options;
    const ready = this.#ready;
    const time = now();
    const isValid = ready !== undefined && time >= ready.from && time < ready.until;
    if (isValid && store.lastSequence === ready.sequence) {
      yield* this.#read(ready.recording, request);
      return;
    }
    // Its space is free before another one takes as much.
    await this.#replace(undefined);
    if (this.#isRecording || this.#closed || this.#options.maxBytes() === 0) yield* walk();
    else yield* this.#record(walk);
  }

  /** Closes the file. A transfer that reads it ends first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#replace(undefined);
  }

  async *#record(
    walk: () => AsyncGenerator<BulkPage, void, undefined>,
  ): AsyncGenerator<BulkPage, void, undefined> {
    this.#isRecording = true;
    const { store, now, directory } = this.#options;
    let recording: Recording | undefined;
    try {
      const sequence = store.lastSequence;
      const from = now();
      const until = await store.nextExpiry(from);
      const file = await openNameless(directory).catch(() => undefined);
      if (file !== undefined)
        recording = { file, bytes: 0, objects: 0, crcs: [], readers: 0, replaced: false };
      for await (const page of walk()) {
        if (recording !== undefined && !(await this.#add(recording, page))) {
          await recording.file.close();
          recording = undefined;
        }
        yield page;
      }
      if (recording === undefined || store.lastSequence !== sequence || this.#closed) return;
      await this.#replace({ recording, sequence, from, until });
      recording = undefined;
    } finally {
      this.#isRecording = false;
      await recording?.file.close();
    }
  }

  /** Appends a page; false if there is no room for it. */
  async #add(recording: Recording, { bytes, objects }: BulkPage): Promise<boolean> {
    const { maxBytes, directory } = this.#options;
    const end = recording.bytes + bytes.length;
    if (end > maxBytes()) return false;
    try {
      const isDue = Math.floor(end / LOOK_BYTES) !== Math.floor(recording.bytes / LOOK_BYTES);
      if (isDue && !(await hasSpareSpace(directory, end))) return false;
      const { bytesWritten } = await recording.file.write(bytes, 0, bytes.length, recording.bytes);
      if (bytesWritten < bytes.length) return false;
    } catch {
      // The disk is full.
      return false;
    }
    addChecksums(recording, bytes);
    recording.bytes = end;
    recording.objects += objects;
    return true;
  }

  async *#read(
    recording: Recording,
    { pages: share, signal }: RequestContext,
  ): AsyncGenerator<BulkPage, void, undefined> {
    recording.readers++;
    const buffers: (Buffer | undefined)[] = Array.from({ length: IN_USE + 1 }, () => undefined);
    try {
      for (let at = 0; at < recording.bytes; ) {
        signal.throwIfAborted();
        const blocks = Math.max(1, Math.floor(share.pageBytes / BLOCK_BYTES));
        const length = Math.min(blocks * BLOCK_BYTES, recording.bytes - at);
        using _held = await share.hold(length, signal);
        const spare = buffers.shift();
        const target = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafeSlow(length);
        buffers.push(target);
        const { bytesRead } = await share.read(() => recording.file.read(target, 0, length, at));
        const bytes = target.subarray(0, bytesRead);
        if (bytesRead < length || !hasChecksums(recording, bytes, at)) {
          if (this.#ready?.recording === recording) await this.#replace(undefined);
          throw new StorageError(
            'the file of complete transfers is damaged; the next transfer makes it again',
          );
        }
        at += length;
        yield { bytes, objects: at === recording.bytes ? recording.objects : 0 };
      }
    } finally {
      recording.readers--;
      if (recording.replaced && recording.readers === 0) await recording.file.close();
    }
  }

  async #replace(ready: Ready | undefined): Promise<void> {
    const former = this.#ready?.recording;
    this.#ready = ready;
    if (former === undefined) return;
    former.replaced = true;
    if (former.readers === 0) await former.file.close();
  }
}

/** Continues the checksums with bytes that follow. */
function addChecksums({ crcs, bytes: end }: Recording, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    const block = Math.floor((end + at) / BLOCK_BYTES);
    const part = bytes.subarray(at, at + (block + 1) * BLOCK_BYTES - (end + at));
    crcs[block] = crc32(part, crcs[block] ?? 0);
    at += part.length;
  }
}

/** Whether bytes at the beginning of a block are those that were added. */
function hasChecksums({ crcs }: Recording, bytes: Uint8Array, position: number): boolean {
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    if (crc32(bytes.subarray(at, at + BLOCK_BYTES)) !== crcs[(position + at) / BLOCK_BYTES]) return false;
  }
  return true;
}
