// Distinguishes SSTP and HTTP by the first octets of a connection (S-47).
import { asciiBytes, LF, SP } from '../ascii.js';
import { VERSION_PREFIX } from './registry.js';

/** S-47: for `neither`, the server sends `SSTP/1.0 400 BAD REQUEST` and closes. */
export type ProtocolChoice = 'sstp' | 'http' | 'neither' | 'undecided';

/** Octets of the longest first line that can be a request line of HTTP. */
export const MAX_CHOICE_BYTES = 8192;

const PREFIX = asciiBytes(VERSION_PREFIX);
const REQUEST_LINE = /^[!#$%&'*+.^`|~\w-]+ [^ ]+ HTTP\/\d\.\d$/;
const LONGEST_METHOD = 32;

/**
 * Chooses a protocol by the first octets of a connection (S-47, S-48): `undecided` while too few have arrived.
 * @param octets all octets so far; the caller passes them on to the chosen protocol
 */
export function chooseProtocol(octets: Uint8Array): ProtocolChoice {
  const compared = Math.min(octets.length, PREFIX.length);
  let same = 0;
  while (same < compared && octets[same] === PREFIX[same]) same++;
  if (same === PREFIX.length) return 'sstp';
  if (same === octets.length) return 'undecided';
  const lf = octets.indexOf(LF);
  const end = lf < 0 ? octets.length : lf;
  const line = Buffer.from(octets.buffer, octets.byteOffset, Math.min(end, MAX_CHOICE_BYTES)).toString(
    'latin1',
  );
  if (lf >= 0 && lf <= MAX_CHOICE_BYTES)
    return REQUEST_LINE.test(line.replace(/\r$/, '')) ? 'http' : 'neither';
  // No line yet. Garbage may never have one, so decide now if this cannot become a method and a target.
  const blank = octets.indexOf(SP);
  const method = line.slice(0, blank < 0 ? line.length : blank);
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(method) || method.length > LONGEST_METHOD) return 'neither';
  if (/[\0-\x1f\x7f]/.test(line.replace(/\r$/, ''))) return 'neither';
  return octets.length > MAX_CHOICE_BYTES ? 'neither' : 'undecided';
}
