// Tests the codec of the Broker’s Registry: header, records of both versions, damage, and Gatherer-Ids.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError, StateError, UsageError } from '../../../protocols/errors.js';
import {
  DEFAULT_FORMAT,
  decodeRecordData,
  decodeRegistryHeader,
  emptyFields,
  encodeRecordData,
  encodeRecordHeader,
  encodeRegistryHeader,
  encodeRegistryRecord,
  GathererIds,
  RegistryDecoder,
  type RegistryItem,
  type RegistryReading,
  type RegistryRecord,
  registryFormat,
} from '../../../protocols/registry/index.js';
import { assertProperty } from '../../helpers/property.js';
import {
  EXAMPLE,
  EXAMPLE_RECORD,
  handFile,
  handRecord,
  u32,
} from '../../storage/original-registry/helpers.js';

function decodeAll(bytes: Uint8Array, cuts: readonly number[] = [], reading: RegistryReading = 'a') {
  const decoder = new RegistryDecoder({ reading });
  const items: RegistryItem[] = [];
  let offset = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    items.push(...decoder.push(bytes.subarray(offset, Math.max(offset, cut))));
    offset = Math.max(offset, cut);
  }
  return [...items, ...decoder.push(bytes.subarray(offset)), ...decoder.end()];
}

/** Makes items comparable: bytes become hexadecimal. */
function plain(items: readonly RegistryItem[]): unknown {
  return items.map((item) =>
    'data' in item ? { ...item, data: Buffer.from(item.data).toString('hex') } : item,
  );
}

t.test('REG-2, REG-3, REG-12, REG-56: the example is encoded and decoded byte for byte', async (t) => {
  t.same(Buffer.from(encodeRegistryRecord(EXAMPLE_RECORD, 1, DEFAULT_FORMAT)), EXAMPLE);
  t.same(decodeRecordData(EXAMPLE.subarray(12), 1), EXAMPLE_RECORD);
});

t.test('REG-5, REG-8, REG-9: the file header is 20 bytes, magic first', async (t) => {
  const header = { version: 1, records: 3, deleted: 1, valid: 2 };
  const bytes = Buffer.from('4842524700000001000000030000000100000002', 'hex');
  t.same(Buffer.from(encodeRegistryHeader(header, DEFAULT_FORMAT)), bytes);
  t.same(decodeRegistryHeader(bytes, DEFAULT_FORMAT), header);
  t.throws(() => decodeRegistryHeader(bytes.subarray(0, 19), DEFAULT_FORMAT), {
    name: 'ProtocolError',
    rule: 'REG-5',
  });
  t.throws(() => decodeRegistryHeader(Buffer.alloc(20), DEFAULT_FORMAT), {
    name: 'ProtocolError',
    rule: 'REG-8',
    offset: 0,
  });
  t.throws(() => encodeRegistryHeader({ ...header, records: -1 }, DEFAULT_FORMAT), RangeError);
});

t.test('REG-8, REG-14: magic numbers and flags are parameters', async (t) => {
  const format = registryFormat({ fileMagic: 1, recordMagic: 2, validFlag: 7, deletedFlag: 0 });
  t.same(Buffer.from(encodeRecordHeader(3, format.validFlag, format)), u32(3, 2, 7));
  const decoder = new RegistryDecoder(format);
  const items = decoder.push(Buffer.concat([u32(1, 1, 0, 0, 0), u32(1, 2, 0), Buffer.of(9)]));
  t.match(items, [{ kind: 'header' }, { kind: 'record', state: 'deleted', flag: 0 }]);
  t.throws(() => registryFormat({ validFlag: 2 }), UsageError, 'flags must differ');
  t.throws(() => registryFormat({ recordMagic: 2 ** 32 }), UsageError);
});

t.test('REG-11: the size field can be read in three ways', async (t) => {
  for (const [reading, counted] of [
    ['a', 0],
    ['b', 12],
    ['c', 8],
  ] as const) {
    const format = registryFormat({ reading });
    t.equal(Buffer.from(encodeRecordHeader(59, 1, format)).readUInt32BE(0), 59 + counted);
    const items = decodeAll(handFile([handRecord(1, { counted }), handRecord(2, { counted })]), [], reading);
    t.same(
      items.map(({ kind }) => kind),
      ['header', 'record', 'record'],
      reading,
    );
  }
  const small = Buffer.concat([handFile([]), u32(11, 0x48425252, 1)]);
  t.match(decodeAll(small, [], 'b').at(-1), { kind: 'damage', rule: 'REG-11', offset: 20, cut: false });
});

