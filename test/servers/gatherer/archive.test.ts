// What a crawl leaves in its WARC files: every request and response as it went over the wire (WARC 1.1, 6).
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { WARCParser } from 'warcio';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import { page, Site } from '../../helpers/site.js';

interface ReadRecord {
  readonly type: string;
  readonly url: string;
  /** HTTP head, or nothing. */
  readonly head: string;
  readonly text: string;
}

/** Crawls a site by its name and returns the records of the archive. */
async function archive(
  t: Test,
  site: Site,
  { warc, ...order }: CrawlOrderInput = {},
): Promise<{ records: ReadRecord[]; raw: string }> {
  const directory = join(t.testdir(), 'warc');
  const archiving: CrawlOrderInput = { warc: { directory, compress: false, ...warc }, ...order };
  await crawlOrdered(join(directory, '..', 'g'), `http://localhost:${site.port}/`, archiving, [
    'HTTP-From: w@h.example',
  ]);
  const records: ReadRecord[] = [];
  const [name = '', index, ...others] = readdirSync(directory).sort();
  t.same([index, ...others], [`${name}.cdxj`]);
  const bytes = readFileSync(join(directory, name));
  for await (const record of new WARCParser([bytes])) {
    const content = await record.contentText();
    const head = record.httpHeaders?.toString() ?? '';
    records.push({ type: record.warcType ?? '', url: record.warcTargetURI ?? '', head, text: content });
  }
  return { records, raw: bytes.toString('latin1') };
}

async function site(t: Test): Promise<Site> {
  const started = await Site.start({
    '/robots.txt': 'User-agent: *\nDisallow: /private\n',
    '/': page('Start', ['/coded.html', '/moved', '/none', '/private']),
    '/coded.html': (_, response) => {
      const headers = {
        'Content-Type': 'text/html',
        'Content-Encoding': 'gzip',
        'Set-Cookie': ['a=1', 'b=2'],
      };
      response.writeHead(200, headers);
      response.end(gzipSync(page('Coded', ['/'])));
    },
    '/moved': (_, response) => response.writeHead(302, { location: '/coded.html' }).end(),
  });
  t.teardown(() => started[Symbol.asyncDispose]());
  return started;
}

