// Tests the parts of gzip members: header, trailer, and the combination of CRCs that lets stored members be
// joined.
import { crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  combineCrc32,
  encodeGzipTrailer,
  GZIP_HEADER,
  GzipHeaderReader,
  GzipTrailerReader,
  crc32 as headerCrc32,
} from '../../../protocols/gatherd/index.js';
import { assertProperty } from '../../helpers/property.js';
import { bytes, STREAM, text } from './rigs.js';

t.test('GATHERD-6.7: gzip headers with every field are read, wherever they are cut', async (t) => {
  const crc16 = (header: string) => {
    const sum = crc32(bytes(header)) & 0xffff;
    return String.fromCharCode(sum & 0xff, sum >> 8);
  };
  const fixed = (flags: number) => `\x1f\x8b\x08${String.fromCharCode(flags)}\x01\x02\x03\x04\x00\x03`;
  const all = `${fixed(0x1f)}\x03\x00abcname\x00comment\x00`;
  const headers = [
    text(GZIP_HEADER),
    fixed(0x01),
    `${fixed(0x04)}\x00\x00`,
    `${fixed(0x04)}\x04\x00wxyz`,
    `${fixed(0x08)}\x00`,
    `${fixed(0x08)}name\x00`,
    `${fixed(0x10)}comment\x00`,
    `${fixed(0x0c)}\x01\x00ename\x00`,
    `${fixed(0x02)}${crc16(fixed(0x02))}`,
    `${all}${crc16(all)}`,
  ];
  for (const header of headers) {
    for (let size = 1; size <= header.length + 4; size++) {
      const reader = new GzipHeaderReader();
      const input = bytes(`${header}DATA`);
      let rest = '';
      for (let offset = 0; offset < input.length; offset += size)
        rest += text(reader.push(input.subarray(offset, offset + size)));
      if (!reader.done || rest !== 'DATA') {
        t.fail(`${JSON.stringify(header)} in cuts of ${size}: ${rest}`);
        return;
      }
    }
  }
  const bad = ['\x1f\x8c\x08\x00', 'PK', `\x1f\x8b\x07`, fixed(0x20), fixed(0x80), `${fixed(0x02)}\x00\x00`];
  for (const header of bad) {
    const input = bytes(header.padEnd(12, '\x00'));
    t.throws(() => new GzipHeaderReader().push(input), { code: 'ERR_PROTOCOL' }, JSON.stringify(header));
  }
  t.throws(() => new GzipHeaderReader(100).push(bytes(`${fixed(0x08)}${'n'.repeat(200)}`)), {
    code: 'ERR_PROTOCOL',
  });
  const reader = new GzipHeaderReader(50_000);
  const name = bytes(`${fixed(0x08)}${'n'.repeat(40_000)}\x00`);
  for (const byte of name) reader.push(Uint8Array.of(byte));
  t.ok(reader.done, 'a long name is read byte by byte');
});

t.test('GATHERD-6.3: header, deflate data and trailer make a member that gzip accepts', async (t) => {
  const content = bytes(STREAM);
  const member = Buffer.concat([
    GZIP_HEADER,
    deflateRawSync(content),
    encodeGzipTrailer(crc32(content), content.length),
  ]);
  t.equal(text(gunzipSync(member)), STREAM);
  t.equal(headerCrc32(bytes('123456789')), 0xcbf43926);
  const trailer = new GzipTrailerReader();
  t.equal(text(trailer.push(encodeGzipTrailer(1, 2 ** 32 + 5))), '');
  t.doesNotThrow(() => trailer.check(1, 5), 'the length is stored modulo 2^32');
});

t.test('GATHERD-6.3: the CRC of two concatenated pieces is computed from their CRCs', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 5000 });
  const property = fc.property(bytes, bytes, (a, b) => {
    return combineCrc32(crc32(a), crc32(b), b.length) === crc32(Buffer.concat([a, b]));
  });
  t.doesNotThrow(() => assertProperty(property));
  const large = Buffer.alloc(3_000_001, 'harvest');
  t.equal(combineCrc32(crc32('a'), crc32(large), large.length), crc32(large, crc32('a')));
});

t.test('GATHERD-6.3: a piece may be longer than 2^32 bytes', (t) => {
  const zeros = (crc: number, length: number): number => combineCrc32(crc, 0, length);
  t.equal(zeros(zeros(0x1234_5678, 3 * 2 ** 31), 2 ** 33 + 5), zeros(0x1234_5678, 3 * 2 ** 31 + 2 ** 33 + 5));
  t.end();
});
