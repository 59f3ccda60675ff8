// Records and files of the original Registry, encoded by hand, independent of the code under test.
import type { RegistryRecord } from '../../../protocols/registry/index.js';

/** The record with its header that section 3.3 of the specification prints. */
export const EXAMPLE = Buffer.from(
  '0000003b4842525200000001' +
    '0000000a687474703a2f2f612f78' +
    '0000000147' +
    '0000000168' +
    '00000003312e30' +
    '00000000' +
    '00000000' +
    '000000012faf08000000000000093a800024ea00',
  'hex',
);

const EMPTY = new Uint8Array(0);

/** The fields of `EXAMPLE`. */
export const EXAMPLE_RECORD: RegistryRecord = {
  oid: 1,
  url: Buffer.from('http://a/x'),
  gatherer: { name: Buffer.from('G'), host: Buffer.from('h'), version: Buffer.from('1.0') },
  md5: EMPTY,
  description: EMPTY,
  updateTime: 800_000_000,
  lastModificationTime: 0,
  refreshRate: 604_800,
  timeToLive: 2_419_200,
  rest: EMPTY,
};

/** Encodes numbers as big-endian integers of 32 bits. */
export function u32(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => {
    bytes.writeUInt32BE(number, 4 * i);
  });
  return bytes;
}

/**
 * Encodes a record by hand: the example with another OID and URL. `counted` is added to the size of the data
 * (REG-11).
 */
export function handRecord(
  oid: number,
  options: {
    readonly url?: string;
    readonly flag?: number;
    readonly counted?: number;
    readonly rest?: string;
    readonly description?: string;
  } = {},
): Buffer {
  const { url = `http://a/${oid}`, flag = 1, counted = 0, rest = '', description = '' } = options;
  const data = Buffer.concat([
    u32(url.length),
    Buffer.from(url),
    Buffer.from('00000001470000000168' + '00000003312e30' + '00000000', 'hex'),
    u32(description.length),
    Buffer.from(description, 'latin1'),
    u32(oid, 800_000_000, 0, 604_800, 2_419_200),
    Buffer.from(rest, 'latin1'),
  ]);
  return Buffer.concat([u32(data.length + counted, 0x48425252, flag), data]);
}

/**
 * Encodes a file by hand. By default its counts are the numbers of valid (flag 1) and deleted (flag 2) records.
 */
export function handFile(
  records: readonly Buffer[],
  counts?: readonly [records: number, deleted: number, valid: number],
  version = 1,
): Buffer {
  const flags = records.map((record) => record.readUInt32BE(8));
  const [total, deleted, valid] = counts ?? [
    records.length,
    flags.filter((flag) => flag === 2).length,
    flags.filter((flag) => flag === 1).length,
  ];
  return Buffer.concat([u32(0x48425247, version, total, deleted, valid), ...records]);
}

/** Returns the fields of the record that `handRecord` encodes for an OID. */
export function recordOf(oid: number, changes: Partial<RegistryRecord> = {}): RegistryRecord {
  return { ...EXAMPLE_RECORD, oid, url: Buffer.from(`http://a/${oid}`), ...changes };
}
