// Signed requests to one bucket, which are repeated while the store cannot answer.
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { processClock } from '../../files/process-clock.js';
import type { BlobSource } from '../contract.js';
import type { AwsLogin } from './aws-profile.js';
import type { BucketAddress } from './bucket-address.js';
import { type BucketFailure, bucketFailure, refusalOf } from './failures.js';
import { RequestSigner, type WallClock } from './signing.js';

export interface BucketClientOptions {
  /** Milliseconds for which a request that the store cannot answer is repeated. Default 60 000. */
  readonly patienceMs?: number;
  /** Milliseconds without a byte of a reply. Default 60 000. */
  readonly timeoutMs?: number;
  /** The clock of the pauses, for tests. Default: the monotonic one of this process. */
  readonly clock?: Clock;
  /** The date in signatures, for tests. Default: that of the system. */
  readonly wallClock?: WallClock;
  /** Reads the login again after it has expired. Default: it stays. */
  readonly renewLogin?: () => Promise<AwsLogin | undefined>;
}

/** One request. */
export interface BucketRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  /** Without the prefix; undefined: the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BlobSource;
  /** Statuses that are answers, besides 200 to 299. */
  readonly accept?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface BucketReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly text: string;
}

/** A reply whose body is read in pieces. */
export interface OpenReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Dispatcher.ResponseData['body'];
}

const DEFAULT_PATIENCE_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 60_000;
const CONNECT_MS = 5_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** Connections to the store. */
const CONNECTIONS = 16;
/** Characters of a reply that is not a blob. */
const MAX_REPLY_BYTES = 16 << 20;
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const EXPIRED = /^(?:ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)$/;

