// Tests file URLs and Local-Mapping on a directory of the test.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import {
  createFetcher,
  DIRECTORY_TYPE,
  entryUrl,
  type FetcherOptions,
} from '../../../clients/fetch/index.js';
import { canonicalUrl } from '../../../protocols/urls/index.js';

const LIMITS = { maxBytes: 1000, timeoutMs: 1000 };
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const fetcherWith = (options: Partial<FetcherOptions>) => createFetcher({ userAgent: 'x', ...options });

t.test('G-87: file URLs below the roots are read and listed; anything outside is refused', async (t) => {
  const root = t.testdir({
    pub: { 'a.txt': 'hello', 'b c~.txt': 'blank', sub: { deep: 'x' }, big: 'y'.repeat(2000) },
    secret: { key: 'secret' },
  });
  utimesSync(`${root}/pub/a.txt`, 784111777, 784111777.9);
  symlinkSync('../secret/key', `${root}/pub/out`);
  symlinkSync('a.txt', `${root}/pub/in`);
  symlinkSync('sub', `${root}/pub/subin`);
  symlinkSync('nowhere', `${root}/pub/dangling`);
  symlinkSync('loop', `${root}/pub/loop`);
  execFileSync('mkfifo', [`${root}/pub/pipe`]);
  const pub = `file://${root}/pub`;
  const fetcher = fetcherWith({ fileRoots: [`${root}/pub`], hostNames: ['This.Host.example'] });
  t.teardown(() => fetcher.close());
  const get = (url: string, headers = {}) => fetcher.fetch({ url, headers, ...LIMITS });

  const file = await get(`${pub}/a.txt`);
  t.match(file, { status: 200, local: true, lastModified: 784111777, truncated: false, etag: '' });
  t.equal(text(file.body), 'hello');
  t.notOk('contentType' in file, 'the type is left to essence');
  t.match(await get(`${pub}/a.txt`, { lastModified: 784111777 }), { status: 304 });
  t.match(await get(`${pub}/a.txt`, { lastModified: 784111776 }), { status: 200 });
  t.match(await get(`${pub}/big`), { status: 200, truncated: true, body: { length: 1000 } });
  t.equal(text((await get(`${pub}/in`)).body), 'hello', 'a link inside the root is followed');
  t.equal(text((await get(canonicalUrl(`${pub}/b c~.txt`) ?? '')).body), 'blank');
  t.equal(text((await get(`${pub.replace('file://', 'file://this.host.example')}/a.txt`)).body), 'hello');

  const outside = { 'file-refusal': /^outside of the directories/ };
  const rows: [string, number, object?][] = [
    ['/none', 404],
    ['/a.txt/', 404],
    ['/a.txt/x', 404],
    ['/a%2Ftxt', 404],
    ['/a.txt%00', 404],
    [`/${'n'.repeat(300)}`, 404],
    ['/out', 403, outside],
    ['/loop', 403, { 'file-refusal': 'permission denied' }],
    ['/pipe', 403, { 'file-refusal': /^neither a file nor a directory/ }],
    ['/../secret/key', 403, outside],
    ['/%2e%2e/secret/key', 403, outside],
  ];
  for (const [path, status, headers = {}] of rows) t.match(await get(pub + path), { status, headers }, path);

  for (const url of [`${pub}/`, pub]) {
    const listing = await get(url);
    t.match(listing, { status: 200, contentType: DIRECTORY_TYPE, local: true });
    t.same(
      listing.entries,
      ['a.txt', 'b c~.txt', 'big', 'in', 'sub/', 'subin/'],
      'no pipes and links out of the root',
    );
    t.equal(listing.body.length, 0);
  }
  t.equal(entryUrl(pub, 'b c~.txt'), `${pub}/b%20c%7e.txt`);
  t.equal(entryUrl(`${pub}/`, 'sub/'), `${pub}/sub/`);
  await t.rejects(get('file://elsewhere.example/etc/passwd'), { code: 'ERR_USAGE' });
  await t.rejects(
    fetcher.fetch({ url: `${pub}/a.txt`, ...LIMITS, signal: AbortSignal.abort(new Error('no')) }),
    {
      message: 'no',
    },
  );
  if (process.getuid?.() !== 0) {
    chmodSync(`${root}/pub/big`, 0o000);
    t.match(await get(`${pub}/big`), { status: 403 });
  }
});

