import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../../protocols/errors.js';
import type { Sample } from '../../crawler/console/history.js';
import type {
  CrawlControl,
  CrawlSnapshot,
  HostReport,
  QueueReport,
  QueueState,
  RecentError,
  WorkerReport,
} from '../../crawler/control.js';

/** Milliseconds for an answer; a checkpoint of a large crawl takes longer. */
const LOOK_MS = 30_000;
const ACT_MS = 15 * 60_000;

/** Rows that are asked for at once. */
const ROWS = 1000;

/** Most servers that a console tells. */
const HOSTS = 10_000;

/** What an act gave. */
export interface ActReply {
  readonly text: string;
  readonly [figure: string]: unknown;
}

/** Asks the console of a running crawl. Every call throws ConnectionError when it is away, PeerError when it refuses. */
export class ConsoleClient {
  constructor(
    /** Ends in `/`. */
    readonly url: string,
    /** Value of the `Authorization` header. */
    readonly authorization: string,
    readonly signal?: AbortSignal,
  ) {}

  snapshot(): Promise<CrawlSnapshot> {
    return this.#get<CrawlSnapshot>('snapshot');
  }

  /** The last ten minutes. */
  async history(): Promise<readonly Sample[]> {
    return (await this.#get<{ samples: readonly Sample[] }>('history')).samples;
  }

  /** Queues in the order of their class keys: `limit` at most, or page by page all of them. */
  async *queues({
    state,
    limit,
  }: {
    readonly state?: QueueState;
    readonly limit?: number;
  } = {}): AsyncGenerator<readonly QueueReport[]> {
    let after: string | undefined;
    do {
      const query = new URLSearchParams({ limit: String(Math.min(limit ?? ROWS, ROWS)) });
      if (state !== undefined) query.set('state', state);
      if (after !== undefined) query.set('after', after);
      const page = await this.#get<{ queues: readonly QueueReport[]; next?: string }>(`queues?${query}`);
      yield page.queues;
      after = page.next;
    } while (after !== undefined && limit === undefined);
  }

  /** The servers met last, the newest first. */
  async hosts(limit = HOSTS): Promise<readonly HostReport[]> {
    return (await this.#get<{ hosts: readonly HostReport[] }>(`hosts?limit=${limit}`)).hosts;
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

  /** Has something done: `pause`, `delete-uris` ... */
  act(name: string, fields: Readonly<Record<string, string>> = {}): Promise<ActReply> {
    return this.#ask<ActReply>(name, ACT_MS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
  }

  #get<T>(path: string): Promise<T> {
    return this.#ask<T>(path, LOOK_MS, {});
  }

  async #ask<T>(path: string, milliseconds: number, init: RequestInit): Promise<T> {
    const late = AbortSignal.timeout(milliseconds);
    let reply: Response;
    let text: string;
    try {
      reply = await fetch(new URL(`api/${path}`, this.url), {
        ...init,
        headers: { ...init.headers, authorization: this.authorization },
        redirect: 'error',
        signal: this.signal === undefined ? late : AbortSignal.any([this.signal, late]),
      });
      text = await reply.text();
    } catch (cause) {
      this.signal?.throwIfAborted();
      const why = late.aborted ? 'no answer in time' : reasonOf(cause);
      throw new ConnectionError(`the console at ${this.url} cannot be reached: ${why}`, { cause });
    }
    const value = parse(text);
    if (reply.ok) return value as T;
    const problem = (value as { error?: unknown }).error;
    const sentence = typeof problem === 'string' ? problem : `HTTP status ${reply.status}`;
    if (reply.status === 400) throw new UsageError(sentence);
    throw new PeerError(sentence, reply.status);
  }
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new ProtocolError('what answers there is not the console of a crawl', {
    protocol: 'config',
    rule: 'JSON',
    offset: 0,
  });
}

/** Of fetch's errors the cause says what was wrong. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
