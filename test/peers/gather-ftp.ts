// Crawls vsftpd and pyftpdlib by FTP: finds the same documents as lftp, and retrieves none of them in a second
// run. Prints TAP. Needs lftp, vsftpd, python3-pyftpdlib, squid, and root; tests whose programs are missing are
// skipped.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  finalEventOf,
  type Gathered,
  gather,
  unlimitedRoot,
  urlsOf,
} from '../helpers/gather-peers/gather.js';
import { listWithLftp } from '../helpers/gather-peers/other-clients.js';
import {
  hasPyftpdlib,
  LFTP,
  SQUID,
  skipUnless,
  startPyftpdlib,
  startSquid,
  startVsftpd,
  VSFTPD,
} from '../helpers/gather-peers/servers.js';
import { createSite, MODIFIED, md5 } from '../helpers/gather-peers/tree.js';

/** The decoded paths of the exported documents below a URL. */
function pathsOf(gathered: Gathered, root: string): string[] {
  return urlsOf(gathered)
    .map((url) => decodeURIComponent(url.slice(root.length)))
    .sort();
}

/** Checks that the documents are the expected ones, with the contents of the files. */
function checkDocuments(
  t: Test,
  gathered: Gathered,
  root: string,
  expected: string[],
  files: Map<string, Buffer>,
) {
  t.equal(expected.length, files.size, `lftp finds all ${expected.length} files`);
  t.strictSame(
    pathsOf(gathered, root),
    expected,
    `the Gatherer exports the same ${gathered.exported.length} documents, each once`,
  );
  const sums = new Map(gathered.exported.map(({ url, text }) => [url, text('MD5')]));
  const other = urlsOf(gathered).filter(
    (url) => sums.get(url) !== md5(files.get(decodeURIComponent(url.slice(root.length))) ?? Buffer.of()),
  );
  t.strictSame(other, [], 'G-90: their contents are equal');
}

t.test('G-26, G-88, G-108 vsftpd and lftp', { skip: skipUnless([VSFTPD, LFTP], true) }, async (t) => {
  const { directory, root, files } = createSite(t);
  const server = await startVsftpd(t, directory, root);
  const expected = listWithLftp(server.port);
  const url = `ftp://127.0.0.1:${server.port}/`;
  const nodes = { roots: [unlimitedRoot(url)] };
  const data = join(directory, 'data');
  const count = (from: number, command: string) =>
    server
      .log()
      .slice(from)
      .filter((line) => line.includes(`FTP command: Client "127.0.0.1", "${command}`)).length;
  let from = server.log().length;
  const first = await gather(data, nodes);
  checkDocuments(t, first, url, expected, files);
  t.equal(count(from, 'RETR'), files.size, 'each file is retrieved once');
  t.equal(count(from, 'USER'), 1, 'G-88: one login is enough');
  t.ok(
    first.exported.every(({ text }) => text('Last-Modification-Time') === String(MODIFIED)),
    'G-100: the times are those of MDTM',
  );
  from = server.log().length;
  const second = await gather(data, nodes, { force: true });
  t.strictSame(pathsOf(second, url), expected, 'a second run exports the same documents');
  t.equal(second.report.counts.unchanged, files.size, 'G-108 line 2: nothing changed');
  t.equal(count(from, 'RETR'), 0, 'no file is retrieved again');
  from = server.log().length;
  const third = await gather(data, nodes);
  t.equal(third.report.counts.kept, files.size, 'G-108 line 1: not due');
  t.equal(count(from, 'MDTM'), 0, 'the server is not asked for times');
});

const skipPython = hasPyftpdlib() ? skipUnless([LFTP]) : 'python3-pyftpdlib is needed';
t.test('G-26, G-108 pyftpdlib and lftp', { skip: skipPython }, async (t) => {
  const { directory, root, files } = createSite(t);
  const port = await startPyftpdlib(t, root);
  const url = `ftp://127.0.0.1:${port}/`;
  const data = join(directory, 'data');
  const first = await gather(data, { roots: [unlimitedRoot(url)] });
  checkDocuments(t, first, url, listWithLftp(port), files);
  const second = await gather(data, { roots: [unlimitedRoot(url)] }, { force: true });
  t.equal(second.report.counts.unchanged, files.size);
  t.equal(second.report.bytes, 0, 'no byte of a document is fetched again');
});

t.test('G-81, G-83 logins', { skip: skipPython }, async (t) => {
  const { directory, root, files } = createSite(t);
  const port = await startPyftpdlib(t, root, { user: 'joe', password: 'se@cret' });
  const url = `ftp://127.0.0.1:${port}/`;
  const roots = [unlimitedRoot(url)];
  const logIn = (name: string, password: string) =>
    gather(join(directory, name), { roots, lines: [`FTP-Auth: 127.0.0.1:${port} joe ${password}`] });
  checkDocuments(t, await logIn('good', 'se@cret'), url, listWithLftp(port, 'joe:se%40cret@'), files);
  const bad = await logIn('bad', 'wrong');
  t.equal(bad.report.end, 'finished');
  t.match(finalEventOf(bad, url), { disposition: 'failed', status: 401 });
  t.strictSame(urlsOf(bad), []);
  const inUrl = `ftp://joe:se%40cret@127.0.0.1:${port}/pub/`;
  const own = await gather(join(directory, 'own'), { roots: [unlimitedRoot(inUrl)] });
  t.equal(own.exported.length, [...files.keys()].filter((path) => path.startsWith('pub/')).length);
  t.notMatch(urlsOf(own).join('\n'), /joe|cret/, 'G-81: the password is not visible');
});

t.test('G-84 a proxy for HTTP only', { skip: skipPython || skipUnless([SQUID], true) }, async (t) => {
  const { directory, root } = createSite(t);
  const port = await startPyftpdlib(t, root);
  const squid = await startSquid(t, directory);
  const url = `ftp://127.0.0.1:${port}/`;
  const gathered = await gather(join(directory, 'data'), {
    roots: [unlimitedRoot(url)],
    lines: [`HTTP-Proxy: 127.0.0.1:${squid.port}`],
  });
  t.strictSame(pathsOf(gathered, url), listWithLftp(port));
  t.notMatch(squid.log().join('\n'), 'ftp:', 'HTTP-Proxy does not apply to FTP');
});
