// The memory of a crawl that archives documents which are larger than it.

import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { openOrdered } from '../helpers/ordered-crawl.js';

const MIB = 1 << 20;
const FILES = 10;
/** What ten times as many bytes may add to the memory. */
const GROWTH = 150 * MIB;

t.test('ten documents of 300 MiB take no more memory than ten of 30 MiB', async (t) => {
  const piece = Buffer.alloc(MIB, 'bytes of a film without pictures\n');
  const server = createServer((request, response) => {
    const [, name = '', size = ''] = /^\/(\w+)-(\d+)$/.exec(request.url ?? '') ?? [];
    if (name === 'films') {
      const names = Array.from({ length: FILES }, (_, index) => `<a href="/film${index}-${size}">x</a>`);
      response.setHeader('Content-Type', 'text/html');
      response.end(names.join(''));
    } else if (name === '') response.writeHead(404).end();
    else {
      response.writeHead(200, { 'Content-Length': Number(size) * MIB, 'Content-Type': 'video/mp4' });
      let left = Number(size);
      const write = (): void => {
        while (left > 0) {
          left--;
          if (!response.write(piece)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const base = t.testdir();
  const directory = join(base, 'warc');
  let peak = 0;
  let before = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  t.teardown(() => clearInterval(look));
  const { port } = server.address() as AddressInfo;
  const crawl = async (name: string, path: string): Promise<void> => {
    const order = { warc: { directory, index: true }, workers: 4, settings: { parallelQueues: 4 } };
    await using gatherer = await openOrdered(join(base, name), `http://127.0.0.1:${port}${path}`, order);
    await gatherer.run(new AbortController().signal);
  };
  await crawl('short', '/films-30');
  before = peak;
  peak = 0;
  await crawl('long', '/films-300');
  t.ok(
    peak - before < GROWTH,
    `${Math.round((peak - before) / MIB)} MiB more than ${Math.round(before / MIB)} MiB`,
  );
  const files = readdirSync(directory).filter((name) => name.endsWith('.warc.gz'));
  t.ok(files.length > 0 && files.every((name) => statSync(join(directory, `${name}.cdxj`)).size > 0));
  t.same(readdirSync(join(base, 'long', 'crawl', 'bodies')), [], 'no body is left on disk');
});