t.test('REG-14: a record with an unknown flag is neither valid nor deleted', async (t) => {
  t.match(decodeAll(handFile([handRecord(1, { flag: 9 })])).at(-1), { state: 'unknown', flag: 9 });
});

t.test('REG-15: reading stops at a wrong magic number, with its offset', async (t) => {
  const file = handFile([handRecord(1), handRecord(2), handRecord(3)]);
  const second = 20 + handRecord(1).length;
  file.writeUInt32BE(0, second + 4);
  const items = decodeAll(file);
  t.same(
    items.map(({ kind }) => kind),
    ['header', 'record', 'damage'],
  );
  t.match(items.at(-1), { rule: 'REG-15', offset: second, cut: false });
});

t.test('REG-21: extra bytes of a record are kept; a record of any shorter length is damage', async (t) => {
  const longer = Buffer.concat([EXAMPLE.subarray(12), Buffer.from('left')]);
  const record = decodeRecordData(longer, 1);
  t.equal(Buffer.from(record.rest).toString(), 'left');
  t.same(Buffer.from(encodeRecordData(record, 1)), longer);
  for (let length = 0; length < EXAMPLE.length - 12; length++) {
    t.throws(() => decodeRecordData(EXAMPLE.subarray(12, 12 + length), 1, 32), {
      name: 'ProtocolError',
      protocol: 'registry',
      rule: 'REG-21',
    });
  }
});

t.test('REG-22: times that do not fit are clamped', async (t) => {
  const bytes = Buffer.from(
    encodeRecordData(
      { ...EXAMPLE_RECORD, updateTime: 2 ** 33, lastModificationTime: -5, timeToLive: 1.5 },
      1,
    ),
  );
  t.same(bytes.subarray(-16), u32(4_294_967_295, 0, 604_800, 1));
  t.throws(
    () => encodeRecordData({ ...EXAMPLE_RECORD, oid: 2 ** 32 }, 1),
    ProtocolError,
    'an OID is refused, not clamped',
  );
});

t.test('REG-39: emptyFields names the mandatory fields that are empty', async (t) => {
  const empty = new Uint8Array(0);
  t.same(emptyFields(EXAMPLE_RECORD), []);
  t.same(emptyFields({ ...EXAMPLE_RECORD, url: empty }), ['URL']);
  t.same(emptyFields({ ...EXAMPLE_RECORD, gatherer: { name: empty, host: empty, version: empty } }), [
    'Gatherer-Name',
    'Gatherer-Host',
    'Gatherer-Version',
  ]);
  t.same(emptyFields({ ...EXAMPLE_RECORD, gatherer: { id: 0 } }), ['Gatherer id']);
});

t.test('REG-50: records of version 2 and Gatherer-Ids are encoded byte for byte', async (t) => {
  const record: RegistryRecord = { ...EXAMPLE_RECORD, gatherer: { id: 3 }, md5: Buffer.from('ab') };
  const bytes = Buffer.concat([
    Buffer.from('0000000a687474703a2f2f612f78' + '000000026162' + '00000000', 'hex'),
    u32(1, 3, 800_000_000, 0, 604_800, 2_419_200),
  ]);
  t.same(Buffer.from(encodeRecordData(record, 2)), bytes);
  t.same(decodeRecordData(bytes, 2), record);
  t.throws(() => encodeRecordData(record, 1), TypeError);
  t.throws(() => encodeRecordData(EXAMPLE_RECORD, 2), TypeError);

  const text = '1\tExample\thost.test\t1.0\n7\tOther\thost.test\t1.1\n';
  const ids = GathererIds.parse(`${text}8\tcut of`);
  t.same(ids.get(7), { name: 'Other', host: 'host.test', version: '1.1' });
  t.equal(ids.size, 2, 'an incomplete last line is ignored');
  t.equal(ids.idOf({ name: 'Example', host: 'host.test', version: '1.0' }), 1);
  t.equal(ids.idOf({ name: 'New', host: 'h', version: '' }), 8);
  t.equal(ids.format(), `${text}8\tNew\th\t\n`, 'lines are only appended');
  t.throws(() => ids.idOf({ name: 'a\tb', host: 'h', version: '1' }), ProtocolError);
  for (const bad of [
    '0\ta\tb\tc\n',
    '1\ta\tb\n',
    '1\ta\tb\tc\td\n',
    `${text}7\ta\tb\tc\n`,
    'x\n',
    '1\ta\tb\tc\r\n',
  ]) {
    t.throws(() => GathererIds.parse(bad), { name: 'ProtocolError', rule: 'REG-50' }, JSON.stringify(bad));
  }
});

