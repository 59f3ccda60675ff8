import { hostname } from 'node:os';
import { ConnectionError, StateError, UsageError } from '../../protocols/errors.js';
import {
  GATHERD_PORT,
  type GatherdClientEvent,
  GatherdClientSession,
  type UpdateDelivery,
} from '../../protocols/gatherd/index.js';
import type { SectionName, SoifDecoderOptions, SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { Connection } from '../connection/index.js';
import { InflateBudget, type InflateLimits, MemberInflater } from './inflater.js';

/** Errors of a call that the client refuses before it sends anything. */
const REFUSED_CALL = [UsageError, StateError, RangeError] as const;

export interface GatherdClientConnectOptions {
  readonly host: string;
  /** Default 8500 (GATHERD-1.2). */
  readonly port?: number;
  /** Our own host name for HELLO (GATHERD-2.6). Default: the system's. */
  readonly clientName?: string;
  /** Milliseconds to wait for the connection. Default 30 000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds to wait for the server's next byte. Default 120 000 (GATHERD-12.3). */
  readonly idleTimeoutMs?: number;
  /** Most bytes one compressed update may come to. Default 16 GiB. */
  readonly maxInflatedBytes?: number;
  /** Most bytes out for a byte in. Default 250: text makes 3 to 10, deflate's own limit is 1032. */
  readonly maxInflateRatio?: number;
  /** Limits and mode for the objects received. */
  readonly soif?: SoifDecoderOptions;
  /** Told of data that was skipped because it is malformed. */
  readonly onWarning?: (warning: GatherdWarning) => void;
  /** Gives up connecting and greeting. */
  readonly signal?: AbortSignal;
}

/** Malformed data in an update; the objects around it are delivered. */
export interface GatherdWarning {
  /** The rule that the data breaks. */
  readonly rule: string;
  /** Bytes from the start of the (decompressed) stream. */
  readonly offset: number;
  readonly message: string;
}

export interface UpdateRequest {
  /** Objects whose Update-Time is not before this; 0 asks for everything (GATHERD-4.1). */
  readonly since: UnixSeconds;
  /** Asks for compression. Default true. Once a server has agreed, it holds for the session (GATHERD-6.1). */
  readonly compression?: boolean;
  /** Says `SET changes` (GATHERD-6.11). Default true. Holds for the session likewise. */
  readonly sections?: boolean;
  readonly signal?: AbortSignal;
}

export interface GatherdChange {
  readonly kind: SectionName;
  readonly object: SoifObject;
  /** The object as received. Shares memory with the stream: copy what you keep. */
  readonly bytes: Uint8Array;
  /** True when `bytes` are in the layout of SOIF-2.2, so that they may be passed on as they are. */
  readonly exact: boolean;
}

/**
 * A session with a gatherd. One request at a time; an update that is not read to its end (or any failure) makes
 * the session unusable, and it is closed.
 */
export class GatherdClient implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #session: GatherdClientSession;
  readonly #limits: InflateLimits;
  readonly #onWarning: (warning: GatherdWarning) => void;
  #greeting = { version: '', hostname: '' };
  #busy = false;
  #changesAccepted = false;
  #inflater: MemberInflater | undefined;
  #inflateBudget: InflateBudget;

  private constructor(connection: Connection, options: GatherdClientConnectOptions) {
    this.#connection = connection;
    this.#session = new GatherdClientSession(options.soif === undefined ? {} : { soif: options.soif });
    const { maxInflatedBytes = 16 * 2 ** 30, maxInflateRatio = 250 } = options;
    this.#limits = { maxInflatedBytes, maxInflateRatio };
    this.#inflateBudget = new InflateBudget(this.#limits);
    this.#onWarning = options.onWarning ?? (() => {});
  }

  /**
   * Connects, reads the greeting and says HELLO. Rejects with ConnectionError (no connection, no answer),
   * PeerError (access denied, or not a gatherd), ProtocolError, or the signal's reason.
   */
  static async connect(options: GatherdClientConnectOptions): Promise<GatherdClient> {
    const { host, port = GATHERD_PORT, connectTimeoutMs = 30_000, idleTimeoutMs = 120_000, signal } = options;
    const connection = await Connection.open({ host, port, connectTimeoutMs, idleTimeoutMs, signal });
    const client = new GatherdClient(connection, options);
    await client.#exclusively(async () => {
      for await (const events of client.#until('greeting', signal)) {
        for (const event of events) {
          if (event.kind === 'greeting') {
            client.#greeting = { version: event.version, hostname: event.hostname };
          }
        }
      }
      await client.#ask(client.#session.hello(options.clientName ?? hostname()), 'reply', signal);
    });
    return client;
  }

  /** The server's words about itself (GATHERD-3.1); empty where it did not say. */
  get greeting(): { readonly version: string; readonly hostname: string } {
    return this.#greeting;
  }

  /**
   * Whether the server has accepted `SET changes`: then it follows GATHERD-4.4 and sends in the order of GATHERD-4.6.
   * Known from the first byte of an update's data on.
   */
  get changesAccepted(): boolean {
    return this.#changesAccepted;
  }

  /**
   * The changed objects. The iteration throws ConnectionError when the transfer was incomplete (GATHERD-3.11,
   * 6.5): what it gave until then is sound, but not all.
   */
  async *changes(request: UpdateRequest): AsyncGenerator<GatherdChange, void, undefined> {
    for await (const events of this.#update(request, 'items')) {
      for (const event of events) {
        if (event.kind !== 'item') continue;
        const { item } = event;
        if (item.kind === 'object') {
          const { section: kind, object, bytes, exact } = item;
          yield { kind, object, bytes, exact };
        } else if (item.kind === 'warning') this.#onWarning(item);
      }
    }
  }

  /** The wrapped stream as it came, decompressed. Throws like {@link changes}. */
  async *stream(request: UpdateRequest): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const events of this.#update(request, 'bytes')) {
      for (const event of events) if (event.kind === 'data') yield event.bytes;
    }
  }

  /** One object by its identifier, the URL (GATHERD-5.1); undefined when the server has none. */
  object(oid: string, options: { readonly signal?: AbortSignal } = {}): Promise<SoifObject | undefined> {
    return this.#single(() => this.#session.sendObject(oid), options.signal);
  }

  /** The description of the database (GATHERD-8); undefined when the server gives none. */
  info(options: { readonly signal?: AbortSignal } = {}): Promise<SoifObject | undefined> {
    return this.#single(() => this.#session.info(), options.signal);
  }

  /** Ends the session politely and closes. */
  async quit(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    // GATHERD-6.5: a server may close behind a gzip member; then there is nobody to say it to.
    if (this.#session.state === 'closed') return this.close();
    await this.#exclusively(() => this.#ask(this.#session.quit(), 'bye', options.signal));
    await this.close();
  }

  /** Drops the connection. A request under way fails. */
  async close(): Promise<void> {
    this.#inflater?.close();
    await this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async *#update(
    request: UpdateRequest,
    delivery: UpdateDelivery,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    const { since, compression = true, sections = true, signal } = request;
    const release = this.#claim();
    let whole = false;
    try {
      if (compression && !this.#session.compressed) {
        await this.#ask(this.#session.setCompression(), 'reply', signal);
      }
      // Sent together, because a server that does not know `SET changes` may not answer it at all.
      if (sections && !this.#changesAccepted)
        await this.#connection.write(this.#session.setChanges(), signal);
      await this.#connection.write(this.#session.sendUpdate(since, delivery), signal);
      this.#inflateBudget = new InflateBudget(this.#limits);
      for await (const events of this.#until('update-end', signal)) {
        for (const event of events) {
          if (event.kind === 'reply' && event.to === 'changes') this.#changesAccepted = event.accepted;
        }
        yield events;
      }
      whole = true;
    } finally {
      release();
      if (!whole) await this.close();
    }
  }

  async #single(command: () => Uint8Array, signal: AbortSignal | undefined): Promise<SoifObject | undefined> {
    return this.#exclusively(async () => {
      let object: SoifObject | undefined;
      await this.#connection.write(command(), signal);
      for await (const events of this.#until('object-end', signal)) {
        for (const event of events) if (event.kind === 'object') object = event.object;
      }
      return object;
    });
  }

  async #ask(
    command: Uint8Array,
    answer: GatherdClientEvent['kind'],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#connection.write(command, signal);
    for await (const _ of this.#until(answer, signal));
  }

  /** The events, as they came in together, up to and including the first of a kind. */
  async *#until(
    last: GatherdClientEvent['kind'],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    for (;;) {
      const chunk = await this.#read(signal);
      let done = false;
      for await (const events of this.#events(chunk, signal)) {
        done ||= events.some((event) => event.kind === last);
        yield events;
      }
      if (done) return;
      if (chunk === undefined) throw new ConnectionError('the server closed the connection');
    }
  }

  /** The next bytes. GATHERD-6.5: a reset behind a whole member is a server that closes. */
  async #read(signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    try {
      return await this.#connection.read(signal);
    } catch (error) {
      if (this.#connection.lost && this.#session.transferWhole) return undefined;
      throw error;
    }
  }

  /** What a chunk, or the end of the connection, means; compressed data is inflated on the way. */
  async *#events(
    chunk: Uint8Array | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    let events = chunk === undefined ? this.#session.end() : this.#session.push(chunk);
    for (;;) {
      const last = events.at(-1);
      const compressed = last?.kind === 'inflate' ? last.bytes : undefined;
      yield compressed === undefined ? events : events.slice(0, -1);
      if (compressed === undefined) return;
      this.#inflater ??= new MemberInflater(this.#inflateBudget);
      const inflater = this.#inflater;
      const outputs = inflater.push(compressed);
      let output = await outputs.next();
      while (output.done !== true) {
        signal?.throwIfAborted();
        yield this.#session.inflated(output.value);
        output = await outputs.next();
      }
      if (!inflater.ended) return;
      this.#inflater = undefined;
      inflater.close();
      events = this.#session.inflateEnd(output.value, inflater.crc, inflater.size);
    }
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const release = this.#claim();
    try {
      return await work();
    } catch (error) {
      // After a failed dialogue the next line could answer any request. A refused call has sent nothing.
      if (!REFUSED_CALL.some((kind) => error instanceof kind)) await this.close();
      throw error;
    } finally {
      release();
    }
  }

  #claim(): () => void {
    if (this.#busy) throw new StateError('one request at a time');
    this.#busy = true;
    return () => {
      this.#busy = false;
    };
  }
}
