// Fetches from Debian's gophernicus and pygopherd by Gopher: following the menus finds exactly the files of the
// directory. Prints TAP. Needs gophernicus with socat, pygopherd, and root for setpriv; tests whose programs
// are missing are skipped.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher, type Fetcher } from '../../clients/fetch/index.js';
import { ConnectionError } from '../../protocols/errors.js';
import { scratchDirectory } from '../helpers/daemon.js';
import {
  PYGOPHERD,
  PYGOPHERD_CONFIG,
  skipUnless,
  startGophernicus,
  startPygopherd,
} from '../helpers/gather-peers/servers.js';

const TEXTS = new Map([
  ['plain.txt', 'plain text\n'],
  ['dots.txt', 'one\n..two\n.\nthree\n'],
  ['with blank.txt', 'blank\n'],
]);

function createFiles(root: string): void {
  for (const directory of [root, join(root, 'sub')]) {
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o755);
    for (const [name, text] of TEXTS) writeFileSync(join(directory, name), text);
    writeFileSync(join(directory, 'picture.gif'), Buffer.from([71, 73, 70, 56, 57, 97, 0, 255, 46, 13, 10]));
  }
}

/**
 * Tries three times: socat, which starts gophernicus, sometimes closes a connection before it has copied the
 * reply.
 */
async function fetchUrl(fetcher: Fetcher, url: string, attempts = 3): ReturnType<Fetcher['fetch']> {
  try {
    return await fetcher.fetch({ url, timeoutMs: 10_000 });
  } catch (error) {
    if (attempts <= 1 || !(error instanceof ConnectionError)) throw error;
    return fetchUrl(fetcher, url, attempts - 1);
  }
}

async function check(t: Test, port: number) {
  await using fetcher = createFetcher({ userAgent: 'x' });
  const root = `gopher://127.0.0.1:${port}/`;
  const found = new Map<string, string>();
  const queue = [root];
  const seen = new Set(queue);
  for (let url = queue.shift(); url !== undefined && seen.size < 100; url = queue.shift()) {
    const result = await fetchUrl(fetcher, url);
    for (const link of result.links ?? []) {
      if (!link.startsWith(root) || seen.has(link)) continue;
      seen.add(link);
      queue.push(link);
    }
    if (result.links !== undefined || result.status !== 200) continue;
    // gophernicus encodes spaces as #040.
    const filePath = decodeURIComponent(url.slice(root.length + 1)).replaceAll('#040', ' ');
    found.set(filePath, Buffer.from(result.body).toString('latin1').replaceAll('\r\n', '\n'));
  }
  for (const path of ['/', '/sub/']) {
    for (const [name, text] of TEXTS) t.equal(found.get(`${path}${name}`), text, `${path}${name}`);
    t.equal(found.get(`${path}picture.gif`)?.slice(0, 8), 'GIF89a\0\xff', 'binary files are unchanged');
  }
  t.match(await fetchUrl(fetcher, `${root}1/no/such/directory`), { status: 404 });
  const plus = await fetchUrl(fetcher, `${root}0/plain.txt%09%09+`);
  t.match(Buffer.from(plus.body).toString(), 'plain text', 'a Gopher+ request is answered');
}

const skip = skipUnless(['/usr/sbin/gophernicus', '/usr/bin/socat'], true);
t.test('G-26 gophernicus', { skip }, async (t) => {
  const root = scratchDirectory(t);
  chmodSync(root, 0o755);
  createFiles(root);
  await check(t, await startGophernicus(t, root));
});

t.test('G-26 pygopherd', { skip: skipUnless([PYGOPHERD, PYGOPHERD_CONFIG]) }, async (t) => {
  const directory = scratchDirectory(t);
  const root = join(directory, 'gopher');
  createFiles(root);
  await check(t, await startPygopherd(t, directory, root));
});