const bytesOf = fc.uint8Array({ maxLength: 30 });
const number = fc.integer({ min: 0, max: 0xffff_ffff });
const texts = fc.record({ url: bytesOf, md5: bytesOf, description: bytesOf, rest: bytesOf });
const numbers = fc.record({
  oid: number,
  updateTime: number,
  lastModificationTime: number,
  refreshRate: number,
  timeToLive: number,
});
const triple = fc.record({ name: bytesOf, host: bytesOf, version: bytesOf });

t.test('REG-3, REG-7: an encoded record decodes to the same record (property)', async (t) => {
  assertProperty(
    fc.property(texts, numbers, fc.oneof(triple, fc.record({ id: number })), (texts, numbers, gatherer) => {
      const version = 'id' in gatherer ? 2 : 1;
      const record = { ...texts, ...numbers, gatherer };
      const decoded = decodeRecordData(encodeRecordData(record, version), version);
      t.same(hexed(decoded), hexed(record));
    }),
    { numRuns: 200 },
  );
});

function hexed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member) =>
      member instanceof Uint8Array ? Buffer.from(member).toString('hex') : member,
    ),
  );
}

t.test('REG-16: chunks have no effect, and no bytes make the decoder throw (property)', async (t) => {
  const records = fc.array(
    fc.record({
      oid: number,
      flag: fc.constantFrom(1, 2, 5),
      rest: fc.constantFrom('', 'HBRR', 'x'.repeat(70)),
    }),
    { maxLength: 5 },
  );
  assertProperty(
    fc.property(
      records,
      fc.array(fc.nat(600)),
      fc.option(fc.tuple(fc.nat(600), fc.nat(255))),
      (list, cuts, damage) => {
        const file = handFile(list.map(({ oid, ...rest }) => handRecord(oid, rest)));
        if (damage !== null && damage[0] < file.length) file[damage[0]] = damage[1];
        const whole = decodeAll(file);
        t.same(plain(decodeAll(file, cuts)), plain(whole));
        if (damage === null) t.equal(whole.filter(({ kind }) => kind === 'record').length, list.length);
      },
    ),
    { numRuns: 150 },
  );
  assertProperty(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('a', 'b', 'c'), (garbage, reading) => {
      const items = decodeAll(Buffer.concat([handFile([]), garbage]), [], reading);
      t.equal(
        items.slice(0, -1).some(({ kind }) => kind === 'damage'),
        false,
        'damage is the last item',
      );
    }),
    { numRuns: 150 },
  );
});

t.test('REG-11: a size beyond the limit is damage and allocates nothing', async (t) => {
  const file = handFile([handRecord(1)]);
  file.writeUInt32BE(0xffff_fff0, 20);
  t.match(decodeAll(file).at(-1), { kind: 'damage', rule: 'REG-11', offset: 20, cut: false });
  t.throws(() => new RegistryDecoder({ maxRecordBytes: 0 }), RangeError);
  const decoder = new RegistryDecoder();
  decoder.end();
  t.throws(() => decoder.push(file), StateError);
  t.throws(() => decoder.end(), StateError);
});

t.test('corpus: stored Registries are valid or damaged as their names say', async (t) => {
  const folder = fileURLToPath(new URL('test/fuzz/corpus/registry/', import.meta.resolve('#package.json')));
  const names = readdirSync(folder).filter((name) => name.endsWith('.hex'));
  t.ok(names.length > 5);
  for (const name of names) {
    const bytes = Buffer.from(readFileSync(join(folder, name), 'latin1').replace(/\s/g, ''), 'hex');
    const [outcome, reading = 'a'] = name.split(/[-.]/) as [string, RegistryReading];
    const last = decodeAll(bytes, [], reading).at(-1);
    const damaged = last?.kind === 'damage' || hasShortRecord(bytes, reading);
    t.equal(damaged, outcome === 'bad', name);
  }
});

function hasShortRecord(bytes: Uint8Array, reading: RegistryReading): boolean {
  let version = 0;
  for (const item of decodeAll(bytes, [], reading)) {
    if (item.kind === 'header') version = item.version;
    if (item.kind !== 'record') continue;
    try {
      decodeRecordData(item.data, version === 2 ? 2 : 1);
    } catch (error) {
      if (error instanceof ProtocolError) return true;
      throw error;
    }
  }
  return false;
}