t.test('E-76: the result for a local file says who owns it, and when it was created', async (t) => {
  const directory = t.testdir({ 'a.txt': 'a' });
  await using fetcher = fetcherWith({ fileRoots: [directory] });
  const { ownerId, creationTime } = await fetcher.fetch({
    url: `file://localhost${directory}/a.txt`,
    ...LIMITS,
  });
  const { uid, birthtimeMs } = statSync(`${directory}/a.txt`);
  t.equal(ownerId, uid);
  t.equal(creationTime, Math.floor(birthtimeMs / 1000));
});

t.test('G-71 to G-79: Local-Mapping reads plain files; the server gives the rest', async (t) => {
  const root = t.testdir({
    html: {
      'Home.html': 'home',
      'run.cgi': '#!',
      '%7e.html': 'tilde',
      'x^y.html': 'caret',
      'a%5Eb.html': 'escape',
      sub: { x: 'sub' },
    },
    outside: 'no',
  });
  mkdirSync(`${root}/html/dir`);
  writeFileSync(`${root}/html/index.html`, 'i');
  chmodSync(`${root}/html/run.cgi`, 0o755);
  symlinkSync('Home.html', `${root}/html/link.html`);
  symlinkSync('..', `${root}/html/up`);
  /** URLs requested from the server. */
  const requested: string[] = [];
  const server = {
    fetch: async ({ url }: { url: string }) => {
      requested.push(url);
      throw new Error('remote');
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  const fetcher = fetcherWith({
    localMappings: [
      { prefix: 'http://h.example/~hardy/', path: `${root}/html/` },
      { prefix: 'http://h.example/', path: '/nonexistent/' },
    ],
    schemes: { http: server },
  });
  t.teardown(() => fetcher.close());
  const base = 'http://h.example/%7ehardy';
  const get = (path: string, headers = {}) => fetcher.fetch({ url: base + path, headers, ...LIMITS });

  const home = await get('/Home.html');
  const mtime = Math.floor(statSync(`${root}/html/Home.html`).mtimeMs / 1000);
  t.match(
    home,
    { url: `${base}/Home.html`, status: 200, local: true, lastModified: mtime },
    'G-73, G-79: the file',
  );
  t.equal(text(home.body), 'home');
  t.match(await get('/Home.html', { lastModified: mtime }), { status: 304 });
  t.equal(text((await get('/sub/x')).body), 'sub');
  t.equal(text((await get('/%7e.html')).body), 'tilde', 'G-76: nothing is unescaped');
  t.equal(canonicalUrl('http://h.example/~hardy/x^y.html'), 'http://h.example/%7ehardy/x%5Ey.html');
  t.equal(text((await get('/x%5Ey.html')).body), 'caret', 'G-76: but what the form of URLs escapes alone');
  t.equal(text((await get('/a%5Eb.html')).body), 'escape', 'a file with this very name comes first');
  t.equal(text((await fetcher.fetch({ url: 'http://h.example/~hardy/index.html', ...LIMITS })).body), 'i');
  t.same(requested, []);

  const remote = [
    '/none',
    '/dir',
    '/',
    '/link.html',
    '/run.cgi',
    '/Home%2ehtml',
    '/../outside',
    '/up/outside',
  ];
  for (const path of remote) await t.rejects(get(path), { message: 'remote' }, `G-75, G-76: ${path}`);
  t.same(
    requested,
    remote.map((path) => base + path),
  );
});
