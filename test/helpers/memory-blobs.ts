// A store of blobs in memory, whose time and failures a test decides.
import {
  type BlobInfo,
  type BlobListOptions,
  type BlobReadOptions,
  type BlobRequestOptions,
  type BlobSource,
  type BlobStore,
  missingBlob,
  requireKey,
} from '../../storage/blobs/contract.js';

/** A call that reaches the store. */
export interface BlobCall {
  readonly method: 'put' | 'putIfAbsent' | 'read' | 'head' | 'list' | 'delete';
  readonly key: string;
}

/** What happens to a call: nothing, an error before it takes effect, or an error after. */
export type BlobFault = { readonly error: Error; readonly after?: boolean } | undefined;

/** What several clients share. */
export class MemoryBucket {
  readonly blobs = new Map<string, { readonly content: Buffer; readonly written: number }>();
  /** Seconds. */
  time = 0;
}

export class MemoryBlobs implements BlobStore {
  readonly address = 'memory';
  readonly calls: BlobCall[] = [];
  fault: (call: BlobCall) => BlobFault | Promise<BlobFault> = () => undefined;
  readonly #bucket: MemoryBucket;

  constructor(bucket: MemoryBucket = new MemoryBucket()) {
    this.#bucket = bucket;
  }

  put(key: string, source: BlobSource, options: BlobRequestOptions = {}): Promise<void> {
    return this.#call('put', requireKeyLater(key), options, async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of source.open(0, source.size)) pieces.push(piece);
      this.#store(key, Buffer.concat(pieces));
    });
  }

  putIfAbsent(key: string, content: Uint8Array, options: BlobRequestOptions = {}): Promise<boolean> {
    return this.#call('putIfAbsent', requireKeyLater(key), options, async () => {
      if (this.#bucket.blobs.has(key)) return false;
      this.#store(key, Buffer.from(content));
      return true;
    });
  }

  async *read(key: string, options: BlobReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const content = await this.#call('read', requireKeyLater(key), options, async () => {
      const found = this.#bucket.blobs.get(key);
      if (found === undefined) throw missingBlob(this.address, key);
      return found.content.subarray(options.start ?? 0, options.end);
    });
    for (let at = 0; at < content.length; at += 1000) yield content.subarray(at, at + 1000);
  }

  head(key: string, options: BlobRequestOptions = {}): Promise<BlobInfo | undefined> {
    return this.#call('head', requireKeyLater(key), options, async () => this.#info(key));
  }

  async *list(
    prefix: string,
    options: BlobListOptions = {},
  ): AsyncGenerator<readonly BlobInfo[], void, undefined> {
    const all = await this.#call(
      'list',
      () => prefix,
      options,
      async () =>
        [...this.#bucket.blobs.keys()].filter(
          (key) => key.startsWith(prefix) && (options.after === undefined || key > options.after),
        ),
    );
    all.sort();
    for (let at = 0; at < all.length; at += 3)
      yield all.slice(at, at + 3).flatMap((key) => this.#info(key) ?? []);
  }

  delete(key: string, options: BlobRequestOptions = {}): Promise<void> {
    return this.#call('delete', requireKeyLater(key), options, async () => {
      this.#bucket.blobs.delete(key);
    });
  }

  async close(): Promise<void> {
    // Holds nothing.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #store(key: string, content: Buffer): void {
    this.#bucket.blobs.set(key, { content, written: this.#bucket.time });
  }

  #info(key: string): BlobInfo | undefined {
    const found = this.#bucket.blobs.get(key);
    return found && { key, size: found.content.length, ageSeconds: this.#bucket.time - found.written };
  }

  async #call<T>(
    method: BlobCall['method'],
    keyOf: () => string,
    { signal }: BlobRequestOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = keyOf();
    signal?.throwIfAborted();
    this.calls.push({ method, key });
    const fault = await this.fault({ method, key });
    if (fault !== undefined && fault.after !== true) throw fault.error;
    const result = await work();
    if (fault !== undefined) throw fault.error;
    return result;
  }
}

/** Refuses a bad key within the call, whose promise is rejected. */
function requireKeyLater(key: string): () => string {
  return () => requireKey(key);
}
