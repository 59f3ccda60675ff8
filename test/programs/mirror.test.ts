// `harvest mirror` as a process, and the names of its files.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { canonicalUrl } from '../../protocols/urls/index.js';
import { namePartsOf } from '../../servers/gatherer/mirror/file-names.js';
import { MirrorIndex } from '../../servers/gatherer/mirror/mirror-index.js';
import { requisitesOf } from '../../servers/gatherer/mirror/requisites.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { gate } from '../helpers/gate.js';
import { assertProperty } from '../helpers/property.js';
import { page, Site } from '../helpers/site.js';

// Each test starts processes, which takes long on a busy machine.
interface Report {
  readonly gathered: { readonly counts: Record<string, number>; readonly resumed: boolean };
  readonly written: number;
  readonly stale: number;
  readonly deleted: number;
  readonly complete: boolean;
}

async function mirror(...words: readonly string[]): Promise<Report> {
  const { stdout, stderr, code } = await cli('mirror', '--json', '--delay', '0', ...words);
  if (stdout === '') throw new Error(`${code}: ${stderr}`);
  return JSON.parse(stdout) as Report;
}

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((path) => !path.startsWith('.harvest/'))
    .sort();
}

const nameOf = (url: string): string =>
  namePartsOf(url)
    .map(({ name }) => name)
    .join('/');

