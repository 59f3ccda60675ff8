// HTTP requests to the nodes of a cluster: another node if one fails, delays while none can answer.
import { Agent } from 'undici';
import type { z } from 'zod';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { processClock } from '../../files/process-clock.js';
import {
  type ClusterFailure,
  clusterFailure,
  isPassingStatus,
  readRefusal,
  refusalError,
} from './failures.js';

/** How to reach a cluster. */
export interface ClusterOptions {
  /** URLs of its nodes, such as `http://127.0.0.1:9200`. */
  readonly nodes: readonly string[];
  /** `user:password`; absent if the cluster needs none. */
  readonly login?: string | undefined;
  /** Certificates (PEM) of the authorities that sign those of the nodes. Default: those of the system. */
  readonly authorities?: string | undefined;
  /** Milliseconds for which a request that no node can answer is repeated. Default 60 000. */
  readonly patienceMs?: number;
  /** Milliseconds without a sign of life of a node that has a request. Default 60 000. */
  readonly timeoutMs?: number;
  /** The clock, for tests. Default: the monotonic one of this process. */
  readonly clock?: Clock;
}

/** One request. */
export interface ClusterRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  readonly path: string;
  /** JSON, or lines of JSON as a text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds instead of `patienceMs`; 0: each node is asked once. */
  readonly patienceMs?: number;
}

/** An answer of status 2xx, or 404. */
export interface ClusterReply {
  readonly status: number;
  readonly body: unknown;
}

const DEFAULT_PATIENCE_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** A cluster has another manager, and another copy of an index in use, within some seconds. */
const MAX_QUERY_PATIENCE_MS = 15_000;
const CONNECT_MS = 5_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** Connections to one node. */
const CONNECTIONS = 32;

/** A client of one cluster. */
export class ClusterClient {
  readonly #nodes: readonly URL[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #patienceMs: number;
  readonly #agent: Agent;
  readonly #closing = new AbortController();
  readonly clock: Clock;
  /** The node that is asked first. */
  #next = 0;

  /** @throws StorageError if there is no node, or an URL is not one of HTTP without a login */
  constructor({ nodes, login, authorities, patienceMs, timeoutMs, clock }: ClusterOptions) {
    this.#nodes = nodes.map(parseNode);
    if (this.#nodes.length === 0) throw new StorageError('OpenSearch-URL: no node is given');
    this.#headers =
      login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
    this.#patienceMs = patienceMs ?? DEFAULT_PATIENCE_MS;
    this.clock = clock ?? processClock;
    this.#agent = new Agent({
      connect: { timeout: CONNECT_MS, ...(authorities === undefined ? {} : { ca: authorities }) },
      headersTimeout: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      bodyTimeout: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      connections: CONNECTIONS,
    });
  }

  /** Milliseconds for which a query is repeated: a person waits for its answer, or for a sentence that says why not. */
  get queryPatienceMs(): number {
    return Math.min(this.#patienceMs, MAX_QUERY_PATIENCE_MS);
  }

  /** The URLs of the nodes, for messages. */
  get addresses(): string {
    return this.#nodes.map(({ origin }) => origin).join(', ');
  }

  /** Uses another node for the next requests. */
  avoidNode(): void {
    this.#next = (this.#next + 1) % this.#nodes.length;
  }

  /**
   * Sends a request, and repeats it at other nodes and later if a node is gone or overloaded. So requests must be such
   * that a second one does no harm.
   *
   * @throws StorageError with a sentence; the reason of the signal
   */
  async send(request: ClusterRequest): Promise<ClusterReply> {
    using stop = new LinkedAbort(this.#closing.signal, request.signal);
    const until = this.clock.now() + (request.patienceMs ?? this.#patienceMs);
    let delay = FIRST_DELAY_MS;
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(request, stop.signal);
      if (!(failure instanceof StorageError)) return failure;
      if (!failure.isPassing) throw failure;
      this.avoidNode();
      if (attempt % this.#nodes.length !== 0) continue;
      if (this.clock.now() + delay > until) throw failure;
      await pauseFor(this.clock, delay, stop.signal);
      delay = Math.min(2 * delay, MAX_DELAY_MS);
    }
  }

  /** Like {@link send}. @throws StorageError also if the answer is 404 */
  async require(request: ClusterRequest): Promise<unknown> {
    const { status, body } = await this.send(request);
    if (status === 404) throw refusalError(readRefusal(status, body), nameOf(request));
    return body;
  }

  /** The answer as what OpenSearch documents. @throws StorageError if it is something else */
  read<T>(schema: z.ZodType<T>, body: unknown): T {
    const { success, data } = schema.safeParse(body);
    if (!success) throw new StorageError(`${this.addresses} is not OpenSearch: its answer is not understood`);
    return data;
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    this.#closing.abort(new StorageError('the index is closed'));
    await this.#agent.destroy();
  }

  async #attempt(request: ClusterRequest, signal: AbortSignal): Promise<ClusterReply | ClusterFailure> {
    const { method, path, body } = request;
    const node = this.#nodes[this.#next]!;
    const isLines = typeof body === 'string';
    let status: number;
    let text: string;
    try {
      signal.throwIfAborted();
      const reply = await this.#agent.request({
        origin: node.origin,
        path: `${node.pathname.replace(/\/$/, '')}${path}`,
        method,
        headers: {
          ...this.#headers,
          ...(body === undefined
            ? {}
            : { 'content-type': isLines ? 'application/x-ndjson' : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: isLines ? body : JSON.stringify(body) }),
        signal,
      });
      status = reply.statusCode;
      text = await reply.body.text();
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      const distrust = tlsProblem(cause);
      if (distrust !== undefined)
        return clusterFailure(`${node.origin}: ${distrust}: ${messageOf(cause)}`, false, { cause });
      const nodes = this.#nodes.length === 1 ? '' : `, nor does another of ${this.addresses}`;
      return clusterFailure(
        `OpenSearch does not answer at ${node.origin}${nodes}: ${messageOf(cause)}`,
        true,
        { cause },
      );
    }
    const value = parse(text);
    if (status < 300 || status === 404) {
      if (value !== undefined || method === 'HEAD') return { status, body: value };
      return clusterFailure(`${node.origin} is not OpenSearch: it answers no JSON`, false);
    }
    if (value === undefined && !isPassingStatus(status) && status !== 401)
      return clusterFailure(`${node.origin} is not OpenSearch: it answers ${status}`, false);
    return refusalError(readRefusal(status, value), nameOf(request));
  }
}

/** A connection that will fail in the same way the next time; undefined for another failure. */
function tlsProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : '';
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|UNEXPECTED_MESSAGE|^EPROTO$/.test(code))
    return 'the node does not speak TLS; OpenSearch-URL may have to begin with http:';
  if (/SELF_SIGNED|UNABLE_TO|^CERT_|ALTNAME/.test(code))
    return 'its certificate is not accepted (OpenSearch-CA names a file with that of its authority)';
  return undefined;
}

function nameOf({ method, path }: ClusterRequest): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}

function parseNode(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not shown: it may have a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new StorageError('OpenSearch-URL: must be URLs such as http://127.0.0.1:9200');
  if (url.username !== '' || url.password !== '')
    throw new StorageError('OpenSearch-URL: a login belongs into the file of OpenSearch-Login');
  return url;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
