import type { Complete } from '../../protocols/defined.js';
import { BOOKKEEPING_NAMES, decodeSoif, encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { Summary } from '../../storage/summaries/summary-store.js';

/** GATHERD-4.4: whether only the Update-Time has changed since `since`, so that the client has the object's content already. */
export function isRefreshed({ contentTime }: Complete<Summary>, since: UnixSeconds): boolean {
  return contentTime > 0 && contentTime < since;
}

const BOOKKEEPING = new Set(BOOKKEEPING_NAMES.map((name) => name.toLowerCase()));

/** SOIF-8.4: encodes the object with the attributes that a `@REFRESH` section contains. */
export function keepBookkeeping(soif: Uint8Array): Uint8Array {
  const object = decodeSoif(soif, { maxObjectBytes: Math.max(1, soif.length) });
  const kept = object.attributes.filter(({ name }) => BOOKKEEPING.has(name.toLowerCase()));
  return encodeSoif(
    SoifObject.of(
      object.type,
      object.url,
      kept.map(({ name, value }) => [name, value]),
    ),
  );
}
