// Records whose body is on disk: they are written in pieces, never as a whole.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { isStored, type StoredBody } from '../../../clients/fetch/index.js';
import { indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { captureRecords } from '../../../servers/crawler/warc/captures.js';
import { sha1Base32 } from '../../../servers/crawler/warc/digest.js';
import { encodeRecord } from '../../../servers/crawler/warc/encode-record.js';
import type { NewWarcRecord } from '../../../servers/crawler/warc/new-record.js';
import { compressRecord } from '../../../servers/crawler/warc/record-compression.js';
import { WarcFiles } from '../../../servers/crawler/warc/warc-files.js';
import { decompressFrame, zstdProblem } from '../../../servers/crawler/warc/zstd-frames.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { fetchedUri } from './uri-scene.js';

const PIECE = 100_000;
const PIECES = 30;

/** What the body has at an offset of a piece. */
const pieceOf = (number: number): Buffer => Buffer.alloc(PIECE, `line ${number * 7919} of a long body\n`);
const BODY = Buffer.concat(Array.from({ length: PIECES }, (_, number) => pieceOf(number)));
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n';

/** A body whose pieces are valid until the next one is requested, as those of a file are. */
class PiecewiseBody implements StoredBody {
  readonly length = PIECE * PIECES;
  readonly sha1 = createHash('sha1').update(BODY).digest();
  /** Readings that have begun and not ended. */
  open = 0;
  failsAt = Number.POSITIVE_INFINITY;

  async *pieces(): AsyncGenerator<Uint8Array> {
    const buffer = Buffer.alloc(PIECE);
    this.open++;
    try {
      for (let number = 0; number < PIECES; number++) {
        if (number === this.failsAt) throw new Error('the disk is gone');
        pieceOf(number).copy(buffer);
        yield buffer;
        buffer.fill(0);
      }
    } finally {
      this.open--;
    }
  }

  async close(): Promise<void> {}
}

function recordsOf(body: StoredBody): readonly NewWarcRecord[] {
  const wire = {
    request: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    head: Buffer.from(HEAD),
    body,
    truncated: false,
  };
  const { records, payloadDigest } = captureRecords(
    fetchedUri('line 0 of', { wire, truncated: true }).fetched!,
  );
  t.equal(payloadDigest, sha1Base32(BODY));
  return records;
}

for (const compression of ['none', 'gzip', 'zstd'] as const)
  for (const format of ['warc', 'arc'] as const) {
    const skip = compression === 'zstd' && (format === 'arc' || zstdProblem() !== undefined);
    t.test(`a body on disk is a record: ${format}, ${compression}`, { skip }, async (t) => {
      const directory = await temporaryDirectory(t);
      const body = new PiecewiseBody();
      const files = await WarcFiles.open({ directory, compression, format });
      const [position] = await files.write(recordsOf(body));
      const [next] = await files.write(captureRecords(fetchedUri('short').fetched!).records);
      await files.close();
      t.equal(body.open, 0);
      const path = join(directory, position!.file);
      const bytes = readFileSync(path).subarray(position!.offset, position!.offset + position!.length);
      const plain =
        compression === 'none'
          ? bytes
          : compression === 'gzip'
            ? gunzipSync(bytes)
            : await collected(decompressFrame(asyncOf(bytes)));
      const headEnd = plain.indexOf(format === 'arc' ? '\n' : '\r\n\r\n') + (format === 'arc' ? 1 : 4);
      const head = plain.subarray(0, headEnd).toString();
      const block = plain.subarray(headEnd, plain.length - (format === 'arc' ? 1 : 4));
      t.ok(block.equals(Buffer.concat([Buffer.from(HEAD), BODY])), 'the bytes of the body');
      if (format === 'arc') t.match(head, new RegExp(` text/plain ${block.length}\n$`));
      else {
        t.match(head, `\r\nContent-Length: ${block.length}\r\n`);
        t.match(head, `\r\nWARC-Block-Digest: ${sha1Base32(block)}\r\n`);
        t.match(head, `\r\nWARC-Payload-Digest: ${sha1Base32(BODY)}\r\n`);
        t.notMatch(head, 'WARC-Truncated', 'the body is whole, whatever a summarizer reads of it');
      }
      const { lines, damage } = await indexArchive(path);
      t.same(damage, []);
      for (const { offset } of [position!, next!])
        t.ok(
          lines.some((line) => line.includes(`"offset":"${offset}"`)),
          'the index has it',
        );
    });
  }

t.test('a body that cannot be read leaves no bytes of its record', async (t) => {
  const directory = await temporaryDirectory(t);
  for (const compression of ['none', 'gzip'] as const) {
    const files = await WarcFiles.open({ directory, compression, prefix: compression });
    const body = new PiecewiseBody();
    const records = recordsOf(body);
    const [first] = await files.write(captureRecords(fetchedUri('short').fetched!).records);
    // Once for the digest, and once for the file.
    body.failsAt = 20;
    await t.rejects(files.write(records), { code: 'ERR_STORAGE' });
    t.equal(body.open, 0);
    const [next] = await files.write(captureRecords(fetchedUri('short').fetched!).records);
    t.equal(next!.offset, first!.offset + first!.length);
    await files.close();
  }
  t.equal(readdirSync(directory).length, 2);
});

t.test('a reader that stops ends the reading of the body', async (t) => {
  const body = new PiecewiseBody();
  const encoded = await encodeRecord(recordsOf(body)[0]!);
  for (const compression of ['none', 'gzip'] as const) {
    for await (const _ of compressRecord(encoded, compression)) break;
    t.equal(body.open, 0, compression);
    body.failsAt = 20;
    await t.rejects(async () => {
      for await (const _ of compressRecord(encoded, compression));
    }, /the disk is gone/);
    body.failsAt = Number.POSITIVE_INFINITY;
    t.equal(body.open, 0);
  }
  t.equal(isStored(body), true);
  t.equal(isStored(BODY), false);
});

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const piece of pieces) found.push(piece);
  return Buffer.concat(found);
}

async function* asyncOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
