// Whole crawls by FTP of vsftpd and pyftpdlib, compared with lftp: the same set of documents, and nothing is retrieved in a second
// run. Prints TAP. Needs lftp, vsftpd, python3-pyftpdlib, squid, and root; tests of missing programs are skipped.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scratch } from '../helpers/daemon.js';
import { endOf, everything, type Gathered, gather, urlsOf } from '../helpers/gather-peers/gather.js';
import { lftpFinds } from '../helpers/gather-peers/plain-clients.js';
import {
  hasPyftpdlib,
  LFTP,
  needs,
  SQUID,
  startPyftpdlib,
  startSquid,
  startVsftpd,
  VSFTPD,
} from '../helpers/gather-peers/servers.js';
import { CHANGED, fillTree, md5 } from '../helpers/gather-peers/tree.js';

function site(t: Test) {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'site');
  return { directory, root, files: fillTree(root) };
}

/** Decoded paths below a root's URL. */
function pathsOf(gathered: Gathered, root: string): string[] {
  return urlsOf(gathered)
    .map((url) => decodeURIComponent(url.slice(root.length)))
    .sort();
}

function sameDocuments(
  t: Test,
  gathered: Gathered,
  root: string,
  wanted: string[],
  files: Map<string, Buffer>,
) {
  t.equal(wanted.length, files.size, `lftp finds ${wanted.length} files`);
  t.strictSame(pathsOf(gathered, root), wanted, `we the same ${gathered.exported.length}, each once`);
  const sums = new Map(gathered.exported.map(({ url, text }) => [url, text('MD5')]));
  const other = urlsOf(gathered).filter(
    (url) => sums.get(url) !== md5(files.get(decodeURIComponent(url.slice(root.length))) ?? Buffer.of()),
  );
  t.strictSame(other, [], 'G-90: byte by byte');
}

t.test('G-26, G-88, G-108 vsftpd and lftp', { skip: needs([VSFTPD, LFTP], true) }, async (t) => {
  const { directory, root, files } = site(t);
  const server = await startVsftpd(t, directory, root);
  const wanted = lftpFinds(server.port);
  const url = `ftp://127.0.0.1:${server.port}/`;
  const nodes = { roots: [everything(url)] };
  const data = join(directory, 'data');
  const count = (from: number, command: string) =>
    server
      .log()
      .slice(from)
      .filter((line) => line.includes(`FTP command: Client "127.0.0.1", "${command}`)).length;
  let from = server.log().length;
  const first = await gather(data, nodes);
  sameDocuments(t, first, url, wanted, files);
  t.equal(count(from, 'RETR'), files.size, 'each file is retrieved once');
  t.equal(count(from, 'USER'), 1, 'G-88: over one login');
  t.ok(
    first.exported.every(({ text }) => text('Last-Modification-Time') === String(CHANGED)),
    'G-100: with the time that MDTM tells',
  );
  from = server.log().length;
  const second = await gather(data, nodes, { force: true });
  t.strictSame(pathsOf(second, url), wanted, 'the same after a second run');
  t.equal(second.report.counts.unchanged, files.size, 'G-108 line 2: nothing changed');
  t.equal(count(from, 'RETR'), 0, 'and no file is retrieved');
  from = server.log().length;
  const third = await gather(data, nodes);
  t.equal(third.report.counts.kept, files.size, 'G-108 line 1: not due');
  t.equal(count(from, 'MDTM'), 0, 'nor asked about');
});

const skipPython = hasPyftpdlib() ? needs([LFTP]) : 'python3-pyftpdlib is needed';
t.test('G-26, G-108 pyftpdlib and lftp', { skip: skipPython }, async (t) => {
  const { directory, root, files } = site(t);
  const port = await startPyftpdlib(t, root);
  const url = `ftp://127.0.0.1:${port}/`;
  const data = join(directory, 'data');
  const first = await gather(data, { roots: [everything(url)] });
  sameDocuments(t, first, url, lftpFinds(port), files);
  const second = await gather(data, { roots: [everything(url)] }, { force: true });
  t.equal(second.report.counts.unchanged, files.size);
  t.equal(second.report.bytes, 0, 'no byte of a document is fetched');
});

t.test('G-81, G-83 logins', { skip: skipPython }, async (t) => {
  const { directory, root, files } = site(t);
  const port = await startPyftpdlib(t, root, { user: 'joe', password: 'se@cret' });
  const url = `ftp://127.0.0.1:${port}/`;
  const roots = [everything(url)];
  const good = await gather(join(directory, 'good'), {
    roots,
    lines: [`FTP-Auth: 127.0.0.1:${port} joe se@cret`],
  });
  sameDocuments(t, good, url, lftpFinds(port, 'joe:se%40cret@'), files);
  const bad = await gather(join(directory, 'bad'), {
    roots,
    lines: [`FTP-Auth: 127.0.0.1:${port} joe wrong`],
  });
  t.equal(bad.report.end, 'finished');
  t.match(endOf(bad, url), { disposition: 'failed', status: 401 });
  t.strictSame(urlsOf(bad), []);
  const inUrl = `ftp://joe:se%40cret@127.0.0.1:${port}/pub/`;
  const own = await gather(join(directory, 'own'), { roots: [everything(inUrl)] });
  t.equal(own.exported.length, [...files.keys()].filter((path) => path.startsWith('pub/')).length);
  t.notMatch(urlsOf(own).join('\n'), /joe|cret/, 'G-81: the password is not visible');
});

t.test('G-84 with a squid for HTTP only', { skip: skipPython || needs([SQUID], true) }, async (t) => {
  const { directory, root } = site(t);
  const port = await startPyftpdlib(t, root);
  const squid = await startSquid(t, directory);
  const url = `ftp://127.0.0.1:${port}/`;
  const gathered = await gather(join(directory, 'data'), {
    roots: [everything(url)],
    lines: [`HTTP-Proxy: 127.0.0.1:${squid.port}`],
  });
  t.strictSame(pathsOf(gathered, url), lftpFinds(port));
  t.notMatch(squid.log().join('\n'), 'ftp:', 'HTTP-Proxy does not apply to FTP');
});
