// Texts in bytes of seven bits that switch to other characters: HZ (RFC 1843), ISO-2022-JP (RFC 1468), -KR (RFC
// 1557), -CN (RFC 1922).
import { isAscii } from 'node:buffer';
import { bufferOf } from '../bytes.js';

/** Bytes that are searched for the sequences. */
const WINDOW_BYTES = 64 * 1024;

const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const ESCAPE = 0x1b;

/**
 * The character set of a text whose bytes are all below 0x80 in the window; undefined if it does not switch to
 * another one.
 */
export function sevenBitCharset(bytes: Uint8Array): string | undefined {
  const head = bufferOf(bytes, WINDOW_BYTES);
  const switches = head.indexOf('\x1b$', 0, 'latin1');
  if (switches < 0 && !head.includes('~{')) return undefined;
  if (!isAscii(head)) return undefined;
  if (switches < 0) return isHz(head) ? 'hz-gb-2312' : undefined;
  if (head.includes('\x1b$)C')) return 'iso-2022-kr';
  if (head.includes(SHIFT_OUT) && (head.includes('\x1b$)A') || head.includes('\x1b$)G')))
    return 'iso-2022-cn';
  if (head.includes('\x1b$B') || head.includes('\x1b$@') || head.includes('\x1b$(D')) return 'iso-2022-jp';
  return undefined;
}

/** Whether every `~{` begins pairs of bytes of GB 2312 that end with `~}`. Programs contain these signs too. */
function isHz(head: Buffer): boolean {
  let found = 0;
  for (let at = head.indexOf('~{'); at >= 0; at = head.indexOf('~{', at + 2)) {
    const end = head.indexOf('~}', at + 2);
    if (end < 0) return found > 0;
    if (end === at + 2 || (end - at) % 2 !== 0) return false;
    for (let i = at + 2; i < end; i += 2) {
      const row = head[i]!;
      const cell = head[i + 1]!;
      // Symbols and kana are rows 1 to 9, ideographs 16 to 87.
      if (row < 0x21 || row > 0x77 || (row > 0x29 && row < 0x30) || cell < 0x21 || cell > 0x7e) return false;
    }
    found++;
    at = end;
  }
  return found > 0;
}

/** HZ: `~{` and `~}` enclose GB 2312, `~~` is a tilde, `~` before a line end joins lines. */
export function decodeHz(bytes: Uint8Array): string {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  let shifted = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    const next = bytes[i + 1];
    if (byte === 0x7e && (next === 0x7b || next === 0x7d)) {
      shifted = next === 0x7b;
      i++;
    } else if (!shifted && byte === 0x7e && next === 0x7e) {
      out[length++] = 0x7e;
      i++;
    } else if (!shifted && byte === 0x7e && next === 0x0a) {
      i++;
    } else if (byte === 0x0a) {
      // A line end ends GB 2312 too, so that a damaged line does not damage the following ones.
      shifted = false;
      out[length++] = byte;
    } else out[length++] = shifted && byte > 0x20 && byte < 0x7f ? byte | 0x80 : byte;
  }
  return new TextDecoder('gb18030').decode(out.subarray(0, length));
}

/**
 * ISO-2022-KR and ISO-2022-CN: escapes designate a set, Shift Out and Shift In switch to it and back. Of
 * ISO-2022-CN, GB 2312 is decoded; the planes of CNS 11643, of which the platform knows nothing, become U+FFFD.
 */
export function decodeShifted(bytes: Uint8Array, label: 'iso-2022-kr' | 'iso-2022-cn'): string {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  let shifted = false;
  let unknown = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === ESCAPE && bytes[i + 1] === 0x24 && (bytes[i + 2] === 0x29 || bytes[i + 2] === 0x2a)) {
      // `A` is GB 2312, `C` KS C 5601; `*` designates plane 2, which is used by single shifts.
      if (bytes[i + 2] === 0x29) unknown = bytes[i + 3] !== 0x41 && bytes[i + 3] !== 0x43;
      i += 3;
    } else if (byte === SHIFT_OUT) shifted = true;
    else if (byte === SHIFT_IN) shifted = false;
    else if (byte === 0x0a) {
      if (label === 'iso-2022-cn') shifted = false;
      out[length++] = byte;
    } else if (!shifted || byte <= 0x20 || byte === 0x7f) out[length++] = byte;
    else out[length++] = unknown ? 0xff : byte | 0x80;
  }
  return new TextDecoder(label === 'iso-2022-kr' ? 'euc-kr' : 'gb18030').decode(out.subarray(0, length));
}
