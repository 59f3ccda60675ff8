// WACZ 1.1.1: the package, its digests, its index and its pages.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import yauzl from 'yauzl';
import type { FetchResult } from '../../../clients/fetch/index.js';
import { indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { captureRecords } from '../../../servers/crawler/warc/captures.js';
import { packWacz } from '../../../servers/crawler/warc/wacz.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Reads all files of a package, and how each is stored. */
async function unpack(path: string): Promise<Map<string, { bytes: Buffer; method: number }>> {
  const files = new Map<string, { bytes: Buffer; method: number }>();
  const zip = await yauzl.openPromise(path);
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.set(entry.fileName, { bytes: Buffer.concat(chunks), method: entry.compressionMethod });
  }
  return files;
}

function fetched(path: string, contentType: string, status = 200): FetchResult {
  const body = Buffer.from(`<title>${path}</title>`);
  return {
    url: `http://example.org${path}`,
    status,
    headers: { 'content-type': contentType, 'content-length': String(body.length) },
    contentType,
    lastModified: 0,
    etag: '',
    body,
    truncated: false,
    local: false,
    beginTime: Date.UTC(2026, 10, 23, 12, 0, 0),
    endTime: Date.UTC(2026, 10, 23, 12, 0, 1),
  };
}

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

t.test('WACZ 1.1.1: files, index, pages and digests of a package', async (t) => {
  const directory = await temporaryDirectory(t);
  const archive = join(directory, 'warc');
  const names: string[] = [];
  // Two files, and more captures than a block of the index has.
  for (const prefix of ['ONE', 'TWO']) {
    await using files = await WarcFiles.open({
      directory: archive,
      prefix,
      onFinished: (name) => names.push(name),
    });
    for (let i = 0; i < 600; i++) {
      const path = `/${prefix}/${(i * 7919) % 600}`;
      await files.write(captureRecords(fetched(path, i % 2 === 0 ? 'text/html' : 'image/png')).records);
    }
    await files.write(captureRecords(fetched(`/${prefix}/missing`, 'text/html', 404)).records);
  }
  t.equal(names.length, 2);
  // One has its index beside it, the other is read.
  writeFileSync(
    join(archive, `${names[0]}.cdxj`),
    `${(await indexArchive(join(archive, names[0]!))).lines.join('\n')}\n`,
  );
  writeFileSync(join(archive, 'HARVEST-20261123000000000-00000-h.warc.gz.open'), 'still written');

  const output = join(directory, 'site.wacz');
  const counts = await packWacz({ directory: archive, output, title: 'Site', created: 0 });
  t.match(counts, { files: 2, captures: 1202, pages: 600 });
  const files = await unpack(output);
  t.same(
    [...files.keys()],
    [
      ...names.map((name) => `archive/${name}`),
      'indexes/index.cdx.gz',
      'indexes/index.idx',
      'pages/pages.jsonl',
      'datapackage.json',
      'datapackage-digest.json',
    ],
  );
  for (const [name, { method }] of files)
    if (!name.endsWith('.json'))
      t.equal(method, 0, `${name} is stored as it is, so that captures can be read by offset`);
  const content = (name: string): Buffer => files.get(name)?.bytes ?? Buffer.alloc(0);
  const datapackage = JSON.parse(content('datapackage.json').toString()) as {
    resources: { name: string; path: string; hash: string; bytes: number }[];
  };
  t.match(datapackage, { wacz_version: '1.1.1', title: 'Site', created: '1970-01-01T00:00:00.000Z' });
  for (const { name, path, hash, bytes } of datapackage.resources) {
    t.equal(hash, sha256(content(path)), path);
    t.equal(bytes, content(path).length);
    t.match(name, /^[-a-z0-9._]+$/, 'as Frictionless requires');
  }
  t.same(JSON.parse(content('datapackage-digest.json').toString()), {
    path: 'datapackage.json',
    hash: sha256(content('datapackage.json')),
  });

  const index = gunzipSync(content('indexes/index.cdx.gz')).toString().split('\n').slice(0, -1);
  t.equal(index.length, 1202);
  t.same(index, index.toSorted(), 'merged in order');
  const [meta, ...blocks] = content('indexes/index.idx').toString().split('\n').slice(0, -1);
  t.equal(meta, '!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}');
  t.equal(blocks.length, 2);
  const lines = blocks.flatMap((line) => {
    const [, key = '', json = ''] = /^(\S+ \d{14}) (\{.*\})$/.exec(line) ?? [];
    const { offset, length, digest } = JSON.parse(json) as { offset: number; length: number; digest: string };
    const member = content('indexes/index.cdx.gz').subarray(offset, offset + length);
    t.equal(digest, sha256(member));
    const block = gunzipSync(member).toString();
    t.ok(block.startsWith(`${key} {`), 'a block is found by its first key');
    return block.split('\n').slice(0, -1);
  });
  t.same(lines, index);

  const [head, ...pages] = content('pages/pages.jsonl')
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { url?: string; ts?: string; id: string });
  t.match(head, { format: 'json-pages-1.0', id: 'pages' });
  t.equal(new Set(pages.map(({ id }) => id)).size, 600);
  t.match(pages[0], { url: /^http:\/\/example\.org\/(?:ONE|TWO)\/\d+$/, ts: '2026-11-23T12:00:00Z' });
});

t.test('a directory without finished files, and an aborted packing, leave nothing', async (t) => {
  const directory = await temporaryDirectory(t);
  const output = join(directory, 'x.wacz');
  await t.rejects(packWacz({ directory, output }), { code: 'ERR_USAGE', message: /no finished WARC files/ });
  await t.rejects(packWacz({ directory: join(directory, 'none'), output }), {
    code: 'ERR_STORAGE',
    message: /none cannot be read/,
  });
  {
    await using files = await WarcFiles.open({ directory });
    await files.write(captureRecords(fetched('/', 'text/html')).records);
  }
  await t.rejects(packWacz({ directory, output: join(directory, 'no', 'x.wacz') }), {
    code: 'ERR_STORAGE',
    message: /x\.wacz cannot be written/,
  });
  const before = readdirSync(directory);
  const signal = AbortSignal.abort(new Error('enough'));
  await t.rejects(packWacz({ directory, output, signal }));
  t.same(readdirSync(directory), before);
  writeFileSync(output, 'old');
  await packWacz({ directory, output });
  t.equal(readFileSync(output).subarray(0, 2).toString(), 'PK', 'an existing package is replaced');
  rmSync(output);
});
