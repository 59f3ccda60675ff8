// A web site on loopback whose pages a test defines.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventCount } from './event-count.js';

export interface SiteRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Time of arrival, milliseconds since 1970. */
  readonly at: number;
}

/** The markup of a page, or a function that answers its requests. */
export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A web site on a free port of a loopback address that records its requests. */
export class Site implements AsyncDisposable {
  readonly requests: SiteRequest[] = [];
  /** Counts the requests. */
  readonly served = new EventCount();
  /** The largest number of concurrent requests so far. */
  maxConcurrent = 0;
  readonly #server;
  #active = 0;

  private constructor(readonly pages: Map<string, Page>) {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '/';
      this.requests.push({ path, headers: request.headers, at: Date.now() });
      this.served.add();
      this.#active++;
      this.maxConcurrent = Math.max(this.maxConcurrent, this.#active);
      response.once('close', () => {
        this.#active--;
      });
      const page = this.pages.get(path);
      if (page === undefined) response.writeHead(404).end('none');
      else if (typeof page === 'function') page(request, response);
      else {
        const type = path.endsWith('.txt') ? 'text/plain' : 'text/html; charset=utf-8';
        response.writeHead(200, { 'content-type': type }).end(page);
      }
    });
  }

  static async start(pages: Readonly<Record<string, Page>>, host = '127.0.0.1'): Promise<Site> {
    const site = new Site(new Map(Object.entries(pages)));
    site.#server.listen(0, host);
    await once(site.#server, 'listening');
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** Requested paths, without robots.txt. */
  get paths(): string[] {
    return this.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Renders a page that links to others. */
export function page(title: string, links: readonly string[], body = ''): string {
  const anchors = links.map((href) => `<li><a href="${href}">${href}</a></li>`).join('\n');
  return `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${body}</p><ul>${anchors}</ul></body></html>`;
}

/**
 * Serves a document with a validator: to the condition that repeats it the answer is 304. `conditions` collects
 * the conditions.
 */
export function validated(
  body: string,
  [validator, value]: readonly [name: 'etag' | 'last-modified', value: string],
  conditions: (string | undefined)[] = [],
  type = 'text/html',
): Page {
  return (request, response) => {
    const asked = request.headers[validator === 'etag' ? 'if-none-match' : 'if-modified-since'];
    conditions.push(asked);
    if (asked === value) response.writeHead(304).end();
    else response.writeHead(200, { 'content-type': type, [validator]: value }).end(body);
  };
}