/** A client of one bucket. */
export class BucketClient {
  readonly address: BucketAddress;
  readonly #signer: RequestSigner;
  readonly #options: BucketClientOptions;
  readonly #clock: Clock;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  constructor(address: BucketAddress, login: AwsLogin, options: BucketClientOptions = {}) {
    this.address = address;
    this.#options = options;
    this.#clock = options.clock ?? processClock;
    this.#signer = new RequestSigner(login, address.region, options.wallClock);
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#agent = new Agent({
      connect: { timeout: CONNECT_MS },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connections: CONNECTIONS,
    });
  }

  /**
   * Sends a request and reads its reply, which is short. Repeats it as long as the store does not answer, so that a
   * second request must do no harm.
   *
   * @throws StorageError with a sentence; the reason of the signal
   */
  async send(request: BucketRequest): Promise<BucketReply> {
    using stop = this.link(request.signal);
    const { signal } = stop;
    return await this.#repeat(signal, async () => {
      const { status, headers, body } = await this.#attempt(request, signal);
      return { status, headers, text: await this.#readShort(body, signal) };
    });
  }

  /**
   * Like {@link send}, but the caller reads the body, to its end or with an error.
   *
   * @param signal of a {@link link} that lasts as long as the body is read
   */
  async open(request: BucketRequest, signal: AbortSignal): Promise<OpenReply> {
    return await this.#repeat(signal, () => this.#attempt(request, signal));
  }

  /** A signal that is aborted by another one, and when this client is closed. */
  link(signal: AbortSignal | undefined): LinkedAbort {
    return new LinkedAbort(this.#closing.signal, signal);
  }

  /** Waits before a reply that broke off is asked for again. @throws the failure, when there were enough attempts */
  async pauseAfter(failure: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
    // The sum of the delays so far, up to a factor of two.
    if (delay * attempt > (this.#options.patienceMs ?? DEFAULT_PATIENCE_MS)) throw failure;
    await pauseFor(this.#clock, delay, signal);
  }

  /** The failure of a request that got no reply, or a reply without its end. */
  noReply(cause: unknown): BucketFailure {
    return bucketFailure(`${this.address.endpoint} does not answer: ${messageOf(cause)}`, {
      isPassing: true,
      cause,
    });
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    this.#closing.abort(new StorageError(`${this.address.name} is closed`));
    await this.#agent.destroy();
  }

  async #repeat<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const until = this.#clock.now() + (this.#options.patienceMs ?? DEFAULT_PATIENCE_MS);
    let delay = FIRST_DELAY_MS;
    let isRenewed = false;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!isRenewed && EXPIRED.test(String(Reflect.get(Object(error), 's3Code')))) {
          isRenewed = true;
          const renewed = await this.#options.renewLogin?.();
          if (renewed !== undefined) {
            this.#signer.login = renewed;
            continue;
          }
        }
        const isPassing = error instanceof StorageError && Reflect.get(error, 'isPassing') === true;
        if (!isPassing || this.#clock.now() + delay > until) throw error;
      }
      await pauseFor(this.#clock, delay, signal);
      delay = Math.min(2 * delay, MAX_DELAY_MS);
    }
  }

  async #attempt(request: BucketRequest, signal: AbortSignal): Promise<OpenReply> {
    const { method, key, body } = request;
    const url = this.#urlOf(request);
    const { headers, sentAt } = await this.#signer.sign({
      method,
      url,
      headers: request.headers ?? {},
      sha256: body === undefined ? EMPTY_SHA256 : body.sha256,
    });
    let sourceFailure: { readonly error: unknown } | undefined;
    async function* content(source: BlobSource): AsyncGenerator<Uint8Array> {
      try {
        yield* source.open(0, source.size);
      } catch (error) {
        sourceFailure = { error };
        throw error;
      }
    }
    let reply: OpenReply;
    try {
      const {
        statusCode,
        headers: received,
        body: replyBody,
      } = await this.#agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { ...headers, 'content-length': String(body?.size ?? 0) },
        ...(body === undefined || body.size === 0
          ? {}
          : { body: Readable.from(content(body), { objectMode: false }) }),
        signal,
      });
      reply = { status: statusCode, headers: received, body: replyBody };
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      if (sourceFailure !== undefined) throw sourceFailure.error;
      const distrust = tlsProblem(cause);
      if (distrust !== undefined)
        throw bucketFailure(`${this.address.endpoint}: ${distrust}: ${messageOf(cause)}`, { cause });
      throw this.noReply(cause);
    }
    const { status } = reply;
    if (status < 300) return reply;
    const text = await this.#readShort(reply.body, signal);
    const failure = refusalOf(
      { status, headers: reply.headers, body: text },
      this.address,
      `${method} ${key ?? ''}`.trimEnd(),
      sentAt,
    );
    if (request.accept?.includes(status) !== true || failure.s3Code === 'NoSuchBucket') throw failure;
    return reply;
  }

  #urlOf({ key, query = {} }: BucketRequest): URL {
    const url = new URL(this.address.url);
    if (key !== undefined) {
      const path = `${this.address.prefix}${key}`.split('/').map(encodeURIComponent).join('/');
      url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
    }
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&');
    return url;
  }

  async #readShort(body: OpenReply['body'], signal: AbortSignal): Promise<string> {
    const pieces: Buffer[] = [];
    let size = 0;
    try {
      for await (const piece of body) {
        const bytes = Buffer.from(piece as Uint8Array);
        size += bytes.length;
        if (size > MAX_REPLY_BYTES) break;
        pieces.push(bytes);
      }
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw this.noReply(cause);
    }
    return Buffer.concat(pieces).toString('utf8');
  }
}

/** A connection that will fail in the same way the next time; undefined for another failure. */
function tlsProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : '';
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|UNEXPECTED_MESSAGE|^EPROTO$/.test(code))
    return 'it does not speak TLS; the endpoint may have to begin with http:';
  if (/SELF_SIGNED|UNABLE_TO|^CERT_|ALTNAME/.test(code)) return 'its certificate is not accepted';
  return undefined;
}
