// Arbitrary text for property tests of the text codecs.
import fc from 'fast-check';

/** Up to 30 UTF-16 units of any value, half of them ASCII, lone surrogates included. */
export const garbage = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 30 })
  .map((units) => String.fromCharCode(...units));
