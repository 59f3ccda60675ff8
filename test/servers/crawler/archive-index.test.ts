// The CDXJ index of WARC files: compressed in every way, damaged, and by other writers.
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { ArchiveIndex, indexArchive } from '../../../servers/crawler/warc/archive-index.js';
import { newRecordId } from '../../../servers/crawler/warc/new-record.js';
import type { Compression } from '../../../servers/crawler/warc/record-compression.js';
import { packWacz } from '../../../servers/crawler/warc/wacz.js';
import { WarcFiles, type WarcPosition } from '../../../servers/crawler/warc/warc-files.js';
import { cli } from '../../helpers/cli.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { rawZstdFrame } from '../../helpers/zstd.js';

const RECORDS = 6;

/**
 * Writes a file whose records have 20 000 bytes that cannot be compressed much. Returns its path and the
 * positions of the records.
 */
async function archive(directory: string, compression: Compression) {
  await using files = await WarcFiles.open({ directory, prefix: 'P', host: 'h', compression });
  const positions: WarcPosition[] = [];
  for (let i = 0; i < RECORDS; i++) {
    const block = [Buffer.from(Array.from({ length: 20_000 }, (_, k) => (k * k * (i + 3)) >> 3))];
    const fields = [['WARC-Target-URI', `http://a.test/${i}`]] as const;
    const record = { type: 'resource', id: newRecordId(), date: 0, contentType: 'text/plain' } as const;
    positions.push(...(await files.write([{ ...record, fields, block }])));
  }
  return { path: join(directory, positions[0]?.file ?? ''), positions };
}

/** Writes the same as Zstandard frames. */
async function zstdArchive(directory: string) {
  const { path, positions } = await archive(directory, 'none');
  const plain = readFileSync(path);
  const frames: Buffer[] = [];
  const found: { offset: number; length: number }[] = [];
  for (const { start, end } of [
    { start: 0, end: positions[0]?.offset ?? 0 },
    ...positions.map(({ offset, length }) => ({ start: offset, end: offset + length })),
  ]) {
    const frame = rawZstdFrame(plain.subarray(start, end));
    found.push({
      offset: frames.reduce((sum, { length }) => sum + length, 0),
      length: frame.length,
    });
    frames.push(frame);
  }
  rmSync(path);
  writeFileSync(`${path}.zst`, Buffer.concat(frames));
  return { path: `${path}.zst`, positions: found.slice(1) };
}

interface Line {
  readonly url: string;
  readonly offset: string;
  readonly length: string;
  readonly filename: string;
  readonly digest?: string;
}

const valuesOf = (lines: readonly string[]): Line[] =>
  lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Line);

const KINDS = ['gzip', 'none', 'zstd'] as const;
const make = (directory: string, kind: (typeof KINDS)[number]) =>
  kind === 'zstd' ? zstdArchive(directory) : archive(directory, kind);

for (const kind of KINDS) {
  t.test(`${kind}: the index has the place of each record`, async (t) => {
    const { path, positions } = await make(await temporaryDirectory(t), kind);
    const { lines, damage } = await indexArchive(path);
    t.same(damage, []);
    t.match(
      valuesOf(lines),
      positions.map(({ offset, length }, i) => ({
        url: `http://a.test/${i}`,
        offset: String(offset),
        // The library, like others, does not count the line ends after a plain record.
        length: String(kind === 'none' ? length - 4 : length),
        filename: basename(path),
      })),
    );
  });

  t.test(
    `${kind}: the index of a damaged file goes on after the damage, says so, and is tried again`,
    async (t) => {
      const directory = await temporaryDirectory(t);
      const { path, positions } = await make(directory, kind);
      const sound = join(directory, 'sound');
      copyFileSync(path, sound);
      const { offset = 0, length = 0 } = positions[2] ?? {};
      const bytes = readFileSync(path);
      // Deflate has a checksum; the head of a plain record and the blocks of a frame are found by their
      // lengths.
      const damaged = kind === 'gzip' ? offset + Math.floor(length / 2) : offset + (kind === 'none' ? 2 : 9);
      bytes.writeUInt8(bytes.readUInt8(damaged) ^ 0xff, damaged);
      writeFileSync(path, bytes);

      const index = async (): Promise<string[]> => {
        const problems: string[] = [];
        await using found = new ArchiveIndex(directory, (sentence) => problems.push(sentence));
        await found.addMissing();
        return problems;
      };
      const place = `the bytes ${offset} to ${offset + length - 1};`;
      const said = await index();
      t.equal(said.length, 1);
      t.match(said[0], `${path}: no record can be read at ${place}`);
      const written = () => valuesOf(readFileSync(`${path}.cdxj`, 'utf8').trimEnd().split('\n'));
      t.match(
        written().map(({ url, offset }) => `${url} ${offset}`),
        positions.flatMap(({ offset }, i) => (i === 2 ? [] : [`http://a.test/${i} ${offset}`])),
      );
      t.equal(readFileSync(`${path}.cdxj.damage`, 'utf8'), `${offset}-${offset + length - 1}\n`);
      t.same(await index(), said, 'the next crawl says it again');

      const output = join(directory, 'x.wacz');
      const packed: string[] = [];
      const counts = await packWacz({ directory, output, onDamage: (sentence) => packed.push(sentence) });
      t.match(counts, { captures: RECORDS - 1, damaged: 1 });
      t.match(packed, [`${basename(path)}: no record can be read at ${place}`]);
      // A process takes a second: once is enough.
      if (kind === 'gzip')
        t.match(await cli('crawl', 'wacz', directory, '--output', output), {
          code: 1,
          stderr: `warning: ${basename(path)}: no record can be read at ${place}`,
          stdout: `${RECORDS - 1} captures`,
        });

      copyFileSync(sound, path);
      t.same(await index(), [], 'the file was restored');
      t.equal(written().length, RECORDS);
      t.notOk(existsSync(`${path}.cdxj.damage`));
      writeFileSync(`${path}.cdxj`, 'whole');
      t.same(await index(), []);
      t.equal(readFileSync(`${path}.cdxj`, 'utf8'), 'whole', 'a whole index is not written again');
    },
  );

  t.test(`${kind}: a file that ends within a record has an index of the others, and says so`, async (t) => {
    const { path, positions } = await make(await temporaryDirectory(t), kind);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 5));
    const { lines, damage } = await indexArchive(path);
    t.equal(lines.length, RECORDS - 1);
    t.same(damage, [{ start: positions.at(-1)?.offset, end: bytes.length - 5, kind: 'damage' }]);
  });
}

