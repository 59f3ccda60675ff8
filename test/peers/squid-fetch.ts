// Fetches by HTTP and FTP through Debian's squid: the documents are those of the servers.
// Prints TAP. Needs squid, python3-pyftpdlib and root; skipped if one is missing.
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createFetcher } from '../../clients/fetch/index.js';
import { scratchDirectory } from '../helpers/daemon.js';
import {
  hasPyftpdlib,
  SQUID,
  skipUnless,
  startPyftpdlib,
  startSquid,
} from '../helpers/gather-peers/servers.js';

const skip = hasPyftpdlib() ? skipUnless([SQUID], true) : 'python3-pyftpdlib is needed';
t.test('G-84 squid', { skip }, async (t) => {
  const directory = scratchDirectory(t);
  chmodSync(directory, 0o755);
  const files = join(directory, 'ftp');
  mkdirSync(join(files, 'sub'), { recursive: true });
  writeFileSync(join(files, 'a b.txt'), 'by ftp');
  const ftpPort = await startPyftpdlib(t, files);
  const squid = await startSquid(t, directory);
  const web = createServer((request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else response.writeHead(200, { ETag: '"1"' }).end(`page ${request.url} via ${request.headers.via}`);
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.teardown(() => {
    web.closeAllConnections();
    web.close();
  });
  const proxy = `127.0.0.1:${squid.port}`;
  await using fetcher = createFetcher({ userAgent: 'x', httpProxy: proxy, ftpProxy: proxy });
  const page = `http://127.0.0.1:${(web.address() as AddressInfo).port}/x`;
  const answer = await fetcher.fetch({ url: page });
  t.match(Buffer.from(answer.body).toString(), /^page \/x via 1\.1 localhost/);
  t.match(await fetcher.fetch({ url: page, headers: { etag: '"1"' } }), { status: 304 });
  const file = await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/a%20b.txt` });
  t.match(file, { status: 200, body: Buffer.from('by ftp') });
  const listing = await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/` });
  t.match(listing, { status: 200, contentType: 'text/html' });
  t.match(Buffer.from(listing.body).toString(), /a%20b\.txt/, 'the listing is a page with links');
  t.match(await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/none` }), { status: 404 });
});
