// Readers of foreign and stored files: Registries, GDBM dumps, SOIF and gzip files, exports, link lists,
// records.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  DEFAULT_FORMAT,
  decodeRecordData,
  decodeRegistryHeader,
  encodeRecordData,
  encodeRegistryHeader,
  GathererIds,
  READINGS,
  RegistryDecoder,
} from '../../../protocols/registry/index.js';
import { kindOfHead } from '../../../storage/databases/file-kind.js';
import { readGdbmDump } from '../../../storage/databases/gdbm-dump.js';
import { openSource } from '../../../storage/databases/sources.js';
import { ReadyExport } from '../../../storage/generations/export/ready-export.js';
import { readManifest } from '../../../storage/level/verify/manifest.js';
import {
  decompressSnappy,
  readBatch,
  readTable,
  verifyTable,
} from '../../../storage/level/verify/table-file.js';
import { RegistryFile } from '../../../storage/original-registry/registry-file.js';
import { repairRegistry } from '../../../storage/original-registry/repair.js';
import * as records from '../../../storage/records/records.js';
import { DocumentLines } from '../../../storage/references/document-lines.js';
import { parseManifest } from '../../../storage/references/format.js';
import { WholeLines } from '../../../storage/references/line-input.js';
import { PairParser } from '../../../storage/references/pair-parser.js';
import { KeyLog } from '../../../storage/seen/key-log.js';
import type { Random } from '../../helpers/random.js';
import { EXAMPLE, handFile, handRecord } from '../../storage/original-registry/helpers.js';
import { gzipMember } from '../generators/gzip.js';
import { soifSections, soifStream } from '../generators/soif.js';
import { scratchFile } from '../scratch.js';
import {
  allowed,
  allowedAsync,
  assert,
  bytesOf,
  type FuzzTarget,
  latin1,
  randomOf,
  sameInPieces,
  shown,
  utf8,
} from '../target.js';

const registryFile = (random: Random): Uint8Array =>
  handFile(
    random.list(4, () =>
      handRecord(random.below(9), { flag: random.below(3), rest: random.once(3) ? 'rest' : '' }),
    ),
  );

export const registryDecoder: FuzzTarget = {
  generate: registryFile,
  seeds: [EXAMPLE],
  run: (input) => {
    const random = randomOf(input);
    const reading = random.pick(READINGS);
    const options = { reading, maxRecordBytes: random.pick([100, 1 << 20]) };
    sameInPieces(input, (pieces) => {
      const decoder = new RegistryDecoder(options);
      return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
    });
    for (const version of [1, 2] as const) {
      const record = allowed(() => decodeRecordData(input, version));
      if (record === undefined) continue;
      assert(Buffer.compare(encodeRecordData(record, version), input) === 0, 'a record is written as read');
    }
    const header = allowed(() => decodeRegistryHeader(input, DEFAULT_FORMAT));
    if (header !== undefined) encodeRegistryHeader(header, DEFAULT_FORMAT);
    allowed(() => {
      const ids = GathererIds.parse(latin1(input));
      assert(GathererIds.parse(ids.format()).format() === ids.format(), 'Gatherer-Ids are written as read');
    });
  },
};

export const registrySalvage: FuzzTarget = {
  generate: registryFile,
  linear: false,
  run: async (input) => {
    const path = scratchFile('Registry', input);
    await allowedAsync(async () => {
      await using file = await RegistryFile.open(path, { maxRecordBytes: 4096 });
      for await (const { record } of file.records()) record?.url.length;
    });
    await allowedAsync(() => repairRegistry(path, { maxRecordBytes: 4096 }));
  },
};

const DUMP =
  '# GDBM dump file\n#:version=1.1\n#:file=x\n#:format=standard\n# End of header\n#:len=1\nYQ==\n#:len=3\nYWJj\n#:count=1\n# End of data\n';

export const gdbmDump: FuzzTarget = {
  seeds: [DUMP],
  generate: (random) => bytesOf(random.list(14, () => random.pick(DUMP.split('\n'))).join('\n')),
  linear: false,
  run: async (input) => {
    const path = scratchFile('dump', input);
    await allowedAsync(async () => {
      for await (const { key, value } of readGdbmDump(path, { maxRecordBytes: 100 })) key.equals(value);
    });
  },
};

