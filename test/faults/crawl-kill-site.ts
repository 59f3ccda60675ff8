// The site of crawl-kill.test.ts.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { EventCount } from '../helpers/event-count.js';
import { page } from '../helpers/site.js';

/** The hosts of the site: loopback addresses, each with its own queue. */
const HOSTS: readonly string[] = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];

/** Web servers on several addresses and one port that record the requests of each process of the crawler. */
export class RecordingSite implements AsyncDisposable {
  /** The paths that each process of the crawler requested, by host, without robots.txt. */
  processes: Map<string, string[]>[] = [];
  /** The requests of all processes, including robots.txt. */
  readonly requests = new EventCount();
  readonly #servers: Server[] = [];
  port = 0;

  private constructor(readonly pages: number) {}

  /** Starts the servers, with this number of pages per host. */
  static async start(pages: number): Promise<RecordingSite> {
    const site = new RecordingSite(pages);
    for (const host of HOSTS) {
      const server = createServer((request, response) => {
        const path = request.url ?? '/';
        site.#record(host, path);
        const [status, headers, body] = site.#respond(host, path);
        response.writeHead(status, headers).end(body);
      });
      server.listen(site.port, host);
      await once(server, 'listening');
      const address = server.address();
      if (typeof address === 'object' && address !== null) site.port = address.port;
      site.#servers.push(server);
    }
    return site;
  }

  get roots(): readonly string[] {
    return HOSTS.map((host) => `http://${host}:${this.port}/p0.html`);
  }

  /** Starts the record of the next process. */
  beginProcess(): void {
    this.processes.push(new Map());
  }

  /** Deletes all records. */
  clear(): void {
    this.processes = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  #record(host: string, path: string): void {
    if (path !== '/robots.txt') {
      const current = this.processes.at(-1);
      const paths = current?.get(host);
      if (paths === undefined) current?.set(host, [path]);
      else paths.push(path);
    }
    this.requests.add();
  }

  #respond(host: string, path: string): [status: number, headers: Record<string, string>, body: string] {
    if (path === '/robots.txt')
      return [200, { 'content-type': 'text/plain' }, 'User-agent: *\nDisallow: /private\n'];
    const moved = /^\/moved(\d+)$/.exec(path)?.[1];
    if (moved !== undefined) return [302, { location: `/p${moved}.html` }, ''];
    const number = Number(/^\/p(\d+)\.html$/.exec(path)?.[1] ?? Number.NaN);
    if (!(number < this.pages)) return [404, { 'content-type': 'text/html' }, 'not found'];
    const html = page(`Page ${number} of ${host}`, this.#links(host, number), `Number ${number} of ${host}.`);
    return [200, { 'content-type': 'text/html; charset=utf-8', etag: `"${host}-${number}"` }, html];
  }

  /** Returns links to pages of this host and the next; some are broken, redirected or forbidden. */
  #links(host: string, number: number): string[] {
    const { pages } = this;
    const next = HOSTS[(HOSTS.indexOf(host) + 1) % HOSTS.length];
    const links = [1, 7, 31].map((step) => `/p${(number * 3 + step) % pages}.html`);
    links.push(
      `/p${(number + 1) % pages}.html`,
      `http://${next}:${this.port}/p${(number * 5 + 2) % pages}.html`,
    );
    if (number % 10 === 3) links.push(`/moved${(number * 7) % pages}`);
    if (number % 15 === 4) links.push(`/gone${number}.html`);
    if (number % 20 === 5) links.push(`/private${number}.html`);
    // Not a URL (CRAWL-16.4).
    if (number % 12 === 6) links.push(`http://[${number}/`);
    return links;
  }
}
