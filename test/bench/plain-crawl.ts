// The rival of bench `crawl`: the plainest possible crawl loop, undici + htmlparser2 + a Set. It fetches every page of one
// site and walks it for links; it summarizes nothing and stores nothing. Prints {pages, bytes, seconds} as JSON.
//   node plain-crawl.js URL CONNECTIONS
import { Parser } from 'htmlparser2';
import { Pool } from 'undici';

const start = new URL(process.argv[2] ?? 'http://127.0.0.1:8081/');
const connections = Number(process.argv[3] ?? 16);
const pool = new Pool(start.origin, { connections, pipelining: 1 });
const seen = new Set<string>();
const queue: string[] = [];
let head = 0;
let active = 0;
let pages = 0;
let bytes = 0;

function add(url: URL): void {
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
      if (link !== undefined && URL.canParse(link, base.href)) add(new URL(link, base));
    },
  });
  parser.end(text);
}

const begin = performance.now();
add(start);
await new Promise<void>((done) => {
  const pump = (): void => {
    while (active < connections && head < queue.length) {
      active++;
      visit(queue[head++] ?? '/')
        .catch(() => undefined)
        .finally(() => {
          active--;
          pump();
        });
    }
    if (active === 0 && head >= queue.length) done();
  };
  pump();
});
const seconds = (performance.now() - begin) / 1000;
await pool.close();
process.stdout.write(`${JSON.stringify({ pages, bytes, seconds })}\n`);