/** Any file that may be a database, a dump, a SOIF stream or gzip. */
export const sources: FuzzTarget = {
  corpus: ['soif'],
  seeds: [DUMP, new Uint8Array(gzipSync('@FILE { u\na{1}:\tx\n}\n'))],
  generate: (random) => {
    if (random.once(3)) return gzipMember(random);
    const stream = random.once(2) ? soifStream(random) : soifSections(random);
    return random.once(3) ? new Uint8Array(gzipSync(stream)) : stream;
  },
  linear: false,
  run: async (input) => {
    // A database file is opened by SQLite, and a GDBM file by a program; their readers are not the kit's.
    const kind = kindOfHead(Buffer.from(input));
    if (kind === 'database' || kind === 'gdbm') return;
    const path = scratchFile('source', input);
    await allowedAsync(async () => {
      for await (const { bytes } of openSource(path, { maxObjectBytes: 500 })) bytes.at(0);
    });
  },
};

export const linkLists: FuzzTarget = {
  seeds: ['1 2\n3 4\n', '1\n2 3\n', '# x\n1 http://a/ 5 6 7\n', '<1>\0\0\0\x02', '12:\0\0\0\x05'],
  run: (input) => {
    const random = randomOf(input);
    const byteOrder = random.pick(['little', 'big', undefined] as const);
    const read = (
      pieces: readonly Uint8Array[],
      make: (out: unknown[]) => { push(chunk: Uint8Array): void; end(): void },
    ): unknown => {
      const out: unknown[] = [];
      const parser = make(out);
      const failed = allowed(() => {
        for (const piece of pieces) parser.push(piece);
        parser.end();
        return false;
      });
      return failed === undefined ? 'failed' : out;
    };
    sameInPieces(input, (pieces) =>
      read(pieces, (out) => new PairParser('f', (pairs) => out.push(...pairs), { byteOrder })),
    );
    sameInPieces(input, (pieces) =>
      read(pieces, (out) => new DocumentLines('f', (document) => out.push(document))),
    );
    sameInPieces(input, (pieces) => {
      const lines = new WholeLines();
      return allowed(() =>
        [...pieces.map((piece) => latin1(lines.push(piece))), latin1(lines.end())].join(''),
      );
    });
    allowed(() => parseManifest(utf8(input), 'MANIFEST'));
  },
};

const CODECS = Object.entries(records).flatMap(([name, codec]) =>
  name.endsWith('Codec') && typeof codec === 'object' && 'decode' in codec ? [codec] : [],
);

/** Records of the stores: damage is a StorageError, and what is read is written the same. */
export const storedRecords: FuzzTarget = {
  linear: false,
  seeds: ['\n\x05hello\x10\x07', '\x08\x01\x12\x03abc'],
  run: (input) => {
    for (const codec of CODECS) {
      const record = allowed(() => codec.decode(input));
      if (record !== undefined) assert(shown(record).length > 0, 'a record can be shown');
    }
  },
};

export const exportIndex: FuzzTarget = {
  linear: false,
  run: async (input) => {
    scratchFile('All-Templates.gz', input);
    const directory = dirname(scratchFile('EXPORT', input));
    await allowedAsync(async () => {
      await using ready = await ReadyExport.open(directory);
      const selection = ready.select(5);
      ready.sum(selection.rest);
      ready.byDigest();
      for (let block = 0; block < Math.min(3, ready.blocks.end); block++) await ready.deflatedBlock(block);
      for await (const chunk of ready.objectsSince(0)) chunk.bytes.at(0);
    });
  },
};

export const seenLog: FuzzTarget = {
  linear: false,
  run: async (input) => {
    const path = scratchFile('keys', input);
    await allowedAsync(async () => {
      const log = await KeyLog.open(path, (_, keys) => keys.length);
      await log.close();
    });
    const file = await open(path, constants.O_RDONLY);
    await file.close();
  },
};

/** The files of LevelDB as `harvest store check` reads them. */
export const levelFiles: FuzzTarget = {
  linear: false,
  seeds: [
    '\x05\x10abcde',
    '\x40\x00a\xfe\x01\x00',
    '\x80\x80\x80\x80\x04\x00a',
    `${'\0'.repeat(40)}\x57\xfb\x80\x8b\x24\x75\x47\xdb`,
    '\x01\0\0\0\0\0\0\0\x01\0\0\0\x01\x01k\x01v',
  ],
  run: (input) => {
    const unpacked = allowed(() => decompressSnappy(input));
    assert(unpacked === undefined || unpacked.length <= 22 * input.length, 'no more than Snappy can contain');
    verifyTable(input);
    allowed(() => [...readTable(input)].length);
    allowed(() => [...readBatch(input)].length);
    allowed(() => readManifest(input));
  },
};