t.test('RFC 8878: of the frames of a killed process the complete ones are kept', async (t) => {
  const source = await temporaryDirectory(t);
  const { path, positions } = await zstdArchive(source);
  const bytes = readFileSync(path);
  const directory = await temporaryDirectory(t);
  const last = positions.at(-1)?.offset ?? 0;
  for (const [cut, kept] of [
    [bytes.length, bytes.length],
    [bytes.length - 1, last],
    [last + 3, last],
    [last + 12, last],
    [5, 0],
  ] as const) {
    writeFileSync(join(directory, `${basename(path)}.open`), bytes.subarray(0, cut));
    // Also by a writer that compresses in another way.
    await using next = await WarcFiles.open({ directory, prefix: 'P', host: 'h' });
    t.same(next.recovered, [{ file: basename(path), bytes: kept, cut: cut - kept, damaged: [] }]);
    t.same(readdirSync(directory), kept === 0 ? [] : [basename(path)]);
    rmSync(join(directory, basename(path)), { force: true });
  }
});

/** A resource record of another writer. */
function foreign(digest: string): Buffer {
  return Buffer.from(
    `WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: ${newRecordId()}\r\nWARC-Date: 2001-01-01T00:00:00Z\r\n` +
      `WARC-Target-URI: http://a.test/\r\nContent-Type: text/plain\r\nWARC-Payload-Digest: ${digest}\r\nContent-Length: 1\r\n\r\nx\r\n\r\n`,
  );
}

t.test('WARC 1.1, 5.9: the digest of a line is that of the record, with its algorithm', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'x.warc.gz');
  const base32 = '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ';
  const hex = 'd41d8cd98f00b204e9800998ecf8427e';
  const digests = [`sha1:${base32}`, base32, `sha256:${'ab'.repeat(32)}`, `md5:${hex}`, hex];
  writeFileSync(path, Buffer.concat(digests.map((digest) => gzipSync(foreign(digest)))));
  const { lines } = await indexArchive(path);
  t.same(
    valuesOf(lines)
      .toSorted((a, b) => Number(a.offset) - Number(b.offset))
      .map(({ digest }) => digest),
    digests.map((digest) => (digest === base32 ? `sha1:${base32}` : digest)),
  );
});

t.test('WARC 1.1, 5: a record without URI or date has no line', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'x.warc');
  const digest = 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ';
  const without = (field: string) =>
    Buffer.from(
      foreign(digest)
        .toString('latin1')
        .replace(new RegExp(`${field}: .*\\r\\n`), ''),
      'latin1',
    );
  const malformed = Buffer.from(
    foreign(digest)
      .toString('latin1')
      .replace('WARC-Type: resource', 'WARC-Type: response')
      .replace('Content-Length: 1\r\n\r\nx', 'Content-Length: 14\r\n\r\nHTTP/1.1 x\r\n\r\n'),
    'latin1',
  );
  writeFileSync(
    path,
    Buffer.concat([without('WARC-Target-URI'), without('WARC-Date'), malformed, foreign(digest)]),
  );
  const { lines, damage } = await indexArchive(path);
  t.same(damage, []);
  t.equal(lines.length, 2);
  t.notMatch(lines.join('\n'), /NaN/);
});

