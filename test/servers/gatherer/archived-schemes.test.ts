// Archives of documents that do not come by HTTP: long ones are whole, cut ones say so.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import { tcpServer } from '../../helpers/tcp-server.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Above the default of Max-Retrieval-Size. */
const LONG = Buffer.from('a line of a long file\n'.repeat(600_000));

interface Resource {
  readonly fields: string;
  readonly block: Buffer;
}

/** Crawls a URL twice into one archive. Returns its resource records whose URL ends so. */
async function resources(t: Test, url: string, path: string, lines: readonly string[] = []) {
  const data = await temporaryDirectory(t);
  const warc = { directory: join(data, 'warc'), compress: false, digestHistory: true };
  const order = {
    profile: 'archive' as const,
    warc,
    settings: { lostMaxRetries: 2, lostRetryDelaySeconds: 0.01 },
  };
  for (const run of ['a', 'b']) await crawlOrdered(join(data, run), url, order, lines);
  t.same(readdirSync(join(data, 'b', 'crawl', 'bodies')), []);
  const found: Resource[] = [];
  for (const name of readdirSync(warc.directory).filter((file) => file.endsWith('.warc'))) {
    const bytes = readFileSync(join(warc.directory, name));
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf('\r\n\r\n', at) + 4;
      const fields = bytes.subarray(at, end).toString();
      const length = Number(/^Content-Length: (\d+)/m.exec(fields)?.[1]);
      const target = /^WARC-Target-URI: (\S+)/m.exec(fields)?.[1] ?? '';
      if (/^WARC-Type: (?:resource|revisit)/m.test(fields) && target.endsWith(path))
        found.push({ fields, block: bytes.subarray(end, end + length) });
      at = end + length + 4;
    }
  }
  return found;
}

const truncated = ({ fields }: Resource) => /^WARC-Truncated: (\S+)/m.exec(fields)?.[1];
const digest = (block: Buffer) => createHash('sha1').update(block).digest('hex');

/** Checks that a record is one of the whole document. */
function isWhole(t: Test, records: readonly Resource[]): void {
  t.ok(records.length > 0, 'there is a record');
  for (const record of records) {
    t.match(record.fields, /^WARC-Type: resource/m);
    t.equal(digest(record.block), digest(LONG), `${record.block.length} bytes`);
    t.equal(truncated(record), undefined);
  }
}

t.test('a long local file, and one in place of a document of a web site', async (t) => {
  const files = await temporaryDirectory(t);
  mkdirSync(join(files, 'site'));
  writeFileSync(join(files, 'site', 'long.txt'), LONG, { mode: 0o644 });
  isWhole(t, await resources(t, `file://${files}/site/`, '/long.txt'));
  const mapping = `Local-Mapping: http://127.0.0.1:9/ ${files}/site/`;
  isWhole(t, await resources(t, 'http://127.0.0.1:9/long.txt', '/long.txt', [mapping]));
});

/** A Gopher server. */
const gopher = (t: Test, serve: (socket: Socket, count: number) => void): Promise<number> => {
  let count = 0;
  return tcpServer(t, (socket) => {
    socket.on('error', () => undefined).once('data', () => serve(socket, ++count));
  });
};

t.test('a long Gopher file', async (t) => {
  const port = await gopher(t, (socket) => socket.end(LONG));
  isWhole(t, await resources(t, `gopher://127.0.0.1:${port}/9/long`, '/9/long'));
});

t.test('a Gopher file whose connection is reset: each attempt is archived, and none is whole', async (t) => {
  const part = LONG.subarray(0, 40_000);
  let requests = 0;
  const port = await gopher(t, (socket, count) => {
    requests = count;
    socket.write(part, () => socket.resetAndDestroy());
  });
  const records = await resources(t, `gopher://127.0.0.1:${port}/9/long`, '/9/long');
  t.equal(records.length, requests);
  t.ok(requests >= 4, 'two attempts in each crawl');
  for (const record of records) {
    t.match(record.fields, /^WARC-Type: resource/m);
    t.equal(truncated(record), 'disconnect');
    t.ok(LONG.subarray(0, record.block.length).equals(record.block));
  }
});