t.test('G-8 file names are escaped, bounded and never outside the directory', (t) => {
  for (const [url, name] of [
    ['http://a.example.org/', 'a.example.org/index.html'],
    ['http://a.example.org:8080/b/', 'a.example.org+8080/b/index.html'],
    ['http://me:pw@a.example.org/b/c.html?x=1&y=/2', 'a.example.org/b/c.html%3Fx=1%26y=%2F2'],
    ['http://a.example.org/b?', 'a.example.org/b%3F'],
    ['http://a.example.org/a//b', 'a.example.org/a/%2F/b'],
    ['http://a.example.org/..%2f..%2fetc/passwd', 'a.example.org/..%2f..%2fetc/passwd'],
    ['http://a.example.org/.../x', 'a.example.org/%2E%2E%2E/x'],
    ['http://a.example.org/nul.txt', 'a.example.org/%6Eul.txt'],
    ['http://a.example.org/a.', 'a.example.org/a%2E'],
    ['http://[::1]:81/x', '%5B++1%5D+81/x'],
    ['news:comp.lang.c', 'news/comp.lang.c'],
  ] as const)
    t.equal(nameOf(url), name);
  const long = namePartsOf(`http://a.example.org/${'x'.repeat(3000)}.tar.gz`);
  t.ok(long[1]!.name.length <= 200 && long[1]!.name.endsWith('.tar.gz'));
  t.equal(namePartsOf(`http://a.example.org/${'d/'.repeat(100)}f.html`).length, 3);
  assertProperty(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.webPath(), (base, path) => {
      const url = canonicalUrl(`${base.replace(/[?#].*/, '')}/${path}`);
      if (url === undefined) return;
      for (const { name } of namePartsOf(url)) {
        t.ok(
          /^[A-Za-z0-9._~%+=@,-]{1,200}$/.test(name) && !/^\.\.?$/.test(name) && name !== '.harvest',
          name,
        );
      }
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('G-8 no two URLs share a file, in any case, and no file is the directory of another', async (t) => {
  const directory = t.testdir({});
  const urls = ['/File.txt', '/file.txt', '/a', '/a/b', '/A/c', '/x%3Fy', '/x?y'].map(
    (path) => `http://h.example.org${path}`,
  );
  urls.push('https://h.example.org/File.txt');
  const paths: string[] = [];
  {
    await using index = await MirrorIndex.open(join(directory, 'i'));
    for (const url of urls) {
      const entry = await index.entryFor(url);
      await index.markSeen(entry, 1);
      paths.push(entry.path);
    }
  }
  t.equal(new Set(paths.map((path) => path.toLowerCase())).size, urls.length);
  for (const path of paths)
    t.notOk(
      paths.some((other) => other.toLowerCase().startsWith(`${path.toLowerCase()}/`)),
      path,
    );
  t.equal(paths[0], 'h.example.org/File.txt');
  t.match(paths[1], /^h\.example\.org\/file~[0-9a-f]{8}\.txt$/);
  await using again = await MirrorIndex.open(join(directory, 'i'));
  for (const [i, url] of urls.entries())
    t.equal((await again.entryFor(url)).path, paths[i], 'the name of a URL never changes');
});

t.test('G-8 the requisites of a page and of a style sheet', async (t) => {
  const html = `<base href="/d/"><img src=p.png srcset="q.png 1x, /r.png 2x"><link rel="stylesheet" href="s.css">
<link rel=next href=n.html><script src="//h.example.org/j.js"></script><p style="background: url('b.png')"><a href=a.html>a</a>
<style>@import "i.css"; p { background: url(u.gif) }</style><img src="data:image/png;base64,AA"><img src="javascript:1">`;
  t.same(
    (await requisitesOf(Buffer.from(html), 'text/html', 'http://h.example.org/x/')).map((url) =>
      url.slice('http://h.example.org'.length),
    ),
    ['/d/p.png', '/d/q.png', '/r.png', '/d/s.css', '/j.js', '/d/b.png', '/d/i.css', '/d/u.gif'],
  );
  t.same(await requisitesOf(Buffer.from('a{b:url("c.png")}'), 'text/css', 'http://h.example.org/s/t.css'), [
    'http://h.example.org/s/c.png',
  ]);
  t.same(await requisitesOf(Buffer.from(html), 'text/plain', 'http://h.example.org/'), []);
  // Elements and URLs that two pieces of a large page share.
  const long = `<style>${'p{}'.repeat(30_000)} p { background: url(in.png) }</style><img src=after.png>`;
  t.same(await requisitesOf(Buffer.from(long), 'text/html', 'http://h.example.org/'), [
    'http://h.example.org/in.png',
    'http://h.example.org/after.png',
  ]);
});

t.test('G-8 a mirror has what wget -m has, fetches only changes, and deletes with --delete', async (t) => {
  const directory = t.testdir({});
  await using site = await Site.start({
    '/': `${page('Home', ['a.html', 'sub/', 'moved', 'gone.html', 'text.txt'])}<img src="p.png">`,
    '/a.html': page('A', ['/']),
    '/sub/': page('Sub', ['../a.html', 'deep.html']),
    '/sub/deep.html': page('Deep', []),
    '/moved': (_request, response) => void response.writeHead(302, { location: '/target.html' }).end(),
    '/target.html': page('Target', []),
    '/gone.html': page('Soon gone', []),
    '/p.png': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'image/png' }).end('\x89PNG'),
    '/text.txt': (request, response) => {
      const same = request.headers['if-none-match'] === '"1"';
      response.writeHead(same ? 304 : 200, {
        'content-type': 'text/plain',
        etag: '"1"',
        'last-modified': 'Thu, 01 Jan 2004 00:00:00 GMT',
      });
      response.end(same ? undefined : 'text\n');
    },
  });
  const copy = join(directory, 'copy');
  const host = `127.0.0.1+${site.port}`;
  const first = await mirror(`${site.url}/`, copy);
  t.equal(first.gathered.counts.failed, 0);
  const expected =
    'a.html gone.html index.html p.png sub/deep.html sub/index.html target.html text.txt'.split(' ');
  t.same(
    filesOf(copy),
    expected.map((name) => `${host}/${name}`),
  );
  t.equal(readFileSync(join(copy, host, 'text.txt'), 'utf8'), 'text\n');
  t.equal(statSync(join(copy, host, 'text.txt')).mtime.getTime(), Date.UTC(2004, 0, 1));
  if (spawnSync('wget', ['--version']).status === 0) {
    const words = ['-m', '-q', '-e', 'robots=off', '-P', join(directory, 'wget'), `${site.url}/`];
    await once(spawn('wget', words, { stdio: 'ignore' }), 'exit');
    const theirs = filesOf(join(directory, 'wget')).map((path) => path.replace(/^[^/]*\//, ''));
    // wget stores a redirected document under the name of the link.
    t.same(theirs.map((name) => (name === 'moved' ? 'target.html' : name)).sort(), expected);
  }

  const before = site.requests.length;
  const second = await mirror(`${site.url}/`, copy);
  t.equal(second.gathered.counts.kept, 8);
  t.equal(second.written, 0);
  t.equal(site.paths.length, site.paths.slice(0, before).length, 'none within the Refresh-Rate');

  rmSync(join(copy, host, 'a.html'));
  const third = await mirror(`${site.url}/`, copy);
  t.equal(third.written, 1, 'a deleted file is fetched again');
  t.ok(existsSync(join(copy, host, 'a.html')));

  const checked = await mirror('--check', `${site.url}/`, copy);
  t.equal(checked.written, 0);
  t.equal(
    site.requests.filter(({ path, headers }) => path === '/text.txt' && headers['if-none-match'] === '"1"')
      .length,
    1,
  );

  site.pages.delete('/gone.html');
  const stale = await mirror('--check', `${site.url}/`, copy);
  t.same([stale.stale, stale.deleted], [1, 0]);
  t.ok(existsSync(join(copy, host, 'gone.html')), 'only --delete removes files');
  site.pages.set('/sub/', (_request, response) => void response.writeHead(500).end());
  const doubtful = await mirror('--check', '--delete', `${site.url}/`, copy);
  t.same([doubtful.deleted, doubtful.complete], [1, false]);
  t.ok(existsSync(join(copy, host, 'sub/deep.html')), 'a page that this run did not reach is kept');
  t.notOk(existsSync(join(copy, host, 'gone.html')));
});

t.test('G-8, G-171 a killed mirror continues: nothing is lost, no partial file is left', async (t) => {
  const directory = t.testdir({});
  const names = Array.from({ length: 40 }, (_, i) => `/${i}.html`);
  const reached = gate();
  let held = true;
  await using site = await Site.start({
    '/': page('Home', names),
    ...Object.fromEntries(names.map((name) => [name, page(name, [])])),
    '/20.html': (_request, response) => {
      // The first request gets no answer, because its client is killed first.
      if (held) reached.open();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(page('/20.html', []));
    },
  });
  const copy = join(directory, 'copy');
  const killed = new CliProcess(['mirror', '--delay', '0', `${site.url}/`, copy]);
  await reached.opened;
  killed.kill('SIGKILL');
  await killed.finished;
  held = false;
  const report = await mirror('--delete', `${site.url}/`, copy);
  t.ok(report.gathered.resumed);
  t.same([report.deleted, report.complete], [0, true]);
  t.equal(filesOf(copy).length, 41);
  for (const name of names)
    t.equal(readFileSync(join(copy, `127.0.0.1+${site.port}`, name), 'utf8'), page(name, []));
  t.same(readdirSync(join(copy, '.harvest/tmp')), []);
});

t.test('mirror: invalid arguments', async (t) => {
  const directory = t.testdir({});
  for (const words of [
    [directory],
    ['http://a.example.org/', 'http://b.example.org/'],
    ['nowhere', directory],
  ]) {
    const { code } = await cli('mirror', ...words);
    t.equal(code, 2, words.join(' '));
  }
});
