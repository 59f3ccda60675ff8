// Fetches from Debian's vsftpd and pyftpdlib by FTP: following the listings finds exactly the files of the
// directory. Prints TAP. Needs vsftpd and python3-pyftpdlib, and root for vsftpd; tests whose programs are
// missing are skipped.
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher, entryUrl, type Fetcher } from '../../clients/fetch/index.js';
import { scratchDirectory } from '../helpers/daemon.js';
import {
  hasPyftpdlib,
  skipUnless,
  startPyftpdlib,
  startVsftpd,
  VSFTPD,
} from '../helpers/gather-peers/servers.js';

/** Modification time of the files, in seconds since 1970. */
const MODIFIED = 784_111_777;

/** Creates twelve files in three directories, with names of all kinds. Returns their contents by path. */
function createFiles(root: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const directory of ['', 'pub/', 'pub/deep dir/']) {
    mkdirSync(join(root, directory), { recursive: true });
    for (const name of ['plain.txt', 'with blank', 'über#%?.txt', '.hidden']) {
      const path = join(root, directory, name);
      writeFileSync(path, `content of ${directory}${name}`);
      utimesSync(path, MODIFIED, MODIFIED);
      files.set(`${directory}${name}`, `content of ${directory}${name}`);
    }
    chmodSync(join(root, directory), 0o755);
  }
  symlinkSync('.', join(root, 'loop'));
  return files;
}

/** Fetches every file below a URL. Returns their contents by path. */
async function walk(fetcher: Fetcher, root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const queue = [root];
  const seen = new Set(queue);
  for (let url = queue.shift(); url !== undefined && seen.size < 200; url = queue.shift()) {
    const result = await fetcher.fetch({ url, timeoutMs: 10_000 });
    for (const entry of result.entries ?? []) {
      const next = entryUrl(url, entry);
      if (entry === 'loop' || entry === 'loop/' || seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
    if (result.entries === undefined && result.status === 200) {
      found.set(decodeURIComponent(url.slice(root.length)), Buffer.from(result.body).toString());
    }
  }
  return found;
}

async function check(t: Test, port: number, files: Map<string, string>) {
  await using fetcher = createFetcher({ userAgent: 'x', from: 'me@h.example' });
  const root = `ftp://127.0.0.1:${port}/`;
  t.strictSame(new Map([...(await walk(fetcher, root))].sort()), new Map([...files].sort()), 'same files');
  const one = await fetcher.fetch({ url: `${root}pub/plain.txt` });
  t.match(one, { status: 200, lastModified: MODIFIED });
  const headers = { lastModified: MODIFIED };
  t.match(await fetcher.fetch({ url: `${root}pub/plain.txt`, headers }), { status: 304 });
  t.match(await fetcher.fetch({ url: `${root}pub/none` }), { status: 404 });
  t.match(await fetcher.fetch({ url: `${root}pub/plain.txt`, maxBytes: 3 }), { truncated: true });
  t.match(await fetcher.fetch({ url: `${root}pub` }), {
    entries: ['.hidden', 'deep dir/', 'plain.txt', 'with blank', 'über#%?.txt'],
  });
  t.match(await fetcher.fetch({ url: `ftp://joe:wrong@127.0.0.1:${port}/` }), { status: 401 });
}

t.test('G-26, G-88 vsftpd', { skip: skipUnless([VSFTPD], true) }, async (t) => {
  const directory = scratchDirectory(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'ftp');
  const files = createFiles(root);
  const { port } = await startVsftpd(t, directory, root);
  await check(t, port, files);
});

const skipPython = hasPyftpdlib() ? false : 'python3-pyftpdlib is needed';
t.test('G-26, G-88 pyftpdlib', { skip: skipPython }, async (t) => {
  const root = join(scratchDirectory(t), 'ftp');
  const files = createFiles(root);
  await check(t, await startPyftpdlib(t, root), files);
});
