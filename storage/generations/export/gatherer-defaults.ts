import { decodeSoif, encodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import type { GathererNames } from './survey.js';

/** GATHERD-13.9: the attributes that a Broker requires in addition to Update-Time. */
const NAMES = [
  ['Gatherer-Name', 'gathererName'],
  ['Gatherer-Host', 'gathererHost'],
  ['Gatherer-Version', 'gathererVersion'],
] as const;

/** GATHERD-13.9: the bytes of the object with the missing attributes; undefined if none is missing. */
export function withGatherer(object: SoifObject, defaults: GathererNames): Uint8Array | undefined {
  const missing = NAMES.filter(([name, key]) => defaults[key] !== '' && !(object.get(name)?.length ?? 0));
  if (missing.length === 0) return undefined;
  return encodeSoif(object.with(missing.map(([name, key]) => [name, defaults[key]] as const)));
}

/** {@link withGatherer} for stored bytes. Bytes that cannot be decoded are returned unchanged. */
export function withDefaults(soif: Uint8Array, defaults: GathererNames | undefined): Uint8Array {
  if (defaults === undefined) return soif;
  try {
    const object = decodeSoif(soif, { maxObjectBytes: Math.max(1, soif.length) });
    return withGatherer(object, defaults) ?? soif;
  } catch {
    return soif;
  }
}
