/**
 * CRC-32 of the concatenation of two byte strings, from the CRC of each and the length of the second. So the
 * trailer of a gzip member that is assembled from compressed pieces (GATHERD-6.3) needs no pass over their
 * bytes.
 *
 * CRC-32 is linear over GF(2): appending n zero bytes multiplies the register by x^(8n) modulo the polynomial,
 * and the second string's own CRC is added to that. The number of steps is logarithmic in the length.
 *
 * @param secondLength bytes of the second string, at most 2^53 - 1.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let power = X8;
  let factor = ONE;
  for (let length = secondLength; length > 0; length = Math.floor(length / 2)) {
    if (length % 2 === 1) factor = multiply(factor, power);
    power = multiply(power, power);
  }
  return (multiply(first, factor) ^ second) >>> 0;
}

/** The polynomial of RFC 1952, its highest term left out. Bits are reflected: bit 31 is the constant term. */
const POLYNOMIAL = 0xedb88320;
/** 1 and x^8 in that order of bits. */
const ONE = 0x80000000;
const X8 = 0x00800000;

/** Product of two polynomials modulo {@link POLYNOMIAL}. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
