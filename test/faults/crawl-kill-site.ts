import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { page } from '../helpers/site.js';

/** Hosts of the site, each a loopback address with its own queue. */
const HOSTS: readonly string[] = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];

/** Sites on several addresses and one port that record the requests of each process of the crawler. */
export class KillSite implements AsyncDisposable {
  /** Requested paths except robots.txt, one list per process of the crawler, by host. */
  lives: Map<string, string[]>[] = [];
  /** Requests of the current process, including robots.txt. */
  requests = 0;
  onRequest: () => void = () => undefined;
  readonly #servers: Server[] = [];
  port = 0;

  private constructor(readonly pages: number) {}

  /** @param pages on each host */
  static async start(pages: number): Promise<KillSite> {
    const site = new KillSite(pages);
    for (const host of HOSTS) {
      const server = createServer((request, response) => {
        const path = request.url ?? '/';
        site.#note(host, path);
        const [status, headers, body] = site.#answer(host, path);
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

  /** The crawler was restarted. */
  begin(): void {
    this.lives.push(new Map());
    this.requests = 0;
  }

  forget(): void {
    this.lives = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  #note(host: string, path: string): void {
    this.requests++;
    if (path !== '/robots.txt') {
      const life = this.lives.at(-1);
      const paths = life?.get(host);
      if (paths === undefined) life?.set(host, [path]);
      else paths.push(path);
    }
    this.onRequest();
  }

  #answer(host: string, path: string): [number, Record<string, string>, string] {
    if (path === '/robots.txt')
      return [200, { 'content-type': 'text/plain' }, 'User-agent: *\nDisallow: /private\n'];
    const moved = /^\/moved(\d+)$/.exec(path)?.[1];
    if (moved !== undefined) return [302, { location: `/p${moved}.html` }, ''];
    const number = Number(/^\/p(\d+)\.html$/.exec(path)?.[1] ?? Number.NaN);
    if (!(number < this.pages)) return [404, { 'content-type': 'text/html' }, 'none'];
    const html = page(`Page ${number} of ${host}`, this.#links(host, number), `Number ${number} of ${host}.`);
    return [200, { 'content-type': 'text/html; charset=utf-8', etag: `"${host}-${number}"` }, html];
  }

  /** Links near and far, on this host and the next, some broken, some redirected, some forbidden. */
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
    return links;
  }
}
