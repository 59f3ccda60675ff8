// The files of a directory over HTTP: which are served, and how.
import { linkSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'cheerio';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { FilesServer } from '../../../servers/all-in-one/index.js';
import { page } from '../../helpers/site.js';

const MODIFIED = new Date('2024-05-06T07:08:09Z');

/** The canonical URL of a file or, with a final slash, of a directory. */
const urlOf = (path: string): string => canonicalUrl(pathToFileURL(path).href) ?? '';

async function start(t: Test, ...directories: readonly string[]): Promise<FilesServer> {
  const server = await FilesServer.listen({
    host: '127.0.0.1',
    port: 0,
    roots: directories.map((directory) => urlOf(`${directory}/`)),
    log: { error: (line: string) => t.fail(line) },
  });
  t.teardown(() => server.close());
  return server;
}

/** Sends a path as it is: clients resolve dots. */
function rawStatus(server: FilesServer, path: string, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text.slice(9, 12))).on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

t.test('a file is opened at its address, with a type that a browser shows', async (t) => {
  const directory = t.testdir({
    'a b.html': page('A', ['sub/']),
    notes: 'Plain notes: Grüße\n',
    'old.txt': Buffer.from('Gr\xfc\xdfe\n', 'latin1').toString('latin1'),
    data: 'x\0y',
    'empty.txt': '',
    'picture.SVG': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'ü.html': page('U', []),
    sub: { 'c.html': page('C', []) },
  });
  writeFileSync(join(directory, 'old.txt'), Buffer.from('Gr\xfc\xdfe\n', 'latin1'));
  const long = `${'x'.repeat(4095)}ß`;
  writeFileSync(join(directory, 'long.txt'), long);
  utimesSync(join(directory, 'a b.html'), MODIFIED, MODIFIED);
  const server = await start(t, directory);
  const get = async (name: string, headers = {}) => {
    const address = server.addressOf(urlOf(join(directory, name)));
    const reply = await request(address ?? '', { headers });
    return { ...reply, text: await reply.body.text() };
  };
  for (const [name, type] of [
    ['a b.html', 'text/html'],
    ['ü.html', 'text/html'],
    ['sub/c.html', 'text/html'],
    ['notes', 'text/plain; charset=utf-8'],
    ['old.txt', 'text/plain; charset=windows-1252'],
    ['long.txt', 'text/plain; charset=utf-8'],
    ['empty.txt', 'text/plain; charset=utf-8'],
    ['data', 'application/octet-stream'],
    ['picture.SVG', 'image/svg+xml'],
  ] as const) {
    const { statusCode, headers } = await get(name);
    t.equal(statusCode, 200, name);
    t.equal(headers['content-type'], type, name);
    t.equal(headers['x-content-type-options'], 'nosniff');
    const policy = String(headers['content-security-policy']);
    t.match(policy, /^default-src 'none'/, 'no script runs');
    t.notMatch(policy, /script-src/);
    t.equal(headers['cross-origin-resource-policy'], 'same-origin');
    t.equal(headers['access-control-allow-origin'], undefined);
  }
  t.equal((await get('long.txt')).text, long, 'a file is sent whole');
  const { headers } = await get('a b.html');
  t.equal(headers['last-modified'], MODIFIED.toUTCString());
  t.equal((await get('a b.html', { 'if-modified-since': MODIFIED.toUTCString() })).statusCode, 304);
  const head = await request(server.addressOf(urlOf(join(directory, 'notes'))) ?? '', { method: 'HEAD' });
  t.equal(head.headers['content-length'], String(Buffer.byteLength('Plain notes: Grüße\n')));
});

t.test('the first page lists the directories, and a directory its files', async (t) => {
  const directory = t.testdir({ 'a.html': 'a', '.hidden': 'h', 'q?.txt': 'q', sub: { 'c.txt': 'c' } });
  const server = await start(t, directory);
  const hrefs = async (path: string): Promise<string[]> => {
    const $ = load(await (await fetch(new URL(path, server.url))).text());
    return $('main a')
      .map((_, a) => $(a).attr('href') ?? '')
      .get();
  };
  const [first = ''] = await hrefs('/');
  t.match(first, /\/$/);
  t.same(
    (await hrefs(first)).map((href) => href.slice(first.length)),
    ['a.html', 'q%3F.txt', 'sub/'],
  );
  const redirected = await request(new URL(first.slice(0, -1), server.url));
  t.equal(redirected.statusCode, 301);
  for (const href of await hrefs(first)) t.equal((await fetch(new URL(href, server.url))).status, 200, href);
});

