// The archive of a crawl, read by the Python programs of web archives: warcio checks every digest, cdxj-indexer
// finds what our index has, py-wacz validates the package, zstd reads and writes frames. Prints TAP. Needs
// their virtual environment (ARCHIVE_TOOLS, its directory); skipped without it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { indexArchive } from '../../servers/crawler/warc/archive-index.js';
import { archiveParts } from '../../servers/crawler/warc/complete-records.js';
import { packWacz } from '../../servers/crawler/warc/wacz.js';
import { zstdProblem } from '../../servers/crawler/warc/zstd-frames.js';
import { scratchDirectory } from '../helpers/daemon.js';
import { crawlOrdered } from '../helpers/ordered-crawl.js';
import { page, Site } from '../helpers/site.js';
import { TEST_DATA } from '../run/needs.js';

const TOOLS = process.env.ARCHIVE_TOOLS ?? join(TEST_DATA, 'archive-tools');
const skip = existsSync(join(TOOLS, 'bin/wacz')) ? false : `${TOOLS} needed: warcio, cdxj-indexer, wacz`;

function run(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(TOOLS, 'bin', program), args, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

t.test('WARC 1.1, CDXJ, WACZ 1.1.1: the Python tools read an archive', { skip }, async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/coded.html', '/moved', '/none', '/a%20b?c=d,,,e', '/image.png', '/empty']),
    '/coded.html': (_, response) => {
      response.writeHead(200, {
        'Content-Type': 'text/html',
        'Content-Encoding': 'gzip',
        'Set-Cookie': ['a=1', 'b=2'],
      });
      response.end(gzipSync(page('Coded', ['/'])));
    },
    '/moved': (_, response) => response.writeHead(302, { location: '/coded.html' }).end(),
    '/a%20b?c=d,,,e': page('Query', []),
    '/image.png': (_, response) =>
      response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': '3' }).end('PNG'),
    '/empty': (_, response) => response.writeHead(204).end(),
    '/robots.txt': 'User-agent: *\nDisallow:\n',
  });
  const directory = scratchDirectory(t);
  const warc = join(directory, 'warc');
  // Twice, so that there are revisits by digest and by 304.
  for (let round = 0; round < 2; round++) {
    await crawlOrdered(join(directory, 'g'), `${site.url}/`, {
      profile: 'archive',
      warc: { directory: warc, digestHistory: true },
      settings: { embeds: 'any' },
    });
  }
  const files = readdirSync(warc)
    .filter((name) => name.endsWith('.warc.gz'))
    .sort();
  t.equal(files.length, 2);
  for (const name of files) {
    const path = join(warc, name);
    const check = run('warcio', 'check', '-v', path);
    t.equal(check.status, 0, check.stdout + check.stderr);
    t.ok((check.stdout.match(/digest pass/g) ?? []).length > 10, 'digests were checked');
    t.notMatch(check.stdout, /digest (?:failed|error)|digest not present/);
    const theirs = run('cdxj-indexer', '--sort', path);
    t.equal(theirs.status, 0, theirs.stderr);
    t.same(linesOf(readFileSync(`${path}.cdxj`, 'utf8')), linesOf(theirs.stdout), 'the same index');
  }
  const output = join(directory, 'site.wacz');
  const counts = await packWacz({ directory: warc, output, title: 'Peers' });
  t.ok(counts.pages > 2, `${counts.pages} pages`);
  const validation = run('wacz', 'validate', '-f', output);
  t.equal(validation.status, 0);
  t.match(validation.stdout + validation.stderr, /Validation succeeded/);
});

