// Whole crawls by HTTP and HTTPS of directories listed by nginx and apache2, compared with wget: the same set of documents, and no
// body in a second run. Prints TAP. Needs nginx, apache2-bin, wget, openssl; tests of missing programs are skipped.
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { scratch } from '../helpers/daemon.js';
import { confText, endOf, everything, exportedOf, gather, urlsOf } from '../helpers/gather-peers/gather.js';
import { wgetFinds } from '../helpers/gather-peers/plain-clients.js';
import {
  APACHE,
  NGINX,
  needs,
  OPENSSL,
  type Served,
  SQUID,
  startApache,
  startNginx,
  startSquid,
  WGET,
} from '../helpers/gather-peers/servers.js';
import { fillTree, md5 } from '../helpers/gather-peers/tree.js';

/** A folder with a tree, readable by the users of the servers. */
function site(t: Test) {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'site');
  return { directory, root, files: fillTree(root) };
}

const bodies = (lines: readonly string[]) => lines.filter((line) => / 200 /.test(line));

async function compared(t: Test, directory: string, server: Served, files: Map<string, Buffer>) {
  const url = `http://127.0.0.1:${server.port}/`;
  const found = wgetFinds(url, directory);
  // E-21: listings in another order are on the stop list; they are visited for their links.
  const wanted = found.filter((one) => !one.includes('?'));
  const data = join(directory, 'data');
  const nodes = { roots: [everything(url)] };
  const first = await gather(data, nodes);
  const visited = first.events.filter(({ status }) => status === 200).map((event) => event.url);
  t.comment(
    `wget: ${found.length} URLs; we: ${visited.length}, ${first.exported.length} objects; ${files.size} files`,
  );
  t.strictSame(visited.sort(), found, `the ${found.length} URLs that wget finds, each once`);
  t.strictSame(urlsOf(first), wanted, `of them ${wanted.length} are documents`);
  t.equal(wanted.filter((one) => !one.endsWith('/')).length, files.size);
  const sums = new Set(first.exported.map(({ text }) => text('MD5')));
  t.strictSame(
    [...files].filter(([, content]) => !sums.has(md5(content))).map(([path]) => path),
    [],
    'G-90: and they are the files, byte by byte',
  );
  const before = server.log().length;
  const second = await gather(data, nodes, { force: true });
  t.strictSame(urlsOf(second), wanted, 'the same after a second run');
  t.equal(second.report.counts.unchanged, wanted.length, 'G-108: nothing changed');
  return { found, again: server.log().slice(before) };
}

t.test('G-26, G-106 nginx and wget', { skip: needs([NGINX, WGET]) }, async (t) => {
  const { directory, root, files } = site(t);
  const server = await startNginx(t, directory, root);
  const { again } = await compared(t, directory, server, files);
  const lists = bodies(again).filter((line) => /^GET \S*\/ /.test(line));
  t.strictSame(bodies(again), lists, 'no body of a file comes twice; lists of directories have no date');
  t.equal(again.filter((line) => / 304 /.test(line)).length, files.size, `${files.size} times 304`);
});

t.test(
  'G-106 a page whose only mark is its date or its digest',
  { skip: needs([NGINX, WGET]) },
  async (t) => {
    const { directory, root, files } = site(t);
    const server = await startNginx(t, directory, root);
    const url = `http://127.0.0.1:${server.port}/`;
    const nodes = { roots: [everything(url)], lines: ['HTTP-If-Modified-Since: No'] };
    const data = join(directory, 'data');
    const first = await gather(data, nodes);
    const before = server.log().length;
    const second = await gather(data, nodes, { force: true });
    t.equal(second.report.counts.unchanged, first.exported.length, 'G-108 line 3: the digests are equal');
    const again = server.log().slice(before);
    t.equal(again.filter((line) => / 304 /.test(line)).length, 0, 'switched off: no conditional requests');
    t.ok(bodies(again).length >= files.size);
  },
);

t.test('G-26, G-106 apache2 and wget', { skip: needs([APACHE, WGET]) }, async (t) => {
  const { directory, root, files } = site(t);
  const server = await startApache(t, directory, root);
  const { found, again } = await compared(t, directory, server, files);
  t.ok(
    found.some((url) => url.includes('?C=')),
    'its listings can be sorted; each order is a separate page',
  );
  const twice = bodies(again.map((line) => line.replace(/^.*"GET (\S+) \S+" (\d+) .*$/, '$1 $2 '))).filter(
    (line) => !/\/(\?\S*)? 200 /.test(line),
  );
  t.strictSame(twice, [], 'no body of a file comes twice');
});

t.test('G-84 the same site through squid', { skip: needs([NGINX, SQUID, WGET], true) }, async (t) => {
  const { directory, root } = site(t);
  const server = await startNginx(t, directory, root);
  const squid = await startSquid(t, directory);
  const url = `http://127.0.0.1:${server.port}/`;
  const wanted = wgetFinds(url, directory);
  const gathered = await gather(join(directory, 'data'), {
    roots: [everything(url)],
    lines: [`HTTP-Proxy: 127.0.0.1:${squid.port}`],
  });
  t.strictSame(urlsOf(gathered), wanted, `${wanted.length} documents`);
  t.ok(squid.log().length >= wanted.length, `${squid.log().length} requests went through squid`);
});

t.test('a certificate without a trusted issuer', { skip: needs([NGINX, OPENSSL, WGET]) }, async (t) => {
  const { directory, root } = site(t);
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
  const nodes = { roots: [everything(url)] };
  const refused = await gather(join(directory, 'refused'), nodes);
  t.equal(refused.report.end, 'finished', 'the run ends well');
  t.match(endOf(refused, url), {
    disposition: 'failed',
    reason:
      /127\.0\.0\.1:\d+: the certificate is not accepted: .*NODE_EXTRA_CA_CERTS.*DEPTH_ZERO_SELF_SIGNED_CERT/,
  });
  t.strictSame(urlsOf(refused), []);

  const wanted = wgetFinds(url, directory, [`--ca-certificate=${certificate}`]);
  t.ok(wanted.length > 40, `wget finds ${wanted.length}`);
  const file = join(directory, 'https.cf');
  writeFileSync(file, confText(nodes));
  const before = process.env.NODE_EXTRA_CA_CERTS;
  process.env.NODE_EXTRA_CA_CERTS = certificate;
  const trusting = new CliProcess([
    'gatherer',
    file,
    '--no-daemon',
    '--json',
    '--data',
    join(directory, 'trusted'),
  ]);
  if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
  else process.env.NODE_EXTRA_CA_CERTS = before;
  const { code, stderr } = await trusting.finished;
  t.equal(code, 0, stderr.split('\r').at(-1) ?? '');
  const exported = await exportedOf(join(directory, 'trusted', 'generations'));
  t.strictSame(urlsOf({ exported }), wanted, `${wanted.length} documents with NODE_EXTRA_CA_CERTS`);
});
