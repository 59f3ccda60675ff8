// Tests the fingerprints and keys of URIs with the test vectors of CRAWL-3.10.
import { readFileSync } from 'node:fs';
import t from 'tap';
import {
  elfHash,
  type FingerprintBits,
  fingerprint,
  uriKey,
  uriKeyHalves,
} from '../../../protocols/urls/index.js';

/**
 * CRAWL-3.10: text, the significant digits of the four fingerprints, the key in hexadecimal and as a signed
 * number.
 */
const VECTORS: readonly (readonly [string, string, string, string, string, string, string])[] = JSON.parse(
  readFileSync(
    new URL('test/protocols/urls/fixtures/fingerprints.json', import.meta.resolve('#package.json')),
    'utf8',
  ),
);

const hex = (word: { high: number; low: number }) =>
  word.high.toString(16).padStart(8, '0') + word.low.toString(16).padStart(8, '0');

t.test('CRAWL-3.10: fingerprints and keys equal the test vectors', async (t) => {
  for (const [text, fp24, fp32, fp40, fp64, key] of VECTORS) {
    const expected: [FingerprintBits, string][] = [
      [24, fp24],
      [32, fp32],
      [40, fp40],
      [64, fp64],
    ];
    for (const [bits, digits] of expected) {
      t.equal(hex(fingerprint(text, bits)), digits.padEnd(16, '0'), `fp${bits} of ${JSON.stringify(text)}`);
    }
    t.equal(hex(uriKeyHalves(text)), key, `key of ${JSON.stringify(text)}`);
  }
});

t.test('CRAWL-3.8: stored keys sort like the signed numbers', async (t) => {
  const keys = VECTORS.map(([text, , , , , , signed]) => ({
    stored: Buffer.from(uriKey(text)),
    signed: BigInt(signed),
  }));
  for (const { stored, signed } of keys) {
    t.equal(stored.readBigUInt64BE() - (1n << 63n), signed);
  }
  const byBytes = [...keys].sort((a, b) => Buffer.compare(a.stored, b.stored));
  const byNumber = [...keys].sort((a, b) => (a.signed < b.signed ? -1 : 1));
  t.same(byBytes, byNumber);
});

t.test('CRAWL-3.12: the ELF hash equals known values', async (t) => {
  t.equal(elfHash('http://www.autohome.com.cn/'), 171146319);
  t.equal(elfHash('http://www.example.com/'), 188986399);
  t.equal(elfHash('dns:www.example.com'), 104707229);
  t.equal(elfHash(''), 0);
});

t.test('an unknown generator is a RangeError', async (t) => {
  t.throws(() => fingerprint('a', 48 as FingerprintBits), RangeError);
});