t.test('ARC 1.1: warcio reads the records, cdxj-indexer finds the same captures', { skip }, async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/coded.html', '/moved', '/none', '/a%20b?c=d', '/empty']),
    '/coded.html': (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset="utf-8"', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(page('Coded', ['/'])));
    },
    '/moved': (_, response) => response.writeHead(302, { location: '/coded.html' }).end(),
    '/a%20b?c=d': page('Query', []),
    '/empty': (_, response) => response.writeHead(204).end(),
  });
  const directory = scratchDirectory(t);
  for (const [compress, ending] of [
    [true, '.arc.gz'],
    [false, '.arc'],
  ] as const) {
    const arcs = join(directory, ending);
    await crawlOrdered(join(directory, `g${ending}`), `${site.url}/`, {
      profile: 'archive',
      warc: { directory: arcs, format: 'arc', compress },
      settings: { embeds: 'any' },
    });
    const [name = ''] = readdirSync(arcs);
    const path = join(arcs, name);
    const listed = run('warcio', 'index', '-f', 'warc-target-uri,warc-type', path);
    t.equal(listed.status, 0, listed.stderr);
    const urls = listed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    t.same(urls[0], { 'warc-type': 'warcinfo' }, `${ending}: the description of the file`);
    t.same(
      urls
        .slice(1)
        .map((record) => record['warc-target-uri']?.replace(site.url, ''))
        .sort(),
      ['/', '/a%20b?c=d', '/coded.html', '/empty', '/moved', '/none', '/robots.txt'],
    );
    const lines = readFileSync(`${path}.cdxj`, 'utf8').split('\n');
    const coded = lines.find((line) => line.includes('/coded.html"'))?.replace(/^[^{]*/, '') ?? '{}';
    const { offset = '' } = JSON.parse(coded) as Record<string, string>;
    const payload = run('warcio', 'extract', '--payload', path, offset);
    t.equal(payload.stdout, page('Coded', ['/']), 'warcio decodes the document');
    const theirs = run('cdxj-indexer', '--sort', path);
    t.equal(theirs.status, 0, theirs.stderr);
    t.same(linesOf(readFileSync(`${path}.cdxj`, 'utf8')), linesOf(theirs.stdout), 'the same index');
  }
});

const skipZstd = spawnSync('zstd', ['--version']).status === 0 ? false : 'zstd needed';

t.test('Zstandard for WARC Files 1.0: frames are read both ways', { skip: skip || skipZstd }, async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
  const directory = scratchDirectory(t);
  const crawl = (name: string, compression: object) =>
    crawlOrdered(join(directory, name), `${site.url}/`, {
      warc: { directory: join(directory, `${name}-warc`), ...compression },
    });
  await crawl('plain', { compress: false });
  const [plain = ''] = readdirSync(join(directory, 'plain-warc'));
  const source = join(directory, 'plain-warc', plain);
  const framed = join(directory, 'theirs.warc.zst');
  const bytes = readFileSync(source);
  await using file = await open(source);
  const frames: Buffer[] = [];
  for await (const { start, end } of archiveParts(file, { compression: 'none' }))
    frames.push(
      spawnSync('zstd', ['-c', '--stream-size', String(end - start)], { input: bytes.subarray(start, end) })
        .stdout,
    );
  writeFileSync(framed, Buffer.concat(frames));
  const index = await indexArchive(framed);
  t.same(index.damage, []);
  t.same(index.lines.map(withoutPlace), (await indexArchive(source)).lines.map(withoutPlace));
  for (const line of index.lines) {
    const {
      offset = '',
      length = '',
      url,
    } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>;
    const frame = readFileSync(framed).subarray(Number(offset), Number(offset) + Number(length));
    t.match(spawnSync('zstd', ['-dc'], { input: frame }).stdout.toString(), `WARC-Target-URI: ${url}\r\n`);
  }
  if (zstdProblem() !== undefined) return t.comment(`not written: ${zstdProblem()}`);
  await crawl('zstd', { compression: 'zstd' });
  const [ours = ''] = readdirSync(join(directory, 'zstd-warc'));
  const unpacked = join(directory, 'ours.warc');
  const result = spawnSync('zstd', ['-d', join(directory, 'zstd-warc', ours), '-o', unpacked], {
    encoding: 'utf8',
  });
  t.equal(result.status, 0, result.stderr);
  const check = run('warcio', 'check', '-v', unpacked);
  t.equal(check.status, 0, check.stdout + check.stderr);
  return undefined;
});

/** A line of an index without the file, the offset and the length. */
function withoutPlace(line: string): string {
  return line.replace(/,"length":.*/, '');
}

/** The lines of an index as values, by their keys. */
function linesOf(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, key, json = ''] = /^(\S+ \d{14}) (\{.*\})$/.exec(line) ?? [];
      return [key, JSON.parse(json)];
    });
}
