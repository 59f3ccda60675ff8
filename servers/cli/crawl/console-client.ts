import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../../protocols/errors.js';
import type { Sample } from '../../crawler/console/history.js';
import type {
  CrawlControl,
  CrawlSnapshot,
  HostReport,
  QueueReport,
  QueueState,
  RecentError,
  WaitingReport,
  WorkerReport,
} from '../../crawler/control.js';

/** Timeouts of a query and of an action; the longest action is a checkpoint of a large crawl. */
const QUERY_TIMEOUT_MS = 30_000;
const ACTION_TIMEOUT_MS = 15 * 60_000;

/** Maximum number of queues in the answer to one request. */
const PAGE_ROWS = 1000;

/** Maximum number of servers that a console lists. */
const MAX_HOSTS = 10_000;

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
  readonly #dispatcher: Agent | undefined;

  constructor(
    /** Base URL; ends in `/`. */
    readonly url: string,
    /** Value of the `Authorization` header. */
    readonly authorization: string,
    readonly signal?: AbortSignal,
    /** The server is this machine: its certificate, which may name another host, is not checked. */
    isOwn = false,
  ) {
    if (isOwn && url.startsWith('https:'))
      this.#dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  }

  snapshot(): Promise<CrawlSnapshot> {
    return this.#get<CrawlSnapshot>('snapshot');
  }

  /** Samples of the last ten minutes. */
  async history(): Promise<readonly Sample[]> {
    return (await this.#get<{ samples: readonly Sample[] }>('history')).samples;
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
      const query = new URLSearchParams({ limit: String(Math.min(limit ?? PAGE_ROWS, PAGE_ROWS)) });
      if (state !== undefined) query.set('state', state);
      if (after !== undefined) query.set('after', after);
      const page = await this.#get<{ queues: readonly QueueReport[]; next?: string }>(`queues?${query}`);
      yield page.queues;
      after = page.next;
    } while (after !== undefined && limit === undefined);
  }

  /** The servers contacted last, the latest first. */
  async hosts(limit = MAX_HOSTS): Promise<readonly HostReport[]> {
    return (await this.#get<{ hosts: readonly HostReport[] }>(`hosts?limit=${limit}`)).hosts;
  }

  /** The URIs that wait for a retry, the first due first. */
  async retries(limit = PAGE_ROWS): Promise<readonly WaitingReport[]> {
    return (await this.#get<{ retries: readonly WaitingReport[] }>(`retries?limit=${limit}`)).retries;
  }

  async workers(): Promise<readonly WorkerReport[]> {
    return (await this.#get<{ workers: readonly WorkerReport[] }>('workers')).workers;
  }

  async errors(): Promise<readonly RecentError[]> {
    return (await this.#get<{ errors: readonly RecentError[] }>('errors')).errors;
  }

  async chains(): Promise<ReturnType<CrawlControl['chains']>> {
    return (await this.#get<{ processors: ReturnType<CrawlControl['chains']> }>('chains')).processors;
  }

  /** Runs an action: `pause`, `delete-uris` ... */
  runAction(name: string, fields: Readonly<Record<string, string>> = {}): Promise<ActionReply> {
    return this.#request<ActionReply>(name, ACTION_TIMEOUT_MS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
  }

  #get<T>(path: string): Promise<T> {
    return this.#request<T>(path, QUERY_TIMEOUT_MS, {});
  }

  async #request<T>(
    path: string,
    timeoutMs: number,
    {
      headers,
      ...init
    }: Pick<RequestInit, 'method' | 'body'> & { readonly headers?: Record<string, string> },
  ): Promise<T> {
    const timeout = AbortSignal.timeout(timeoutMs);
    let reply: Response;
    let text: string;
    try {
      reply = await fetch(new URL(`api/${path}`, this.url), {
        ...init,
        headers: { ...headers, authorization: this.authorization },
        redirect: 'error',
        ...(this.#dispatcher === undefined ? {} : { dispatcher: this.#dispatcher }),
        signal: this.signal === undefined ? timeout : AbortSignal.any([this.signal, timeout]),
      });
      text = await reply.text();
    } catch (cause) {
      this.signal?.throwIfAborted();
      const why = timeout.aborted ? 'no answer in time' : reasonOf(cause);
      throw new ConnectionError(`the console at ${this.url} cannot be reached: ${why}`, { cause });
    }
    const value = parse(text);
    if (reply.ok) return value as T;
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
  throw new ProtocolError('the server at this address is not the console of a crawl', {
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