t.test(
  'nothing else is served: parents, hidden files, links to elsewhere, other hosts, devices',
  async (t) => {
    const directory = t.testdir({
      secret: { 'key.txt': 'secret' },
      open: { 'a.txt': 'a', '.ssh': { id: 'secret' }, '.env': 'secret' },
      'open-too': { 'b.txt': 'b' },
    });
    const open = join(directory, 'open');
    symlinkSync('../secret', join(open, 'out'));
    symlinkSync('../secret/key.txt', join(open, 'key'));
    symlinkSync('a.txt', join(open, 'inside'));
    mkdirSync(join(open, 'd'));
    linkSync(join(open, 'a.txt'), join(open, 'd/same.txt'));
    const server = await start(t, open);
    const base = new URL(urlOf(`${open}/`)).pathname;
    const parent = new URL(urlOf(`${directory}/`)).pathname;
    for (const path of ['a.txt', 'inside', 'd/same.txt', 'a.txt?x=1', 'd/'])
      t.equal(await rawStatus(server, base + path), '200', path);
    for (const path of [
      `${base}../secret/key.txt`,
      `${base}%2e%2e/secret/key.txt`,
      `${base}d/..%2f..%2fsecret/key.txt`,
      `${base}out/key.txt`,
      `${base}key`,
      `${base}.env`,
      `${base}%2Eenv`,
      `${base}.ssh/id`,
      `${base}a.txt%00`,
      `${base}a.txt/`,
      `${base}missing`,
      `${parent}secret/key.txt`,
      `${parent}open-too/b.txt`,
      parent,
      '/etc/passwd',
      '/dev/null',
      '//etc/passwd',
    ])
      t.equal(await rawStatus(server, path), '404', path);
    t.equal(await rawStatus(server, `${base}a.txt`, 'evil.example.org'), '421', 'DNS rebinding');
    t.equal((await request(`${server.url}${base.slice(1)}a.txt`, { method: 'POST' })).statusCode, 404);
    for (const path of [
      join(directory, 'secret/key.txt'),
      join(open, '.env'),
      join(directory, 'open-too/b.txt'),
    ])
      t.equal(server.addressOf(urlOf(path)), undefined, path);
    t.equal(server.addressOf('http://a.test/'), undefined);
    t.equal(server.addressOf(`${urlOf(join(open, 'a.txt'))}#part`), `${server.url}${base.slice(1)}a.txt`);
  },
);

t.test('what is hidden is served if it is gathered; parents are not', async (t) => {
  const directory = t.testdir({
    secret: 'secret',
    open: { '.ssh': { id: 'mine' }, '.env': 'mine', 'a~': 'mine' },
  });
  const open = join(directory, 'open');
  const server = await FilesServer.listen({
    host: '127.0.0.1',
    port: 0,
    roots: [urlOf(`${open}/`)],
    hidden: true,
    log: { error: (line: string) => t.fail(line) },
  });
  t.teardown(() => server.close());
  const base = new URL(urlOf(`${open}/`)).pathname;
  for (const path of ['.env', '%2Eenv', '.ssh/id', 'a~', ''])
    t.equal(await rawStatus(server, base + path), '200', path);
  t.match(await (await fetch(new URL(base, server.url))).text(), '.env');
  for (const path of [
    '../secret',
    '%2e%2e/secret',
    '.%2E/secret',
    '.ssh/../../secret',
    '.ssh/..%2f..%2fsecret',
    '..',
  ])
    t.equal(await rawStatus(server, base + path), '404', path);
  t.equal(server.addressOf(urlOf(join(open, '.env'))), `${server.url}${base.slice(1)}.env`);
});

t.test('another port is taken if the one that was asked for is in use', async (t) => {
  const directory = t.testdir({ 'a.txt': 'a' });
  const first = await start(t, directory);
  const second = await FilesServer.listen({
    host: '127.0.0.1',
    port: Number(new URL(first.url).port),
    roots: [urlOf(`${directory}/`)],
    log: { error: (line: string) => t.fail(line) },
  });
  t.teardown(() => second.close());
  t.not(second.url, first.url);
  t.equal((await fetch(second.addressOf(urlOf(join(directory, 'a.txt'))) ?? '')).status, 200);
});
