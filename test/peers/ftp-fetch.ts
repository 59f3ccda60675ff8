// FTP against Debian's vsftpd and pyftpdlib: following listings finds exactly the files of the directory.
// Prints TAP. Needs vsftpd and python3-pyftpdlib, and root for vsftpd; tests of missing programs are skipped.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher, entryUrl, type Fetcher } from '../../clients/fetch/index.js';
import { daemon, freePort, scratch } from '../helpers/daemon.js';

const CHANGED = 784_111_777;

/** Twelve files in three directories, with names of all kinds. */
function fill(directory: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const place of ['', 'pub/', 'pub/deep dir/']) {
    mkdirSync(join(directory, place), { recursive: true });
    for (const name of ['plain.txt', 'with blank', 'über#%?.txt', '.hidden']) {
      const path = join(directory, place, name);
      writeFileSync(path, `content of ${place}${name}`);
      utimesSync(path, CHANGED, CHANGED);
      files.set(`${place}${name}`, `content of ${place}${name}`);
    }
    chmodSync(join(directory, place), 0o755);
  }
  symlinkSync('.', join(directory, 'loop'));
  return files;
}

/** Every file below a URL, by its path. */
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
  t.strictSame(
    new Map([...(await walk(fetcher, root))].sort()),
    new Map([...files].sort()),
    'the same files',
  );
  const one = await fetcher.fetch({ url: `${root}pub/plain.txt` });
  t.match(one, { status: 200, lastModified: CHANGED });
  const headers = { lastModified: CHANGED };
  t.match(await fetcher.fetch({ url: `${root}pub/plain.txt`, headers }), { status: 304 });
  t.match(await fetcher.fetch({ url: `${root}pub/none` }), { status: 404 });
  t.match(await fetcher.fetch({ url: `${root}pub/plain.txt`, maxBytes: 3 }), { truncated: true });
  t.match(await fetcher.fetch({ url: `${root}pub` }), {
    entries: ['.hidden', 'deep dir/', 'plain.txt', 'with blank', 'über#%?.txt'],
  });
  t.match(await fetcher.fetch({ url: `ftp://joe:wrong@127.0.0.1:${port}/` }), { status: 401 });
}

const isRoot = process.getuid?.() === 0;
const skipVsftpd = existsSync('/usr/sbin/vsftpd') && isRoot ? false : 'vsftpd and root are needed';
t.test('G-26, G-88 vsftpd', { skip: skipVsftpd }, async (t) => {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'ftp');
  mkdirSync(join(directory, 'empty'));
  const files = fill(root);
  const port = await freePort();
  const config = join(directory, 'vsftpd.conf');
  writeFileSync(
    config,
    `listen=YES\nlisten_address=127.0.0.1\nlisten_port=${port}\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO
anon_root=${root}\nno_anon_password=NO\npasv_address=127.0.0.1\nsecure_chroot_dir=${directory}/empty
seccomp_sandbox=NO\nforce_dot_files=YES\nvsftpd_log_file=${directory}/log\n`,
  );
  await daemon(t, port, '/usr/sbin/vsftpd', [config]);
  await check(t, port, files);
});

const hasPyftpdlib = spawnSync('/usr/bin/python3', ['-c', 'import pyftpdlib']).status === 0;
t.test('G-26, G-88 pyftpdlib', { skip: hasPyftpdlib ? false : 'python3-pyftpdlib is needed' }, async (t) => {
  const directory = join(scratch(t), 'ftp');
  const files = fill(directory);
  const port = await freePort();
  await daemon(t, port, '/usr/bin/python3', [
    '-m',
    'pyftpdlib',
    '-i',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    directory,
  ]);
  await check(t, port, files);
});