t.test('WARC 1.1, 6.2 to 6.6: documents, redirects, failures, robots.txt, addresses', async (t) => {
  const web = await site(t);
  const { records, raw } = await archive(t, web, {
    warc: { transferCoding: 'kept' },
    settings: { cookies: true },
  });
  const base = `http://localhost:${web.port}`;
  const kinds = records.map(({ type, url }) => `${type} ${url.replace(base, '')}`.trim());
  t.equal(kinds[0], 'warcinfo');
  const paths = ['/', '/coded.html', '/moved', '/none'];
  t.same(kinds.slice(1).sort(), [
    ...paths.map((path) => `metadata ${path}`),
    ...[...paths, '/robots.txt'].map((path) => `request ${path}`),
    'resource dns:localhost',
    ...[...paths, '/robots.txt'].map((path) => `response ${path}`),
  ]);
  t.match(
    records.find(({ url }) => url === 'dns:localhost')?.text,
    /^\d{14}\nlocalhost\.\tIN\tA(?:AAA)?\t\S+\n/,
  );
  t.match(
    records.find(({ type, url }) => type === 'response' && url === `${base}/robots.txt`)?.text,
    /Disallow: \/private/,
  );
  t.match(
    records.find(({ type, url }) => type === 'response' && url === `${base}/coded.html`)?.text,
    /<h1>Coded<\/h1>/,
  );
  t.match(raw, /\r\nContent-Encoding: gzip\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
  t.match(raw, /\r\nTransfer-Encoding: chunked\r\n/);
  t.match(raw, /GET \/moved HTTP\/1\.1\r\nhost: localhost:\d+\r\n/);
  const info = records[0]?.text ?? '';
  t.match(info, /^http-header-from: w@h\.example\r$/m);
  const order: unknown = JSON.parse(/^order: (.*)\r$/m.exec(info)?.[1] ?? '');
  t.match(order, { settings: { minDelayMs: 0, cookies: true } });
  const start = records.find(({ type, url }) => type === 'metadata' && url === `${base}/`)?.text ?? '';
  t.match(start, `outlink: ${base}/coded.html L\r\n`);
  t.match(
    records.find(({ type, url }) => type === 'metadata' && url === `${base}/moved`)?.text,
    `via: ${base}/\r\nhopsFromSeed: L\r\n`,
  );
});

t.test('G-188 finished files and their indexes are sent to the place of Publish', async (t) => {
  const web = await site(t);
  const root = t.testdir();
  const directory = join(root, 'warc');
  const place = join(root, 'place');
  const crawl = () =>
    crawlOrdered(
      join(root, 'g'),
      `http://127.0.0.1:${web.port}/`,
      { warc: { directory, maxFileBytes: 2000 } },
      [`Publish: ${place}`],
    );
  const sent = () => readdirSync(join(place, 'archive')).sort();
  await crawl();
  t.ok(readdirSync(directory).length > 2);
  t.same(sent(), readdirSync(directory).sort());
  for (const name of sent())
    t.same(readFileSync(join(place, 'archive', name)), readFileSync(join(directory, name)), name);
  // As after a kill before they were sent.
  const [first = '', second = ''] = sent();
  rmSync(join(place, 'archive', first));
  writeFileSync(join(place, 'archive', second), 'a part');
  await crawl();
  t.same(sent(), readdirSync(directory).sort(), 'the next crawl sends what is missing');
  t.same(readFileSync(join(place, 'archive', second)), readFileSync(join(directory, second)));
});

t.test('CDXJ: each file has an index, by which captures are found', async (t) => {
  const web = await site(t);
  const directory = join(t.testdir(), 'warc');
  const base = `http://127.0.0.1:${web.port}`;
  const crawl = () =>
    crawlOrdered(join(directory, '..', 'g'), `${base}/`, { warc: { directory, maxFileBytes: 2000 } });
  await crawl();
  const files = readdirSync(directory).filter((name) => name.endsWith('.warc.gz'));
  t.ok(files.length > 1, `${files.length} files`);
  const found: string[] = [];
  for (const file of files) {
    const lines = readFileSync(join(directory, `${file}.cdxj`), 'utf8')
      .split('\n')
      .slice(0, -1);
    t.same(lines, lines.toSorted(), 'sorted');
    const bytes = readFileSync(join(directory, file));
    for (const line of lines) {
      const [, key = '', time = '', json = ''] = /^(\S+) (\d{14}) (\{.*\})$/.exec(line) ?? [];
      const { url, status, offset, length, filename } = JSON.parse(json) as Record<string, string>;
      t.equal(filename, file);
      const member = gunzipSync(bytes.subarray(Number(offset), Number(offset) + Number(length))).toString(
        'latin1',
      );
      t.match(member, `WARC-Target-URI: ${url}\r\n`);
      t.match(member, `HTTP/1.1 ${status} `);
      t.equal(/WARC-Date: (\S+)/.exec(member)?.[1]?.replace(/\D/g, '').slice(0, 14), time);
      t.match(key, /^1,0,0,127:\d+\)\//);
      found.push((url ?? '').replace(base, ''));
    }
  }
  t.same(found.sort(), ['/', '/coded.html', '/moved', '/none', '/robots.txt']);

  const [first = ''] = files;
  rmSync(join(directory, `${first}.cdxj`));
  await crawl();
  t.ok(existsSync(join(directory, `${first}.cdxj`)), 'the next crawl writes a missing index');
});

t.test('WARC 1.1, 6.3: without transfer coding bodies are whole, and its field is renamed', async (t) => {
  const web = await site(t);
  const { records, raw } = await archive(t, web);
  t.match(raw, /\r\nx-orig-transfer-encoding: chunked\r\n/);
  t.notMatch(raw, /\r\nTransfer-Encoding/i);
  const coded = records.find(({ type, url }) => type === 'response' && url.endsWith('/coded.html'));
  t.match(coded?.text, /<h1>Coded<\/h1>/);
});

t.test('G-81: logins are not archived', async (t) => {
  process.env.TEST_ARCHIVE_PASSWORD = 's3cret';
  t.teardown(() => {
    delete process.env.TEST_ARCHIVE_PASSWORD;
  });
  const web = await Site.start({
    '/': ({ headers }, response) => {
      if (headers.authorization === undefined)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="R"' }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(page('In', []));
    },
  });
  t.teardown(() => web[Symbol.asyncDispose]());
  const { records, raw } = await archive(t, web, {
    credentials: [
      {
        kind: 'basic',
        url: `http://localhost:${web.port}/`,
        realm: 'R',
        user: 'user-name',
        passwordEnvironment: 'TEST_ARCHIVE_PASSWORD',
      },
    ],
  });
  t.match(records.find(({ type, url }) => type === 'response' && url.endsWith('/'))?.text, /<h1>In<\/h1>/);
  for (const secret of ['s3cret', 'user-name', Buffer.from('user-name:s3cret').toString('base64')])
    t.notOk(raw.includes(secret), secret);
});

t.test("relative paths of an order are in the crawl's own directory", async (t) => {
  await using started = await site(t);
  const data = t.testdir({ crawl: { 'in.txt': '# Netscape HTTP Cookie File\n' } });
  await crawlOrdered(data, `http://localhost:${started.port}/`, {
    warc: { directory: 'warc' },
    settings: { cookies: true },
    cookiesLoadFile: 'in.txt',
    cookiesSaveFile: 'out.txt',
  });
  const own = join(data, 'crawl');
  t.match(readdirSync(join(own, 'warc')).sort(), [/\.warc\.gz$/, /\.warc\.gz\.cdxj$/]);
  t.ok(existsSync(join(own, 'out.txt')));
});
