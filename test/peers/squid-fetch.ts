// HTTP and FTP through Debian's squid: documents through the proxy are those of the servers.
// Prints TAP. Needs squid, python3-pyftpdlib and root; tests of missing programs are skipped.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createFetcher } from '../../clients/fetch/index.js';
import { daemon, freePort, scratch } from '../helpers/daemon.js';

const hasPyftpdlib = spawnSync('/usr/bin/python3', ['-c', 'import pyftpdlib']).status === 0;
const usable = existsSync('/usr/sbin/squid') && hasPyftpdlib && process.getuid?.() === 0;
t.test('G-84 squid', { skip: usable ? false : 'squid, python3-pyftpdlib and root are needed' }, async (t) => {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const files = join(directory, 'ftp');
  mkdirSync(join(files, 'sub'), { recursive: true });
  writeFileSync(join(files, 'a b.txt'), 'by ftp');
  const own = join(directory, 'squid');
  mkdirSync(own);
  spawnSync('chown', ['proxy', own]);
  const port = await freePort();
  const config = join(directory, 'squid.conf');
  writeFileSync(
    config,
    `http_port 127.0.0.1:${port}
acl here src 127.0.0.1
http_access allow here
http_access deny all
cache deny all
pid_filename ${own}/pid
access_log stdio:${own}/access.log
cache_log ${own}/cache.log
coredump_dir ${own}
netdb_filename none
pinger_enable off
visible_hostname localhost
shutdown_lifetime 1 second
`,
  );
  const ftpPort = await freePort();
  const ftpArgs = ['-m', 'pyftpdlib', '-i', '127.0.0.1', '-p', String(ftpPort), '-d', files];
  await daemon(t, ftpPort, '/usr/bin/python3', ftpArgs);
  await daemon(t, port, '/usr/sbin/squid', ['-N', '-f', config]);
  const web = createServer((request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else response.writeHead(200, { ETag: '"1"' }).end(`page ${request.url} via ${request.headers.via}`);
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.teardown(() => {
    web.closeAllConnections();
    web.close();
  });
  const proxy = `127.0.0.1:${port}`;
  await using fetcher = createFetcher({ userAgent: 'x', httpProxy: proxy, ftpProxy: proxy });
  const page = `http://127.0.0.1:${(web.address() as AddressInfo).port}/x`;
  const answer = await fetcher.fetch({ url: page });
  t.match(Buffer.from(answer.body).toString(), /^page \/x via 1\.1 localhost/);
  t.match(await fetcher.fetch({ url: page, headers: { etag: '"1"' } }), { status: 304 });
  const file = await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/a%20b.txt` });
  t.match(file, { status: 200, body: Buffer.from('by ftp') });
  const listing = await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/` });
  t.match(listing, { status: 200, contentType: 'text/html' });
  t.match(Buffer.from(listing.body).toString(), /a%20b\.txt/, 'a page with links');
  t.match(await fetcher.fetch({ url: `ftp://127.0.0.1:${ftpPort}/none` }), { status: 404 });
});
