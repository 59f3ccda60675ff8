import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { combineCrc32 } from '../../../protocols/gatherd/index.js';

t.test('GATHERD-6.3 the CRC of two concatenated pieces, from their CRCs', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 5000 });
  const property = fc.property(bytes, bytes, (a, b) => {
    return combineCrc32(crc32(a), crc32(b), b.length) === crc32(Buffer.concat([a, b]));
  });
  t.doesNotThrow(() => fc.assert(property));
  const large = Buffer.alloc(3_000_001, 'harvest');
  t.equal(combineCrc32(crc32('a'), crc32(large), large.length), crc32(large, crc32('a')));
});

t.test('GATHERD-6.3 a piece longer than 2^32 bytes: appending zeros in two steps or in one', (t) => {
  const zeros = (crc: number, length: number): number => combineCrc32(crc, 0, length);
  t.equal(zeros(zeros(0x1234_5678, 3 * 2 ** 31), 2 ** 33 + 5), zeros(0x1234_5678, 3 * 2 ** 31 + 2 ** 33 + 5));
  t.end();
});
