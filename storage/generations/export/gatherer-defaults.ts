// Adds the Gatherer of a publication to objects that do not name one (GATHERD-13.9).
import { decodeSoif, encodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import type { GathererNames } from './survey.js';

/** GATHERD-13.9: the attributes that a Broker requires in addition to Update-Time. */
const GATHERER_ATTRIBUTES = [
  ['Gatherer-Name', 'gathererName'],
  ['Gatherer-Host', 'gathererHost'],
  ['Gatherer-Version', 'gathererVersion'],
] as const;

/** Encodes the object with the attributes that it lacks; undefined if it lacks none. */
export function addGatherer(object: SoifObject, defaults: GathererNames): Uint8Array | undefined {
  const missing = GATHERER_ATTRIBUTES.filter(
    ([name, key]) => defaults[key] !== '' && !(object.get(name)?.length ?? 0),
  );
  if (missing.length === 0) return undefined;
  return encodeSoif(object.with(missing.map(([name, key]) => [name, defaults[key]] as const)));
}

/** Does the same for the bytes of an object. Bytes that cannot be decoded are returned unchanged. */
export function addGathererToBytes(soif: Uint8Array, defaults: GathererNames | undefined): Uint8Array {
  if (defaults === undefined) return soif;
  try {
    const object = decodeSoif(soif, { maxObjectBytes: Math.max(1, soif.length) });
    return addGatherer(object, defaults) ?? soif;
  } catch {
    return soif;
  }
}
