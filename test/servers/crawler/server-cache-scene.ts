// A ServerCache over a fake network and a manual clock, for the tests of servers and robots.txt.
import type { Fetcher, FetchRequest, FetchResult } from '../../../clients/fetch/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import {
  type CrawlSettings,
  type CrawlSettingsInput,
  crawlSettingsSchema,
} from '../../../servers/crawler/order/settings.js';
import { ServerCache, type ServerCacheOptions } from '../../../servers/crawler/servers/server-cache.js';

/** A signal that is never aborted. */
export const never: AbortSignal = new AbortController().signal;

/** A response of the fake network. */
export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly location?: string;
  readonly remoteAddress?: string;
}

/** Responds from a table of pages; other URLs cannot be reached. */
class FakeNet implements Fetcher {
  readonly requests: FetchRequest[] = [];
  /** Responses wait for this promise. */
  gate: Promise<void> = Promise.resolve();

  constructor(
    readonly pages: Record<string, Reply | Error>,
    readonly clock: { now: number },
  ) {}

  async fetch(request: FetchRequest): Promise<FetchResult> {
    this.requests.push(request);
    const beginTime = this.clock.now;
    await this.gate;
    request.signal?.throwIfAborted();
    this.clock.now += 100;
    const page = this.pages[request.url] ?? new ConnectionError('connection refused');
    if (page instanceof Error) throw page;
    const { status, body = '', location, remoteAddress } = page;
    const bytes = new TextEncoder().encode(body);
    const kept = bytes.slice(0, request.maxBytes);
    return {
      url: request.url,
      status,
      headers: {},
      lastModified: 0,
      etag: '',
      body: kept,
      truncated: kept.length < bytes.length,
      location,
      remoteAddress,
      local: false,
      beginTime,
      endTime: this.clock.now,
    };
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A ServerCache with its fake network and manual clock (milliseconds). */
interface Setup {
  readonly net: FakeNet;
  readonly clock: { now: number };
  readonly servers: ServerCache;
}

/** Creates a ServerCache over a fake network of these pages; the settings apply to all URLs. */
export function setUp(
  pages: Record<string, Reply | Error>,
  settings: CrawlSettingsInput = {},
  options: Partial<ServerCacheOptions> = {},
): Setup {
  const clock = { now: 1_000_000 };
  const net = new FakeNet(pages, clock);
  // Redirects of robots.txt wait for the pause in real time.
  const parsed: CrawlSettings = crawlSettingsSchema.parse({ minDelayMs: 0, ...settings });
  const servers = new ServerCache({
    fetcher: net,
    settingsFor: () => parsed,
    robotsAgent: 'Harvest',
    userAgent: 'Harvest/1.9 (+http://crawler.example/)',
    timeoutMs: 1000,
    now: () => clock.now,
    ...options,
  });
  return { net, clock, servers };
}

/** The URL of robots.txt of a.example. */
export const ROBOTS = 'http://a.example/robots.txt';

/** Returns the URL of a path of a.example. */
export const page = (path: string): string => `http://a.example${path}`;

/** Returns the pages of a network whose only page is robots.txt of a.example. */
export const robotsOf = (body: string): Record<string, Reply> => ({ [ROBOTS]: { status: 200, body } });

/** Fetches robots.txt of a server until its rules are known; returns the number of attempts. */
export async function settle({ servers }: Setup, url = page('/')): Promise<number> {
  for (let tries = 0; ; tries++) {
    if (servers.robotsKnown(url)) return tries;
    await servers.fetchRobots(url, never);
  }
}
