import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { defined } from '../../../protocols/defined.js';
import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../../protocols/errors.js';
import {
  MAX_HOSTS,
  MAX_ROWS,
  QUERIES,
  type QueryAnswer,
  type QueryName,
} from '../../crawler/console/queries.js';
import type { CrawlSnapshot, HostReport, QueueReport } from '../../crawler/control.js';
import type { QueueState } from '../../crawler/states.js';

/** Timeouts of a query and of an action; the longest action is a checkpoint of a large crawl. */
const QUERY_TIMEOUT_MS = 30_000;
const ACTION_TIMEOUT_MS = 15 * 60_000;

/** Result of an action. */
export interface ActionReply {
  readonly text: string;
  readonly [figure: string]: unknown;
}

/**
 * Client of the console of a running crawl. Every method throws ConnectionError if the console cannot be
 * reached and PeerError if it refuses.
 */
export class ConsoleClient {
  /** Base URL; ends in `/`. */
  readonly #url: string;
  /** Value of the `Authorization` header. */
  readonly #authorization: string;
  readonly #signal: AbortSignal | undefined;
  readonly #dispatcher: Agent | undefined;

  constructor(
    url: string,
    authorization: string,
    signal?: AbortSignal,
    /** The server is this machine: its certificate, which may name another host, is not checked. */
    isOwn = false,
  ) {
    this.#url = url;
    this.#authorization = authorization;
    this.#signal = signal;

    if (isOwn && url.startsWith('https:'))
      this.#dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  }

  /** Returns the answer to a query; `fields` are its parameters. */
  async get<K extends QueryName>(
    name: K,
    fields: Readonly<Record<string, string | number>> = {},
  ): Promise<QueryAnswer<K>> {
    const query = new URLSearchParams();
    for (const [field, value] of Object.entries(fields)) query.set(field, String(value));
    const path = query.size === 0 ? name : `${name}?${query}`;
    const value = await this.#request(path, QUERY_TIMEOUT_MS, {});
    const { success, data } = QUERIES[name].answer.safeParse(value);
    if (!success) throw notAConsole();
    return data as QueryAnswer<K>;
  }

  snapshot(): Promise<CrawlSnapshot> {
    return this.get('snapshot');
  }

  /** Pages of queues in the order of their class keys: at most `limit` queues, or all. */
  async *queues({
    state,
    limit,
  }: {
    readonly state?: QueueState | undefined;
    readonly limit?: number;
  } = {}): AsyncGenerator<readonly QueueReport[]> {
    let after: string | undefined;
    do {
      const page: QueryAnswer<'queues'> = await this.get('queues', {
        limit: Math.min(limit ?? MAX_ROWS, MAX_ROWS),
        ...defined({ state, after }),
      });
      yield page.queues;
      after = page.next;
    } while (after !== undefined && limit === undefined);
  }

  /** The servers contacted last, the latest first. */
  async hosts(limit = MAX_HOSTS): Promise<readonly HostReport[]> {
    return (await this.get('hosts', { limit })).hosts;
  }

  /** Runs an action: `pause`, `delete-uris` ... */
  async runAction(name: string, fields: Readonly<Record<string, string>> = {}): Promise<ActionReply> {
    return (await this.#request(name, ACTION_TIMEOUT_MS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    })) as ActionReply;
  }

  async #request(
    path: string,
    timeoutMs: number,
    {
      headers,
      ...init
    }: Pick<RequestInit, 'method' | 'body'> & { readonly headers?: Record<string, string> },
  ): Promise<object> {
    const timeout = AbortSignal.timeout(timeoutMs);
    let reply: Response;
    let text: string;
    try {
      reply = await fetch(new URL(`api/${path}`, this.#url), {
        ...init,
        headers: { ...headers, authorization: this.#authorization },
        redirect: 'error',
        ...(this.#dispatcher === undefined ? {} : { dispatcher: this.#dispatcher }),
        signal: this.#signal === undefined ? timeout : AbortSignal.any([this.#signal, timeout]),
      });
      text = await reply.text();
    } catch (cause) {
      this.#signal?.throwIfAborted();
      const why = timeout.aborted ? 'no answer in time' : reasonOf(cause);
      throw new ConnectionError(`the console at ${this.#url} cannot be reached: ${why}`, { cause });
    }
    const value = parse(text);
    if (reply.ok) return value;
    const problem = (value as { error?: unknown }).error;
    const message = typeof problem === 'string' ? problem : `HTTP status ${reply.status}`;
    if (reply.status === 400) throw new UsageError(message);
    throw new PeerError(message, reply.status);
  }
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw notAConsole();
}

function notAConsole(): ProtocolError {
  return new ProtocolError('the server at this address is not the console of a crawl', {
    protocol: 'config',
    rule: 'JSON',
    offset: 0,
  });
}

/** Returns the reason of a failed fetch, which is in the cause of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
