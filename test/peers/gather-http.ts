// Crawls directories of nginx and apache2 by HTTP and HTTPS: finds the same documents as wget, and fetches none
// again in a second run. Prints TAP. Needs nginx, apache2-bin, wget, openssl and squid; tests whose programs
// are missing are skipped.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CliProcess } from '../helpers/cli.js';
import {
  finalEventOf,
  gather,
  readExport,
  renderConfiguration,
  unlimitedRoot,
  urlsOf,
} from '../helpers/gather-peers/gather.js';
import { listWithWget } from '../helpers/gather-peers/other-clients.js';
import {
  APACHE,
  type LoggedServer,
  NGINX,
  OPENSSL,
  SQUID,
  skipUnless,
  startApache,
  startNginx,
  startSquid,
  WGET,
} from '../helpers/gather-peers/servers.js';
import { createSite, md5 } from '../helpers/gather-peers/tree.js';
import { words } from '../helpers/words.js';

/** The lines of answers with a body. */
const withBody = (lines: readonly string[]) => lines.filter((line) => / 200 /.test(line));

/**
 * Crawls a site twice and compares the documents with those that wget finds. Returns the log of the second run.
 */
async function compareCrawls(t: Test, directory: string, server: LoggedServer, files: Map<string, Buffer>) {
  const url = `http://127.0.0.1:${server.port}/`;
  const found = listWithWget(url, directory);
  // E-21: listings in another order are on the stop list, so only their links are used.
  const expected = found.filter((each) => !each.includes('?'));
  const data = join(directory, 'data');
  const nodes = { roots: [unlimitedRoot(url)] };
  const first = await gather(data, nodes);
  const visited = first.events.filter(({ status }) => status === 200).map((event) => event.url);
  t.comment(
    `wget finds ${found.length} URLs, the Gatherer ${visited.length}; ${first.exported.length} objects, ${files.size} files`,
  );
  t.strictSame(visited.sort(), found, `the ${found.length} URLs that wget finds, each once`);
  t.strictSame(urlsOf(first), expected, `${expected.length} of them are exported`);
  t.equal(expected.filter((each) => !each.endsWith('/')).length, files.size);
  const sums = new Set(first.exported.map(({ text }) => text('MD5')));
  t.strictSame(
    [...files].filter(([, content]) => !sums.has(md5(content))).map(([path]) => path),
    [],
    'G-90: their contents are those of the files',
  );
  const before = server.log().length;
  const second = await gather(data, nodes, { force: true });
  t.strictSame(urlsOf(second), expected, 'a second run exports the same documents');
  t.equal(second.report.counts.unchanged, expected.length, 'G-108: nothing changed');
  return { found, again: server.log().slice(before) };
}

t.test('G-26, G-106 nginx and wget', { skip: skipUnless([NGINX, WGET]) }, async (t) => {
  const { directory, root, files } = createSite(t);
  const server = await startNginx(t, directory, root);
  const { again } = await compareCrawls(t, directory, server, files);
  const lists = withBody(again).filter((line) => /^GET \S*\/ /.test(line));
  t.strictSame(withBody(again), lists, 'only listings, which have no date, are sent again');
  t.equal(again.filter((line) => / 304 /.test(line)).length, files.size, 'all have status 304');
});

t.test('G-106 digests show unchanged pages', { skip: skipUnless([NGINX, WGET]) }, async (t) => {
  const { directory, root, files } = createSite(t);
  const server = await startNginx(t, directory, root);
  const url = `http://127.0.0.1:${server.port}/`;
  const nodes = { roots: [unlimitedRoot(url)], lines: ['HTTP-If-Modified-Since: No'] };
  const data = join(directory, 'data');
  const first = await gather(data, nodes);
  const before = server.log().length;
  const second = await gather(data, nodes, { force: true });
  t.equal(second.report.counts.unchanged, first.exported.length, 'G-108 line 3: the digests are equal');
  const again = server.log().slice(before);
  t.equal(again.filter((line) => / 304 /.test(line)).length, 0, 'no conditional requests are sent');
  t.ok(withBody(again).length >= files.size);
});

t.test('G-26, G-106 apache2 and wget', { skip: skipUnless([APACHE, WGET]) }, async (t) => {
  const { directory, root, files } = createSite(t);
  const server = await startApache(t, directory, root);
  const { found, again } = await compareCrawls(t, directory, server, files);
  t.ok(
    found.some((url) => url.includes('?C=')),
    'each sort order of a listing is a separate page',
  );
  const twice = withBody(again.map((line) => line.replace(/^.*"GET (\S+) \S+" (\d+) .*$/, '$1 $2 '))).filter(
    (line) => !/\/(\?\S*)? 200 /.test(line),
  );
  t.strictSame(twice, [], 'no file is sent again');
});

t.test('G-84 the same site through squid', { skip: skipUnless([NGINX, SQUID, WGET], true) }, async (t) => {
  const { directory, root } = createSite(t);
  const server = await startNginx(t, directory, root);
  const squid = await startSquid(t, directory);
  const url = `http://127.0.0.1:${server.port}/`;
  const expected = listWithWget(url, directory);
  const gathered = await gather(join(directory, 'data'), {
    roots: [unlimitedRoot(url)],
    lines: [`HTTP-Proxy: 127.0.0.1:${squid.port}`],
  });
  t.strictSame(urlsOf(gathered), expected, `${expected.length} documents`);
  t.ok(squid.log().length >= expected.length, `${squid.log().length} requests went through squid`);
});

t.test('a certificate without a trusted issuer', { skip: skipUnless([NGINX, OPENSSL, WGET]) }, async (t) => {
  const { directory, root } = createSite(t);
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  execFileSync(
    OPENSSL,
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  const server = await startNginx(t, directory, root, { key, certificate });
  const url = `https://127.0.0.1:${server.port}/`;
  const nodes = { roots: [unlimitedRoot(url)] };
  const refused = await gather(join(directory, 'refused'), nodes);
  t.equal(refused.report.end, 'finished', 'the run finishes');
  t.match(finalEventOf(refused, url), {
    disposition: 'failed',
    reason:
      /127\.0\.0\.1:\d+: the certificate is not accepted: .*NODE_EXTRA_CA_CERTS.*DEPTH_ZERO_SELF_SIGNED_CERT/,
  });
  t.strictSame(urlsOf(refused), []);

  const expected = listWithWget(url, directory, [`--ca-certificate=${certificate}`]);
  t.ok(expected.length > 40, `wget finds ${expected.length}`);
  const file = join(directory, 'https.cf');
  writeFileSync(file, renderConfiguration(nodes));
  const before = process.env.NODE_EXTRA_CA_CERTS;
  process.env.NODE_EXTRA_CA_CERTS = certificate;
  const trusting = new CliProcess(words`gatherer ${file} --no-daemon --json --data ${directory}/trusted`);
  if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
  else process.env.NODE_EXTRA_CA_CERTS = before;
  const { code, stderr } = await trusting.finished;
  t.equal(code, 0, stderr.split('\r').at(-1) ?? '');
  const exported = await readExport(join(directory, 'trusted', 'generations'));
  t.strictSame(urlsOf({ exported }), expected, `${expected.length} documents with NODE_EXTRA_CA_CERTS`);
});
