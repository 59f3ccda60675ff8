// A store of blobs in a bucket of S3, or of another store that speaks its protocol.
import { StorageError } from '../../../protocols/errors.js';
import {
  type BlobInfo,
  type BlobListOptions,
  type BlobReadOptions,
  type BlobRequestOptions,
  type BlobSource,
  type BlobStore,
  isKey,
  missingBlob,
  requireKey,
} from '../contract.js';
import { bytesSource, readBlob } from '../sources.js';
import { type Environment, readAwsProfile } from './aws-profile.js';
import { readBucketAddress } from './bucket-address.js';
import {
  BucketClient,
  type BucketClientOptions,
  type BucketReply,
  type BucketRequest,
  type OpenReply,
} from './bucket-client.js';
import { putInParts } from './multipart.js';
import { parseReply, textIn } from './reply-xml.js';

export interface S3BlobsOptions extends BucketClientOptions {
  /** Bytes of the parts in which a larger blob is sent; at least 5 MiB for most stores. Default 64 MiB. */
  readonly partBytes?: number;
  /** Blobs on one page of a listing. Default 1000, which is the most that S3 sends. */
  readonly pageBlobs?: number;
  /** The variables of the environment, for tests. Default: those of this process. */
  readonly env?: Environment;
}

const DEFAULT_PART_BYTES = 64 << 20;
const PAGE_BLOBS = 1000;

/**
 * Opens a bucket by its URL, with the login of the AWS tools. Nothing is asked of the store yet.
 *
 * @throws StorageError if the URL cannot be understood, or no login is found
 */
export async function openBucket(place: string, options: S3BlobsOptions = {}): Promise<BlobStore> {
  const { env = process.env } = options;
  const profile = await readAwsProfile(env);
  const address = readBucketAddress(place, env, profile);
  if (profile.login === undefined)
    throw new StorageError(
      `${address.name}: no login is given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials`,
    );
  const renewLogin = async () => (await readAwsProfile(env)).login;
  return new S3Blobs(new BucketClient(address, profile.login, { renewLogin, ...options }), options);
}

/** Blobs as objects of a bucket, below a prefix. */
class S3Blobs implements BlobStore {
  readonly address: string;
  readonly #client: BucketClient;
  readonly #partBytes: number;
  readonly #pageBlobs: number;

  constructor(client: BucketClient, { partBytes, pageBlobs }: S3BlobsOptions) {
    this.#client = client;
    this.address = client.address.name;
    this.#partBytes = partBytes ?? DEFAULT_PART_BYTES;
    this.#pageBlobs = pageBlobs ?? PAGE_BLOBS;
  }

