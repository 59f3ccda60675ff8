// Crawls with the simplest loop (undici, htmlparser2 and a Set) for benchmark `crawl`. It fetches every page of
// one site and extracts its links; it summarizes and stores nothing. Prints {pages, bytes, seconds,
// maxRssBytes} as JSON.
//   node plain-crawl.js --url URL [--connections N] [--found FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Parser } from 'htmlparser2';
import { Pool } from 'undici';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8081/' },
    connections: { type: 'string', default: '16' },
    found: { type: 'string' },
  },
});
const start = new URL(values.url);
const connections = Number(values.connections);
const pool = new Pool(start.origin, { connections, pipelining: 1 });
const seen = new Set<string>();
const queue: string[] = [];
const found: string[] = [];
let nextIndex = 0;
let active = 0;
let pages = 0;
let bytes = 0;

function enqueue(url: URL): void {
  const path = url.pathname + url.search;
  if (url.origin !== start.origin || seen.has(path)) return;
  seen.add(path);
  queue.push(path);
}

async function visit(path: string): Promise<void> {
  const response = await pool.request({ path, method: 'GET' });
  if (response.statusCode !== 200 || !/html/.test(String(response.headers['content-type']))) {
    await response.body.dump();
    return;
  }
  const text = await response.body.text();
  pages++;
  found.push(path);
  bytes += text.length;
  const base = new URL(path, start.origin);
  const parser = new Parser({
    onopentag(name, attributes) {
      const link =
        name === 'a' || name === 'area'
          ? attributes.href
          : /^i?frame$/.test(name)
            ? attributes.src
            : undefined;
      if (link !== undefined && URL.canParse(link, base.href)) enqueue(new URL(link, base));
    },
  });
  parser.end(text);
}

const begin = performance.now();
enqueue(start);
await new Promise<void>((done) => {
  const pump = (): void => {
    while (active < connections && nextIndex < queue.length) {
      active++;
      visit(queue[nextIndex++] ?? '/')
        .catch(() => undefined)
        .finally(() => {
          active--;
          pump();
        });
    }
    if (active === 0 && nextIndex >= queue.length) done();
  };
  pump();
});
const seconds = (performance.now() - begin) / 1000;
const maxRssBytes = process.resourceUsage().maxRSS * 1024;
await pool.close();
if (values.found !== undefined) writeFileSync(values.found, found.join('\n'));
process.stdout.write(`${JSON.stringify({ pages, bytes, seconds, maxRssBytes })}\n`);
