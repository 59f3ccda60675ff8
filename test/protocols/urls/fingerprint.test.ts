// Tests the fingerprints and keys of URIs with the test vectors of CRAWL-3.10.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import {
  elfHash,
  type FingerprintBits,
  fingerprint,
  uriKey,
  uriKeyHalves,
} from '../../../protocols/urls/index.js';
import { assertProperty } from '../../helpers/property.js';

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

/** CRAWL-3.3, as it is printed: degree, polynomial, start value. */
const GENERATORS: readonly (readonly [FingerprintBits, bigint, bigint])[] = [
  [24, 0x8e375b8000000000n, 0x30733b0000000000n],
  [32, 0x9b6c9a2f80000000n, 0x185ddfc300000000n],
  [40, 0x8643fff621800000n, 0x3b26f9a79d000000n],
  [64, 0xd74307d3fd3382dbn, 0xd74307d3fd3382dbn],
];

/** CRAWL-3.2: the highest bit of a word is the coefficient of x⁰; here bit n is that of xⁿ. */
const reversed = (word: bigint): bigint =>
  BigInt(`0b${[...word.toString(2).padStart(64, '0')].reverse().join('')}`);

/** The remainder of a polynomial over GF(2) by another one of this degree. */
function remainder(polynomial: bigint, divisor: bigint, degree: number): bigint {
  let rest = polynomial;
  for (let at = rest.toString(2).length - 1; at >= degree; at = rest.toString(2).length - 1)
    rest ^= divisor << BigInt(at - degree);
  return rest;
}

/** CRAWL-3.5: the steps of the computation, as the rule has them. */
function computed(text: string, degree: number, polynomial: bigint, start: bigint): bigint {
  let register = start;
  for (let unit = 0; unit < text.length; unit++) {
    register ^= BigInt(text.charCodeAt(unit));
    for (let bit = 0; bit < 16; bit++) register = (register >> 1n) ^ (register & 1n ? start : 0n);
  }
  for (let k = 0; k <= 63 - degree; k++)
    if ((register >> BigInt(k)) & 1n) register ^= polynomial >> BigInt(63 - degree - k);
  return register;
}

t.test('CRAWL-3.1, 3.2, 3.3, 3.4, 3.5, 3.6: a fingerprint is the remainder of a polynomial', async (t) => {
  const bits = (text: string): string =>
    Array.from({ length: text.length }, (_, at) =>
      [...text.charCodeAt(at).toString(2).padStart(16, '0')].reverse().join(''),
    ).join('');
  const word = (text: string, degree: FingerprintBits): bigint =>
    BigInt(`0x${hex(fingerprint(text, degree))}`);
  for (const [degree, polynomial, start] of GENERATORS) {
    // The term of the highest degree is implied for 64.
    const divisor = degree === 64 ? reversed(polynomial) | (1n << 64n) : reversed(polynomial);
    t.equal(reversed(remainder(1n << 64n, divisor, degree)), start, `CRAWL-3.3: start value ${degree}`);
    t.equal(word('', degree), start, `CRAWL-3.6: the empty text ${degree}`);
    assertProperty(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), (text) => {
        // A bit 1, then the bits of each code unit from the lowest one, also of unpaired surrogates.
        const whole = remainder(BigInt(`0b1${bits(text)}`) << 64n, divisor, degree);
        const expected = word(text, degree);
        return reversed(whole) === expected && computed(text, degree, polynomial, start) === expected;
      }),
      { numRuns: 200 },
    );
  }
});

t.test('CRAWL-3.7: the key has 24 bits of the server and 40 of the whole string', async (t) => {
  const keyOf = (text: string): string => {
    const scheme = text.indexOf('://');
    const end = scheme > 0 ? text.indexOf('/', scheme + 3) : scheme;
    const prefix = end === -1 ? text : text.slice(0, end);
    return hex(fingerprint(prefix, 24)).slice(0, 6) + hex(fingerprint(text, 40)).slice(0, 10);
  };
  const piece = fc.constantFrom('http', '://', '/', 'a.test', ':80', '?', 'x', 'dns:');
  assertProperty(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      return hex(uriKeyHalves(text)) === keyOf(text);
    }),
    { numRuns: 500 },
  );
  t.equal(keyOf('http://a.test/x').slice(0, 6), keyOf('http://a.test/y').slice(0, 6), 'neighbors');
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
