// One session with a gatherd.
import { hostname } from 'node:os';
import { ConnectionError, StateError, UsageError } from '../../protocols/errors.js';
import {
  GATHERD_PORT,
  type GatherdClientEvent,
  GatherdClientSession,
  type SequenceMark,
  type UpdateDelivery,
} from '../../protocols/gatherd/index.js';
import { LinkedAbort } from '../../protocols/linked-abort.js';
import type {
  ByteSource,
  SectionItem,
  SectionName,
  SoifDecoderOptions,
  SoifObject,
} from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  ABORT_OPTIONS,
  callback,
  checkArgument,
  checkOptions,
  filledText,
  flag,
  having,
  LARGE_OBJECTS,
  milliseconds,
  optional,
  PEER_OPTIONS,
  record,
  type Shape,
  SOIF_OPTIONS,
  whole,
} from '../connection/arguments.js';
import {
  type AbortOptions,
  Connection,
  LargeLog,
  type LargeObjects,
  largeBytesOf,
  type PeerOptions,
  type ReceiveBudget,
} from '../connection/index.js';
import { INFLATE_LIMITS, type InflateLimits, TransferReader } from './inflater.js';

const NOTHING = new Uint8Array(0);

/** Errors of calls that the client refuses before it sends anything. */
const REFUSED_CALL = [UsageError, StateError, RangeError] as const;

export interface GatherdClientOptions extends PeerOptions, InflateLimits {
  /** The host name that HELLO sends (GATHERD-2.6). Default: the system's. */
  readonly clientName?: string;
  /** Longest silence of the server in milliseconds. Default 120 000 (GATHERD-12.3). */
  readonly timeoutMs?: number;
  /** Limits and mode of the decoder of objects. */
  readonly soif?: SoifDecoderOptions;
  /**
   * Keeps large objects outside the memory; see {@link GatherdChange.large}. Default: every object is in
   * memory.
   */
  readonly large?: LargeObjects;
  /**
   * Counts everything received against the limits of a collection; may be shared by several sessions. Default:
   * no such limits.
   */
  readonly budget?: ReceiveBudget;
  /** Called for malformed data that was skipped. */
  readonly onWarning?: (warning: GatherdWarning) => void;
}

/** What {@link GatherdClientOptions} may be. */
export const GATHERD_CLIENT_OPTIONS: Shape<GatherdClientOptions> = {
  ...PEER_OPTIONS,
  ...INFLATE_LIMITS,
  clientName: optional(filledText),
  timeoutMs: optional(milliseconds),
  soif: optional(record(SOIF_OPTIONS)),
  large: optional(record(LARGE_OBJECTS)),
  budget: optional(having('receive', 'count')),
  onWarning: optional(callback),
};

/** Malformed data in an update; the objects around it are delivered. */
export interface GatherdWarning {
  /** The rule that the data breaks. */
  readonly rule: string;
  /** Bytes from the start of the (decompressed) stream. */
  readonly offset: number;
  readonly message: string;
}

export interface UpdateRequest extends AbortOptions {
  /** Requests objects whose Update-Time is not before this; 0 requests everything (GATHERD-4.1). */
  readonly since: UnixSeconds;
  /** Requests compression. Default true. Once the server agrees, it stays on for the session (GATHERD-6.1). */
  readonly compression?: boolean;
  /** Sends `SET changes` (GATHERD-6.11). Default true. Once the server agrees, it stays on for the session. */
  readonly sections?: boolean;
  /** Sends `SET sequence` (GATHERD-6.13), so that {@link GatherdClient.last} is known. Default false. */
  readonly numbers?: boolean;
  /**
   * With `numbers`: requests the changes after this one, unless `since` is 0. If the server has numbers, but not
   * this one, everything is requested.
   */
  readonly after?: SequenceMark | undefined;
}

const UPDATE_REQUEST: Shape<UpdateRequest> = {
  ...ABORT_OPTIONS,
  since: whole(0),
  compression: optional(flag),
  sections: optional(flag),
  numbers: optional(flag),
  after: optional(record({ origin: filledText, sequence: whole(0) })),
};

