// Zstandard Compression for WARC Files 1.0: one frame for each record. Node.js before 22.15 cannot write it and
// says so.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { orderProblems } from '../../../servers/crawler/order/check-order.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { newRecordId } from '../../../servers/crawler/warc/new-record.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { zstdProblem } from '../../../servers/crawler/warc/zstd-frames.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const problem = zstdProblem();
const order = (warc: object) => crawlOrderSchema.parse({ warc: { directory: 'warc', ...warc } });

t.test(
  'a version of Node.js that cannot write it is named before the crawl',
  { skip: problem === undefined },
  async (t) => {
    const message = /^zstd requires Node\.js 22\.15 or later, and this is v\d+\.\d+\.\d+/;
    const directory = await temporaryDirectory(t);
    await t.rejects(WarcFiles.open({ directory, compression: 'zstd' }), { code: 'ERR_USAGE', message });
    t.match(orderProblems(order({ compression: 'zstd' })), [
      { path: ['warc', 'compression'], problem: message },
    ]);
    t.same(orderProblems(order({ compression: 'zstd', compress: false })), []);
  },
);

const skip = problem ?? false;

t.test(
  'each record is a frame with its size and checksum, at the offset of the index',
  { skip },
  async (t) => {
    const directory = await temporaryDirectory(t);
    t.same(orderProblems(order({ compression: 'zstd' })), []);
    await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
    const warc = join(directory, 'warc');
    for (let round = 0; round < 2; round++)
      await crawlOrdered(join(directory, 'g'), `${site.url}/`, {
        warc: { directory: warc, compression: 'zstd', digestHistory: true },
      });
    const names = readdirSync(warc).filter((name) => name.endsWith('.warc.zst'));
    t.equal(names.length, 2);
    for (const [i, name] of names.sort().entries()) {
      const bytes = readFileSync(join(warc, name));
      const lines = readFileSync(join(warc, `${name}.cdxj`), 'utf8')
        .trimEnd()
        .split('\n');
      t.equal(lines.length, 3);
      for (const line of lines) {
        const { url, offset, length } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>;
        const frame = bytes.subarray(Number(offset), Number(offset) + Number(length));
        t.equal(frame.readUInt32LE(0), 0xfd2fb528);
        // Checksum flag, and a content size: its flag, or a single segment.
        t.ok((frame.readUInt8(4) & 4) !== 0 && (frame.readUInt8(4) & 0xe0) !== 0, 'size and checksum');
        const text = decompressed(frame);
        t.match(text, `WARC-Target-URI: ${url}\r\n`);
        if (i === 1 && url?.endsWith('/a')) t.match(text, 'WARC-Type: revisit\r\n');
      }
    }
  },
);

/** Decompresses by the program of the format's authors, or by Node.js without it. */
function decompressed(frame: Buffer): string {
  const { stdout, error } = spawnSync('zstd', ['-dc'], { input: frame });
  if (error === undefined) return stdout.toString('latin1');
  return spawnSync(
    process.execPath,
    ['-e', 'process.stdout.write(zlib.zstdDecompressSync(fs.readFileSync(0)))'],
    { input: frame },
  ).stdout.toString('latin1');
}

t.test('a changed byte of a frame is found by its checksum', { skip }, async (t) => {
  const directory = await temporaryDirectory(t);
  const files = await WarcFiles.open({ directory, host: 'h', compression: 'zstd' });
  const write = async (text: string) => {
    const fields = [['WARC-Target-URI', 'http://a.test/']] as const;
    const record = { type: 'resource', id: newRecordId(), date: 0, contentType: 'text/plain' } as const;
    const [position] = await files.write([{ ...record, fields, block: [Buffer.from(text)] }]);
    return position;
  };
  const one = await write(randomBytes(50_000).toString('hex'));
  const two = await write(randomBytes(3_000_000).toString('hex'));
  const three = await write('three');
  await files.close();
  const path = join(directory, one?.file ?? '');
  t.equal((await indexArchive(path)).lines.length, 3);
  const bytes = readFileSync(path);
  const damaged = (two?.offset ?? 0) + 1_000_000;
  bytes.writeUInt8(bytes.readUInt8(damaged) ^ 1, damaged);
  writeFileSync(path, bytes);
  const { lines, damage } = await indexArchive(path);
  t.equal(lines.length, 2);
  t.match(damage, [{ start: two?.offset, end: three?.offset }]);
  renameSync(path, `${path}.open`);
  await using next = await WarcFiles.open({ directory, host: 'h', compression: 'zstd' });
  t.match(next.recovered, [{ bytes: bytes.length, cut: 0, damaged: [two?.offset] }]);
});
