// Gopher against Debian's gophernicus and pygopherd: following menus finds exactly the files of the directory.
// Prints TAP. Needs gophernicus with socat, pygopherd, and root for setpriv; tests of missing programs are skipped.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher } from '../../clients/fetch/index.js';
import { daemon, freePort, scratch } from '../helpers/daemon.js';

const TEXTS = new Map([
  ['plain.txt', 'plain text\n'],
  ['dots.txt', 'one\n..two\n.\nthree\n'],
  ['with blank.txt', 'blank\n'],
]);

function fill(directory: string): void {
  for (const place of [directory, join(directory, 'sub')]) {
    mkdirSync(place, { recursive: true });
    chmodSync(place, 0o755);
    for (const [name, text] of TEXTS) writeFileSync(join(place, name), text);
    writeFileSync(join(place, 'picture.gif'), Buffer.from([71, 73, 70, 56, 57, 97, 0, 255, 46, 13, 10]));
  }
}

async function check(t: Test, port: number) {
  await using fetcher = createFetcher({ userAgent: 'x' });
  const root = `gopher://127.0.0.1:${port}/`;
  const found = new Map<string, string>();
  const queue = [root];
  const seen = new Set(queue);
  for (let url = queue.shift(); url !== undefined && seen.size < 100; url = queue.shift()) {
    const result = await fetcher.fetch({ url, timeoutMs: 10_000 });
    for (const link of result.links ?? []) {
      if (!link.startsWith(root) || seen.has(link)) continue;
      seen.add(link);
      queue.push(link);
    }
    if (result.links !== undefined || result.status !== 200) continue;
    // gophernicus writes blanks in its own way.
    const path = decodeURIComponent(url.slice(root.length + 1)).replaceAll('#040', ' ');
    found.set(path, Buffer.from(result.body).toString('latin1').replaceAll('\r\n', '\n'));
  }
  for (const place of ['/', '/sub/']) {
    for (const [name, text] of TEXTS) t.equal(found.get(`${place}${name}`), text, `${place}${name}`);
    t.equal(found.get(`${place}picture.gif`)?.slice(0, 8), 'GIF89a\0\xff', 'bytes as they are');
  }
  t.match(await fetcher.fetch({ url: `${root}1/no/such/directory` }), { status: 404 });
  const plus = await fetcher.fetch({ url: `${root}0/plain.txt%09%09+` });
  t.match(Buffer.from(plus.body).toString(), 'plain text', 'asked in the manner of Gopher+');
}

const isRoot = process.getuid?.() === 0;
const hasGophernicus = ['/usr/sbin/gophernicus', '/usr/bin/socat'].every(existsSync) && isRoot;
t.test(
  'G-26 gophernicus',
  { skip: hasGophernicus ? false : 'gophernicus, socat and root are needed' },
  async (t) => {
    const directory = scratch(t);
    chmodSync(directory, 0o755);
    fill(directory);
    const port = await freePort();
    const server = `gophernicus -h 127.0.0.1 -p ${port} -r ${directory} -o utf-8 -nx`;
    await daemon(t, port, 'setpriv', [
      '--reuid=nobody',
      '--regid=nogroup',
      '--clear-groups',
      'socat',
      `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`,
      `EXEC:"${server}"`,
    ]);
    await check(t, port);
  },
);

const CONFIG = '/etc/pygopherd/pygopherd.conf';
const skipPygopherd = existsSync('/usr/sbin/pygopherd') && existsSync(CONFIG) ? false : 'pygopherd is needed';
t.test('G-26 pygopherd', { skip: skipPygopherd }, async (t) => {
  const directory = scratch(t);
  const root = join(directory, 'gopher');
  fill(root);
  const port = await freePort();
  const settings: Readonly<Record<string, string>> = {
    port: String(port),
    interface: '127.0.0.1',
    servername: '127.0.0.1',
    root,
    detach: 'no',
    usechroot: 'no',
    logmethod: 'file',
    pidfile: join(directory, 'pid'),
  };
  const lines = readFileSync(CONFIG, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*#?\s*(set[ug]id|interface|servername|logfile)\b/.test(line))
    .map((line) => {
      const name = /^\s*(\w+)\s*[=:]/.exec(line)?.[1] ?? '';
      return settings[name] === undefined ? line : `${name} = ${settings[name]}`;
    });
  const config = join(directory, 'pygopherd.conf');
  const head = '[pygopherd]\ninterface = 127.0.0.1\nservername = 127.0.0.1';
  writeFileSync(config, lines.join('\n').replace('[pygopherd]', head));
  await daemon(t, port, '/usr/bin/python3', ['/usr/sbin/pygopherd', config]);
  await check(t, port);
});