t.test('RFC 1952, 2.3.1: members of other writers have names, comments and extra fields', async (t) => {
  const directory = await temporaryDirectory(t);
  const content = foreign('sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
  const body = deflateRawSync(content);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(content), 0);
  trailer.writeUInt32LE(content.length, 4);
  const fields = [Buffer.from([2, 0, 1, 2]), Buffer.from('name\0'), Buffer.from('comment\0')];
  const flags = [4, 8, 16];
  const members = Array.from({ length: 16 }, (_, set) => {
    const used = [0, 1, 2].filter((bit) => (set & (1 << bit)) !== 0);
    const flag = used.reduce((sum, bit) => sum + (flags[bit] ?? 0), set < 8 ? 0 : 2);
    const head = Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, flag, 0, 0, 0, 0, 0, 3]),
      ...used.map((bit) => fields[bit] ?? body),
    ]);
    const checksum = Buffer.alloc(set < 8 ? 0 : 2);
    if (set >= 8) checksum.writeUInt16LE(crc32(head) & 0xffff);
    return Buffer.concat([head, checksum, body, trailer]);
  });
  const path = join(directory, 'x.warc.gz');
  writeFileSync(path, Buffer.concat(members));
  const { lines, damage } = await indexArchive(path);
  t.same(damage, []);
  t.equal(lines.length, 16);
  const changed = Buffer.from(members[10] ?? Buffer.alloc(0));
  changed.writeUInt8(changed.readUInt8(4) ^ 1, 4);
  writeFileSync(path, Buffer.concat([changed, members[0] ?? changed]));
  t.match(await indexArchive(path), { lines: { length: 1 }, damage: [{ start: 0, end: changed.length }] });
});

/** A record with a document of this many bytes. */
const warcRecord = (name: string, size: number): Buffer =>
  Buffer.from(
    `WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000${name}>\r\n` +
      `WARC-Date: 2024-05-06T07:08:09Z\r\nWARC-Target-URI: http://h.test/${name}\r\nContent-Type: text/plain\r\n` +
      `Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}\r\n\r\n`,
  );
const arcRecord = (name: string, size: number): Buffer =>
  Buffer.from(`http://h.test/${name} 10.0.0.1 20240506070809 text/plain ${size}\n${'x'.repeat(size)}\n`);

t.test(
  'WARC 1.1, Annex D: a member without exactly one record is named, and the others are found',
  async (t) => {
    const kinds = [
      ['warc.gz', warcRecord, gzipSync],
      ['arc.gz', arcRecord, gzipSync],
      ['warc.zst', warcRecord, rawZstdFrame],
    ] as const;
    for (const [suffix, record, compress] of kinds)
      for (const size of [50, 300_000]) {
        const [one, two, last] = [record('1', size), record('2', size), record('3', size)];
        const cut = one.length - 20;
        const cases: readonly (readonly [problem: string, pieces: readonly Buffer[], places: number])[] = [
          ['several records', [Buffer.concat([one, two])], 1],
          ['a part of a record', [one.subarray(0, cut), one.subarray(cut)], 2],
          ['no record', [Buffer.from('\x01 nothing of the kind')], 1],
        ];
        for (const [problem, pieces, places] of cases) {
          const directory = await temporaryDirectory(t);
          const path = join(directory, `a.${suffix}`);
          const bad = pieces.map((piece) => Buffer.from(compress(piece)));
          const members = [Buffer.from(compress(record('0', size))), ...bad, Buffer.from(compress(last))];
          writeFileSync(path, Buffer.concat(members));
          const { lines, damage } = await indexArchive(path);
          const what = `${suffix}, ${size}: ${problem}`;
          t.same(
            valuesOf(lines).map(({ url }) => url),
            ['http://h.test/0', 'http://h.test/3'],
            what,
          );
          t.equal(damage.length, places, what);
          t.match(
            damage[0],
            { problem, start: members[0]!.length, end: members[0]!.length + bad[0]!.length },
            what,
          );
          if (suffix !== 'warc.gz' || size > 50) continue;
          const packed = await cli(
            'crawl',
            'wacz',
            directory,
            '--output',
            join(directory, 'x.wacz'),
            '--json',
          );
          t.equal(packed.code, 1);
          t.match(packed.stdout, /"captures":2,.*"damaged":1/);
          t.match(
            packed.stderr,
            new RegExp(`a\\.warc\\.gz: the compressed bytes \\d+ to \\d+.* hold ${problem}`),
          );
          t.match(packed.stderr, /compress each record by itself/);
        }
      }
  },
);

t.test('the line ends after a record, and members without content, are no matter', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'a.warc.gz');
  const texts = [
    `${warcRecord('1', 9)}\r\n`,
    '',
    `${warcRecord('2', 9)}`.slice(0, -4),
    `${warcRecord('3', 0)}`,
  ];
  writeFileSync(path, Buffer.concat(texts.map((text) => gzipSync(text))));
  const { lines, damage } = await indexArchive(path);
  t.same(damage, []);
  t.equal(lines.length, 3);
});
