import { asciiBytes, LF, SP } from '../ascii.js';
import { VERSION_PREFIX } from './registry.js';

/** S-47: `neither` is answered `SSTP/1.0 400 BAD REQUEST` and closed. */
export type ProtocolChoice = 'sstp' | 'http' | 'neither' | 'undecided';

/** Octets of the longest first line that may still turn out to be HTTP's. */
export const MAX_CHOICE_BYTES = 8192;

const PREFIX = asciiBytes(VERSION_PREFIX);
const REQUEST_LINE = /^[!#$%&'*+.^`|~\w-]+ [^ ]+ HTTP\/\d\.\d$/;
const LONGEST_METHOD = 32;

/**
 * Which protocol the first octets of a connection select (S-47, S-48): `undecided` while too few have come.
 * @param octets all that came so far, from the first; they stay the caller's and go on to whoever is chosen
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
  // No line yet: garbage need not have one, so what cannot become a method and a target is decided now.
  const blank = octets.indexOf(SP);
  const method = line.slice(0, blank < 0 ? line.length : blank);
  if (!/^[!#$%&'*+.^`|~\w-]+$/.test(method) || method.length > LONGEST_METHOD) return 'neither';
  if (/[\0-\x1f\x7f]/.test(line.replace(/\r$/, ''))) return 'neither';
  return octets.length > MAX_CHOICE_BYTES ? 'neither' : 'undecided';
}
