// Requests bulk transfers and digests from a Broker.
import {
  type BulkReplyDecoderOptions,
  type BulkRequest,
  type DigestReport,
  decodeDigest,
  encodeBulkRequest,
  isDigestPrefix,
} from '../../protocols/bulk/index.js';
import { PeerError, ProtocolError, UsageError } from '../../protocols/errors.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  BROKER_PEER_OPTIONS,
  type BrokerPeerOptions,
  DEFAULT_BROKER_PORT,
  exchangeWithBroker,
} from '../broker/client.js';
import {
  ABORT_OPTIONS,
  type Check,
  callback,
  checkArgument,
  checkOptions,
  flag,
  having,
  LARGE_OBJECTS,
  limit,
  oneOf,
  optional,
  RECEIVE_LIMITS,
  record,
  type Shape,
  SOIF_OPTIONS,
  text,
  whole,
} from '../connection/arguments.js';
import {
  type AbortOptions,
  LargeLog,
  type LargeObjects,
  largeBytesOf,
  ReceiveBudget,
  type ReceiveLimits,
} from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { INFLATE_LIMITS, type InflateLimits } from '../gatherd/inflater.js';
import { type BulkWarning, readReply } from './reply.js';
import { BulkTransfer } from './transfer.js';

/** The {@link ReceiveLimits} hold for each call. */
export interface BulkClientOptions extends ReceiveLimits, InflateLimits, BrokerPeerOptions {
  /** Limits on what the Broker may send. */
  readonly limits?: BulkReplyDecoderOptions;
  /**
   * Keeps large objects outside the memory; see {@link BulkChange.large}. Default: every object is in memory.
   */
  readonly large?: LargeObjects;
  /** Called for everything that was tolerated or left out. */
  readonly onWarning?: (warning: BulkWarning) => void;
  /** The clock; tests set it. */
  readonly now?: () => UnixSeconds;
}

export interface BulkTransferRequest extends Omit<BulkRequest, 'digest'>, AbortOptions {}

const BULK_CLIENT_OPTIONS: Shape<BulkClientOptions> = {
  ...BROKER_PEER_OPTIONS,
  ...RECEIVE_LIMITS,
  ...INFLATE_LIMITS,
  limits: optional(
    record<BulkReplyDecoderOptions>({
      soif: optional(record(SOIF_OPTIONS)),
      tokens: optional(having()),
      maxLineBytes: optional(limit),
      maxLines: optional(limit),
      maxStringBytes: optional(limit),
      maxDataBytes: optional(limit),
      maxListedBytes: optional(limit),
      maxExtensions: optional(limit),
    }),
  ),
  large: optional(record(LARGE_OBJECTS)),
  onWarning: optional(callback),
  now: optional(callback),
};

const TRANSFER_REQUEST: Shape<BulkTransferRequest> = {
  ...ABORT_OPTIONS,
  since: optional(whole(0)),
  flags: optional(text),
  query: optional(text),
  interface: optional(oneOf(1, 2)),
  compress: optional(flag),
};

const isPrefix: Check = (value, name) =>
  typeof value === 'string' && isDigestPrefix(value)
    ? undefined
    : `${name} must be a string of 0 to 16 lower-case hex digits`;

/** BP-23: the error number of a Broker that does not support a request. */
const UNSUPPORTED = 2;

/**
 * Requests bulk transfers from a Broker. Every call opens its own connection (BT-2) when it is first awaited or
 * iterated. The client holds no resources between calls and needs no close.
 */
export class BulkClient {
  readonly host: string;
  readonly port: number;
  readonly #options: BulkClientOptions;
  #bytes = 0;

  /** @throws UsageError for options that it does not know or take */
  constructor(options: BulkClientOptions) {
    checkOptions('BulkClient', options, BULK_CLIENT_OPTIONS);
    this.host = options.host;
    this.port = options.port ?? DEFAULT_BROKER_PORT;
    this.#options = options;
  }

  /** Bytes received by all calls so far. */
  get bytesReceived(): number {
    return this.#bytes;
  }

  /**
   * Requests the changes. Iterating throws the errors of {@link BulkTransfer}.
   * @throws UsageError if the request cannot be encoded
   */
  changes(request: BulkTransferRequest): BulkTransfer {
    checkOptions('changes', request, TRANSFER_REQUEST);
    if (request.compress === true && request.interface !== 2)
      throw new UsageError('compress needs interface 2');
    const { signal, ...fields } = request;
    const message = encodeBulkRequest(fields);
    const log = new LargeLog(this.#options.large);
    return new BulkTransfer(() => this.#request(message, signal, log), {
      sourceOf: (item) => log.sourceOf(item),
      now: this.#options.now ?? (() => Math.floor(Date.now() / 1000)),
      onWarning: this.#options.onWarning ?? (() => {}),
      signal,
    });
  }

  /**
   * The Broker's report about the objects whose digests have a prefix; undefined if the Broker does not know
   * `#digest`.
   * @throws ConnectionError, PeerError, ProtocolError; UsageError for a wrong prefix
   */
  async digest(prefix: string, options: AbortOptions = {}): Promise<DigestReport | undefined> {
    checkArgument('the prefix', prefix, isPrefix);
    checkOptions('digest', options, ABORT_OPTIONS);
    const message = encodeBulkRequest({ interface: 2, digest: prefix });
    let isInterface2 = false;
    for await (const events of this.#request(message, options.signal)) {
      for (const event of events) {
        if (event.kind === 'version') isInterface2 = event.interface === 2;
        // A Broker that does not know the flag refuses the message or sends objects.
        else if (!isInterface2 && (event.kind === 'status' || event.kind === 'change')) return undefined;
        else if (event.kind === 'trailer') {
          const { trailer } = event;
          if (trailer.kind === 'stats') return readReport(trailer.data, prefix);
          if (trailer.kind === 'error' && trailer.number === UNSUPPORTED) return undefined;
          if (trailer.kind === 'error') throw new PeerError(trailer.text, trailer.number);
          return undefined;
        }
      }
    }
    return undefined;
  }

  async *#request(
    message: Uint8Array,
    signal: AbortSignal | undefined,
    large = new LargeLog(undefined),
  ): ReturnType<typeof readReply> {
    const options = this.#options;
    const chunks = exchangeWithBroker(message, { ...options, signal });
    const { clock = monotonicClock } = options;
    const budget = new ReceiveBudget(options, () => clock.now());
    const { limits } = options;
    const decoder = { ...limits, soif: { ...limits?.soif, ...largeBytesOf(options.large) } };
    yield* readReply(this.#counted(chunks, budget), { ...options, budget, large, decoder, signal });
  }

  async *#counted(chunks: AsyncGenerator<Uint8Array>, budget: ReceiveBudget): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = await budget.receive(async () => (await chunks.next()).value ?? undefined);
        if (chunk === undefined) return;
        this.#bytes += chunk.length;
        yield chunk;
      }
    } finally {
      await chunks.return(undefined);
    }
  }
}

function readReport(data: Uint8Array, prefix: string): DigestReport {
  const report = decodeDigest(decodeSoif(data));
  if (report.prefix === prefix) return report;
  const details = { protocol: 'bulk', rule: 'BP-31', offset: 0 } as const;
  throw new ProtocolError(
    `requested the digest of "${prefix}", received that of "${report.prefix}"`,
    details,
  );
}
