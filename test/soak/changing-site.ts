// A web site on loopback whose pages change, appear and vanish from one round of gathering to the next.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

const PAGES = 120;

/** A site in which, each round, every tenth page has new content and one page in thirty is missing. */
export class ChangingSite implements AsyncDisposable {
  round = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ChangingSite> {
    const server = createServer((request, response) => {
      const found = /^\/(\d+)\.html$/.exec(request.url ?? '');
      const page = request.url === '/' ? 0 : found === null ? undefined : Number(found[1]);
      if (page === undefined || page >= PAGES || site.#isMissing(page)) {
        response.writeHead(404).end('not found');
        return;
      }
      const version = site.#versionOf(page);
      const tag = `"${page}-${version}"`;
      if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
      else {
        const headers = { 'content-type': 'text/html', etag: tag };
        response.writeHead(200, headers).end(render(page, version));
      }
    });
    const site = new ChangingSite(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return site;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${address === null || typeof address === 'string' ? 0 : address.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #versionOf(page: number): number {
    return Math.floor((this.round + (page % 10)) / 10);
  }

  #isMissing(page: number): boolean {
    return page > 0 && (page + this.round) % 30 === 0;
  }
}

function render(page: number, version: number): string {
  const links = [1, 2, 3, 7, 50]
    .map((step) => `<a href="/${(page * 3 + step) % PAGES}.html">on</a>`)
    .join(' ');
  const next = `<a href="/${(page + 1) % PAGES}.html">next</a>`;
  const text = `word${page % 17} version${version} `.repeat(40);
  return `<!DOCTYPE html><title>Page ${page}</title><h1>soak ${page}</h1><p>common ${text}</p>${next} ${links}`;
}
