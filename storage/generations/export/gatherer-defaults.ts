import { decodeSoif, encodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import type { GathererNames } from './survey.js';

/** GATHERD-13.9: what a Broker insists on besides Update-Time. */
const NAMES = [
  ['Gatherer-Name', 'gathererName'],
  ['Gatherer-Host', 'gathererHost'],
  ['Gatherer-Version', 'gathererVersion'],
] as const;

/** GATHERD-13.9: the object as it is exported when it lacks some of these, else undefined. */
export function withGatherer(object: SoifObject, defaults: GathererNames): Uint8Array | undefined {
  const missing = NAMES.filter(([name, key]) => defaults[key] !== '' && !(object.get(name)?.length ?? 0));
  if (missing.length === 0) return undefined;
  return encodeSoif(object.with(missing.map(([name, key]) => [name, defaults[key]] as const)));
}

/** The same for stored bytes; those that cannot be read are left as they are. */
export function completed(soif: Uint8Array, defaults: GathererNames | undefined): Uint8Array {
  if (defaults === undefined) return soif;
  try {
    const object = decodeSoif(soif, { maxObjectBytes: Math.max(1, soif.length) });
    return withGatherer(object, defaults) ?? soif;
  } catch {
    return soif;
  }
}