export interface GatherdChange {
  readonly kind: SectionName;
  /** Of a large object only its bookkeeping attributes and the beginning of its description. */
  readonly object: SoifObject;
  /** The object as received. Shares memory with the stream: copy it to keep it. */
  readonly bytes: Uint8Array;
  /** Whether the object has the layout of SOIF-2.2 and so can be passed on unchanged. */
  readonly exact: boolean;
  /**
   * A large object as received, instead of `bytes`, which are empty; valid until the next change is requested.
   */
  readonly large?: ByteSource;
}

/**
 * A session with a gatherd, over one connection that the first request opens. One request at a time. An update that is not read to its end, like any failure,
 * leaves the session unusable and closes it.
 */
export class GatherdClient implements AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly #session: GatherdClientSession;
  readonly #options: GatherdClientOptions;
  #connection: Connection | undefined;
  #closed = false;
  #greeting = { version: '', hostname: '' };
  #busy = false;
  #changesAccepted = false;
  #isNumbered = false;
  #isWhole = false;
  #last: SequenceMark | undefined;
  /** The large objects of the request in progress, and its reader. */
  #largeLog!: LargeLog;
  #reader!: TransferReader<GatherdClientEvent>;

  /** @throws UsageError for options that it does not know or take */
  constructor(options: GatherdClientOptions) {
    checkOptions('GatherdClient', options, GATHERD_CLIENT_OPTIONS);
    this.host = options.host;
    this.port = options.port ?? GATHERD_PORT;
    this.#options = options;
    this.#session = new GatherdClientSession({ soif: { ...options.soif, ...largeBytesOf(options.large) } });
    this.#begin();
  }

  /**
   * Connects, reads the greeting and sends HELLO; the first request does so too. Rejects with ConnectionError
   * (no connection, no answer), PeerError (access denied, or not a gatherd), ProtocolError, or the signal's
   * reason.
   */
  async connect(options: AbortOptions = {}): Promise<this> {
    checkOptions('connect', options, ABORT_OPTIONS);
    await this.#runExclusive(() => this.#connected(options.signal));
    return this;
  }

  /** The version and host name in the greeting (GATHERD-3.1); empty before it, and if the field is missing. */
  get greeting(): { readonly version: string; readonly hostname: string } {
    return this.#greeting;
  }

  /**
   * Whether the server accepted `SET changes`: then it follows GATHERD-4.4 and sends in the order of
   * GATHERD-4.6. Known from the first byte of an update's data.
   */
  get changesAccepted(): boolean {
    return this.#changesAccepted;
  }

  /** Whether the data of the last request are the changes after {@link UpdateRequest.after}. */
  get isNumbered(): boolean {
    return this.#isNumbered;
  }

  /** Whether the data of the last request are all objects, whatever their times. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The last change of the database as of the last complete update; undefined if the server names none. */
  get last(): SequenceMark | undefined {
    return this.#last;
  }

  /**
   * The changed objects. The iteration throws ConnectionError if the transfer is incomplete (GATHERD-3.11,
   * 6.5); the changes before the error are valid.
   * @throws UsageError for a wrong request
   */
  changes(request: UpdateRequest): AsyncGenerator<GatherdChange, void, undefined> {
    checkOptions('changes', request, UPDATE_REQUEST);
    return this.#changes(request);
  }

  /** The wrapped stream as received, decompressed. Throws like {@link changes}. */
  stream(request: UpdateRequest): AsyncGenerator<Uint8Array, void, undefined> {
    checkOptions('stream', request, UPDATE_REQUEST);
    return this.#stream(request);
  }

  async *#changes(request: UpdateRequest): AsyncGenerator<GatherdChange, void, undefined> {
    for await (const events of this.#update(request, 'items')) {
      for (const event of events) {
        if (event.kind !== 'item') continue;
        const change = this.#changeOf(event.item);
        // Changes received before an abort and not yet delivered are dropped.
        request.signal?.throwIfAborted();
        if (change !== undefined) yield change;
        else if (event.item.kind === 'warning') this.#options.onWarning?.(event.item);
      }
    }
    request.signal?.throwIfAborted();
  }

  async *#stream(request: UpdateRequest): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const events of this.#update(request, 'bytes')) {
      for (const event of events) {
        if (event.kind !== 'data') continue;
        request.signal?.throwIfAborted();
        yield event.bytes;
      }
    }
    request.signal?.throwIfAborted();
  }

  /** One object by its identifier, the URL (GATHERD-5.1); undefined if the server does not have it. */
  async object(oid: string, options: AbortOptions = {}): Promise<SoifObject | undefined> {
    checkArgument('the identifier', oid, filledText);
    checkOptions('object', options, ABORT_OPTIONS);
    return this.#requestObject(() => this.#session.sendObject(oid), options.signal);
  }

  /**
   * Requests one object like {@link object} and passes it on as a change of kind `update`; a large one is kept
   * outside the memory if the options say so.
   *
   * @returns whether the server has it
   */
  async receiveObject(
    oid: string,
    receive: (change: GatherdChange) => Promise<void>,
    options: AbortOptions = {},
  ): Promise<boolean> {
    checkArgument('the identifier', oid, filledText);
    checkArgument('the receiver', receive, callback);
    checkOptions('receiveObject', options, ABORT_OPTIONS);
    const { signal } = options;
    return this.#runExclusive(async () => {
      let found = false;
      await using _reader = this.#begin(this.#options.large);
      const connection = await this.#connected(signal);
      await connection.write(this.#session.sendObject(oid, 'items'), signal);
      for await (const events of this.#eventsUntil('object-end', signal)) {
        for (const event of events) {
          const change = event.kind === 'item' ? this.#changeOf(event.item) : undefined;
          if (change === undefined) continue;
          found = true;
          await receive(change);
        }
      }
      return found;
    });
  }

  /** The description of the database (GATHERD-8); undefined if the server sends none. */
  async info(options: AbortOptions = {}): Promise<SoifObject | undefined> {
    checkOptions('info', options, ABORT_OPTIONS);
    return this.#requestObject(() => this.#session.info(), options.signal);
  }

  /** Sends QUIT, waits for the answer and closes. */
  async quit(options: AbortOptions = {}): Promise<void> {
    checkOptions('quit', options, ABORT_OPTIONS);
    // GATHERD-6.5: a server may close after a gzip member; then QUIT has no receiver.
    if (this.#session.state === 'closed' || this.#connection === undefined) return this.close();
    try {
      await this.#runExclusive(() => this.#request(this.#session.quit(), 'bye', options.signal));
    } catch (error) {
      // GATHERD-7.3: everything has arrived, so a connection that ends now is the server's answer.
      if (!this.#opened.lost) throw error;
    }
    await this.close();
  }

  /** Drops the connection. A request in flight fails. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#reader.stop();
    await this.#connection?.close();
  }

  /** The connection, which the first call opens. One that failed stays failed. */
  async #connected(signal: AbortSignal | undefined): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    using abort = new LinkedAbort(this.#options.signal, signal);
    const connection = await this.#open(abort.signal);
    this.#connection = connection;
    await this.#greet(abort.signal);
    return connection;
  }

  #hello(): Uint8Array {
    return this.#session.hello(this.#options.clientName ?? hostname());
  }

  get #opened(): Connection {
    if (this.#connection === undefined) throw new StateError('the client is not connected');
    return this.#connection;
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const closed = () => new ConnectionError(`${this.host}:${this.port}: the client is closed`);
    if (this.#closed) throw closed();
    const { connectTimeoutMs = 30_000, timeoutMs: idleTimeoutMs = 120_000 } = this.#options;
    const limits = { connectTimeoutMs, idleTimeoutMs };
    const connection = await Connection.open({ ...this.#options, port: this.port, ...limits, signal });
    if (!this.#closed) return connection;
    await connection.close();
    throw closed();
  }

  async #greet(signal: AbortSignal): Promise<void> {
    for await (const events of this.#eventsUntil('greeting', signal)) {
      for (const event of events) {
        if (event.kind === 'greeting') this.#greeting = { version: event.version, hostname: event.hostname };
      }
    }
    await this.#request(this.#hello(), 'reply', signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The object of an item; undefined if it is another item. */
  #changeOf(item: SectionItem): GatherdChange | undefined {
    if (item.kind === 'object') {
      const { section: kind, object, bytes, exact } = item;
      return { kind, object, bytes, exact };
    }
    if (item.kind !== 'large') return undefined;
    const { head: object, exact } = item.outline;
    return { kind: item.section, object, bytes: NOTHING, exact, large: this.#largeLog.sourceOf(item) };
  }

  async *#update(
    request: UpdateRequest,
    delivery: UpdateDelivery,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    const { compression = true, sections = true, numbers = false, after, signal } = request;
    const release = this.#claim();
    let isComplete = false;
    try {
      const connection = await this.#connected(signal);
      if (compression && !this.#session.compressed) {
        await this.#request(this.#session.setCompression(), 'reply', signal);
      }
      // Sent together, because a server that does not know `SET changes` may leave it unanswered.
      if (sections && !this.#changesAccepted) await connection.write(this.#session.setChanges(), signal);
      const isKnown = numbers && after !== undefined && request.since > 0;
      this.#last = undefined;
      this.#isNumbered = isKnown && (await this.#acceptsSequence(after, signal));
      // An update since 1 has every object and every deletion.
      const since =
        isKnown && !this.#isNumbered && (await this.#acceptsSequence(undefined, signal)) ? 1 : request.since;
      this.#isWhole = !this.#isNumbered && since <= 1;
      if (numbers && !isKnown) await connection.write(this.#session.setSequence(), signal);
      await connection.write(this.#session.sendUpdate(since, delivery), signal);
      this.#begin(delivery === 'items' ? this.#options.large : undefined);
      for await (const events of this.#eventsUntil('update-end', signal)) {
        for (const event of events) {
          if (event.kind === 'update-end') this.#last = event.last;
          if (event.kind !== 'reply') continue;
          if (event.to === 'changes') this.#changesAccepted = event.accepted;
        }
        yield events;
      }
      isComplete = true;
    } finally {
      release();
      await this.#reader[Symbol.asyncDispose]();
      if (!isComplete) await this.close();
    }
  }

  /** Sends `SET sequence`, and a `HELLO`, which is answered by a server, too, that ignores it. */
  async #acceptsSequence(mark: SequenceMark | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    const connection = this.#opened;
    await connection.write(this.#session.setSequence(mark), signal);
    await connection.write(this.#hello(), signal);
    let accepted = false;
    for await (const events of this.#eventsUntil('hello', signal)) {
      for (const event of events) {
        if (event.kind !== 'reply') continue;
        if (event.to === 'changes') this.#changesAccepted = event.accepted;
        if (event.to === 'sequence') accepted = event.accepted;
      }
    }
    return accepted;
  }

  async #requestObject(
    command: () => Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<SoifObject | undefined> {
    return this.#runExclusive(async () => {
      let object: SoifObject | undefined;
      const connection = await this.#connected(signal);
      await connection.write(command(), signal);
      for await (const events of this.#eventsUntil('object-end', signal)) {
        for (const event of events) if (event.kind === 'object') object = event.object;
      }
      return object;
    });
  }

  async #request(
    command: Uint8Array,
    answer: GatherdClientEvent['kind'],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#opened.write(command, signal);
    for await (const _ of this.#eventsUntil(answer, signal));
  }

  /**
   * Yields the events, those of one chunk together, up to and including the first of a kind, or the reply to
   * `HELLO`.
   */
  async *#eventsUntil(
    last: GatherdClientEvent['kind'] | 'hello',
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    for (;;) {
      const chunk = await this.#read(signal);
      let done = false;
      for await (const events of this.#events(chunk, signal)) {
        done ||= events.some((event) => event.kind === last || (event.kind === 'reply' && event.to === last));
        yield events;
      }
      if (done) return;
      if (chunk === undefined) throw new ConnectionError('the server closed the connection');
    }
  }

  /** The next bytes. A reset after a whole gzip member counts as the server's close (GATHERD-6.5). */
  async #read(signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    try {
      const read = () => this.#opened.read(signal);
      const { budget } = this.#options;
      return await (budget === undefined ? read() : budget.receive(read));
    } catch (error) {
      if (this.#opened.lost && this.#session.transferComplete) return undefined;
      throw error;
    }
  }

  /** The events of a chunk, or of the end of the connection; the error after those that precede it. */
  async *#events(
    chunk: Uint8Array | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly GatherdClientEvent[], void, undefined> {
    const events = chunk === undefined ? this.#session.end() : this.#session.push(chunk);
    for await (const some of this.#reader.read(events, signal)) {
      yield some;
      if (this.#session.failure !== undefined) throw this.#session.failure;
    }
  }

  /** Begins a request, whose large objects are kept as `large` says. */
  #begin(large?: LargeObjects): AsyncDisposable {
    this.#largeLog = new LargeLog(large);
    this.#reader = new TransferReader(this.#session, { ...this.#options, large: this.#largeLog });
    return this.#reader;
  }

  async #runExclusive<T>(work: () => Promise<T>): Promise<T> {
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
