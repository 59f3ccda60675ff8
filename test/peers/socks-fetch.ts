// Fetches through Debian's microsocks, with and without a login: the documents are those of the server, names
// are looked up by the proxy. Prints TAP. Needs microsocks; skipped without it.
import t from 'tap';
import { createFetcher } from '../../clients/fetch/index.js';
import { freePort, startDaemon } from '../helpers/daemon.js';
import { skipUnless } from '../helpers/gather-peers/servers.js';
import { Site } from '../helpers/site.js';

const MICROSOCKS = '/usr/bin/microsocks';
const skip = skipUnless([MICROSOCKS]);

t.test('RFC 1928, 1929: microsocks', { skip }, async (t) => {
  await using site = await Site.start({ '/': 'through the proxy' });
  const ports = { open: await freePort(), closed: await freePort() };
  await startDaemon(t, ports.open, MICROSOCKS, ['-i', '127.0.0.1', '-p', String(ports.open)]);
  await startDaemon(t, ports.closed, MICROSOCKS, [
    ...['-i', '127.0.0.1', '-p', String(ports.closed)],
    ...['-u', 'user', '-P', 'secret'],
  ]);
  await using fetcher = createFetcher({ userAgent: 'x' });
  // microsocks looks the name up: as a name of this machine it leads to the site.
  const url = `http://localhost:${site.port}/`;
  const open = { url, proxy: `socks5://127.0.0.1:${ports.open}` };
  const closed = { url, proxy: `socks5://127.0.0.1:${ports.closed}` };
  for (const each of [open, { ...closed, proxyLogin: 'user:secret' }]) {
    const { body } = await fetcher.fetch(each);
    t.equal(Buffer.from(body).toString(), 'through the proxy');
  }
  for (const proxyLogin of ['', 'user:wrong'])
    await t.rejects(fetcher.fetch({ ...closed, proxyLogin }), { code: 'ERR_CONNECTION' });
  const nowhere = `http://localhost:${await freePort()}/`;
  await t.rejects(fetcher.fetch({ ...open, url: nowhere }), {
    code: 'ERR_CONNECTION',
    message: /the proxy/,
  });
});