  async put(key: string, source: BlobSource, { signal }: BlobRequestOptions = {}): Promise<void> {
    requireKey(key);
    if (source.size > this.#partBytes) await putInParts(this.#client, key, source, this.#partBytes, signal);
    else await this.#client.send({ method: 'PUT', key, body: source, signal });
  }

  async putIfAbsent(key: string, content: Uint8Array, { signal }: BlobRequestOptions = {}): Promise<boolean> {
    requireKey(key);
    const { status } = await this.#client.send({
      method: 'PUT',
      key,
      headers: { 'if-none-match': '*' },
      body: bytesSource(content),
      accept: [412],
      signal,
    });
    if (status !== 412) return true;
    // The answer to an earlier attempt of this call may be lost.
    const stored = await readBlob(this, key, content.length, { signal }).catch((error: unknown) => {
      if (error instanceof StorageError && Reflect.get(error, 'isPassing') !== true) return undefined;
      throw error;
    });
    return stored?.equals(content) === true;
  }

  async *read(key: string, options: BlobReadOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    requireKey(key);
    const { start = 0, end = Number.POSITIVE_INFINITY } = options;
    using stopping = this.#client.link(options.signal);
    const { signal } = stopping;
    let at = start;
    let etag: string | undefined;
    let failures = 0;
    while (at < end) {
      const request: BucketRequest = {
        method: 'GET',
        key,
        headers: {
          ...(at === 0 && end === Number.POSITIVE_INFINITY
            ? {}
            : { range: `bytes=${at}-${end === Number.POSITIVE_INFINITY ? '' : end - 1}` }),
          ...(etag === undefined ? {} : { 'if-match': etag }),
        },
        accept: [404, 412, 416],
      };
      const reply = await this.#client.open(request, signal);
      if (reply.status === 404) throw missingBlob(this.address, key);
      if (reply.status === 412)
        throw new StorageError(`${this.address}/${key} was replaced while it was read`);
      if (reply.status === 416) return;
      const stop = Math.min(end, this.#endOf(reply, key, at));
      etag ??= headerOf(reply, 'etag');
      try {
        for await (const piece of reply.body) {
          const bytes = piece as Uint8Array;
          const wanted = bytes.length > stop - at ? bytes.subarray(0, stop - at) : bytes;
          if (wanted.length > 0) yield wanted;
          at += wanted.length;
          failures = 0;
        }
        if (at >= stop) return;
        throw this.#client.noReply(new StorageError('the reply ends early'));
      } catch (error) {
        signal.throwIfAborted();
        const failure = error instanceof StorageError ? error : this.#client.noReply(error);
        await this.#client.pauseAfter(failure, ++failures, signal);
      }
    }
  }

  async head(key: string, { signal }: BlobRequestOptions = {}): Promise<BlobInfo | undefined> {
    const reply = await this.#client.send({ method: 'HEAD', key: requireKey(key), accept: [404], signal });
    if (reply.status === 404) return undefined;
    const size = Number(headerOf(reply, 'content-length') ?? Number.NaN);
    return { key, size, ageSeconds: ageOf(reply, headerOf(reply, 'last-modified')) };
  }

  async *list(
    prefix: string,
    options: BlobListOptions = {},
  ): AsyncGenerator<readonly BlobInfo[], void, undefined> {
    const { prefix: own } = this.#client.address;
    const { after, signal } = options;
    let token: string | undefined;
    do {
      const reply: BucketReply = await this.#client.send({
        method: 'GET',
        query: {
          'list-type': '2',
          'max-keys': String(this.#pageBlobs),
          prefix: `${own}${prefix}`,
          ...(after === undefined ? {} : { 'start-after': `${own}${after}` }),
          ...(token === undefined ? {} : { 'continuation-token': token }),
        },
        signal,
      });
      const root = parseReply(reply.text);
      if (root?.name !== 'ListBucketResult')
        throw new StorageError(`${this.#client.address.endpoint} is not a server of S3: it sends no listing`);
      const page: BlobInfo[] = [];
      for (const element of root.children) {
        if (element.name !== 'Contents') continue;
        const key = (textIn(element, 'Key') ?? '').slice(own.length);
        // What others have put there.
        if (!isKey(key) || (after !== undefined && key <= after)) continue;
        const size = Number(textIn(element, 'Size') ?? Number.NaN);
        page.push({ key, size, ageSeconds: ageOf(reply, textIn(element, 'LastModified')) });
      }
      if (page.length > 0) yield page;
      token = textIn(root, 'IsTruncated') === 'true' ? textIn(root, 'NextContinuationToken') : undefined;
    } while (token !== undefined);
  }

  async delete(key: string, { signal }: BlobRequestOptions = {}): Promise<void> {
    await this.#client.send({ method: 'DELETE', key: requireKey(key), accept: [404], signal });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Where the bytes of a reply end in the blob. */
  #endOf(reply: OpenReply, key: string, at: number): number {
    const range = /^bytes (\d+)-(\d+)\//.exec(headerOf(reply, 'content-range') ?? '');
    if (reply.status === 206 && Number(range?.[1]) === at) return Number(range?.[2]) + 1;
    const length = Number(headerOf(reply, 'content-length') ?? Number.NaN);
    if (reply.status === 200 && at === 0 && Number.isSafeInteger(length)) return length;
    throw new StorageError(`${this.#client.address.endpoint} does not send parts of ${key}`);
  }
}

function headerOf({ headers }: Pick<BucketReply, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Seconds between a date and that of the reply, which are both of the store; 0 if one is absent. */
function ageOf(reply: Pick<BucketReply, 'headers'>, written: string | undefined): number {
  const age = (Date.parse(headerOf(reply, 'date') ?? '') - Date.parse(written ?? '')) / 1000;
  return Number.isNaN(age) ? 0 : Math.max(0, age);
}
