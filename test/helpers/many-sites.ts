// Many sites on the loopback network, and the log of their requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventCount } from './event-count.js';

/** A request, its times in milliseconds. */
export interface LoggedRequest {
  readonly host: string;
  readonly path: string;
  readonly begin: number;
  end: number;
}

/** Many sites, one for each address of the loopback network, and the log of their requests. */
export class ManySites {
  readonly log: LoggedRequest[] = [];
  /** Requests of pages. */
  readonly served = new EventCount();
  readonly #server = createServer((request, response) => {
    const host = request.headers.host ?? '';
    const path = request.url ?? '/';
    const entry: LoggedRequest = { host, path, begin: performance.now(), end: Number.POSITIVE_INFINITY };
    this.log.push(entry);
    response.once('close', () => {
      entry.end = performance.now();
    });
    if (path === '/robots.txt') {
      response.writeHead(404).end();
      return;
    }
    this.served.add();
    response.writeHead(200, { 'content-type': 'text/html' }).end(this.#page(host, path));
  });

  /** @param pages of each site */
  constructor(
    readonly count: number,
    readonly pages: number,
  ) {}

  async start(): Promise<void> {
    this.#server.listen(0, '0.0.0.0');
    await once(this.#server, 'listening');
  }

  urlOf(site: number): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.2.${site >> 8}.${site & 255}:${port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #page(host: string, path: string): string {
    const [, high, low] = /^127\.2\.(\d+)\.(\d+):/.exec(host) ?? [];
    const site = 256 * Number(high) + Number(low);
    const links = Array.from({ length: this.pages - 1 }, (_, i) => `/${i + 1}`);
    for (const other of [2 * site + 1, 2 * site + 2, (7 * site + 3) % this.count])
      if (other < this.count) links.push(`${this.urlOf(other)}/`, `${this.urlOf(other)}/1`);
    const anchors = links.map((link) => `<a href="${link}">x</a>`).join('\n');
    return `<html><head><title>${site}${path}</title></head><body>${anchors}</body></html>`;
  }
}
