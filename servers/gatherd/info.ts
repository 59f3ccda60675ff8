import { encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE, type UnixSeconds } from '../../protocols/time.js';
import type { SnapshotInfo } from '../../storage/index.js';

/** Who the Gatherer says it is, in INFO. */
export interface GathererIdentity {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  /** Address of the Gatherer's own description (GATHERD-8.4). Default `-` (SOIF-2.10). */
  readonly url?: string;
  /** Seconds. Defaults: a week, a month. */
  readonly refreshRate?: number;
  readonly timeToLive?: number;
}

/**
 * GATHERD-8.3, 8.4: the description of a database, as one SOIF object. Its content is as old as the newest
 * object; its Update-Time is when it was made.
 */
export function encodeInfo(
  identity: GathererIdentity,
  info: SnapshotInfo | undefined,
  now: UnixSeconds,
): Uint8Array {
  const { refreshRate = DEFAULT_REFRESH_RATE, timeToLive = DEFAULT_TIME_TO_LIVE } = identity;
  const oldest = info?.oldest === undefined ? '' : String(info.oldest);
  const newest = info?.newest === undefined ? '' : String(info.newest);
  const object = SoifObject.of('GATHERER', identity.url ?? '-', [
    ['Time-to-Live', String(timeToLive)],
    ['Last-Modification-Time', newest],
    ['Refresh-Rate', String(refreshRate)],
    ['Gatherer-Name', identity.name],
    ['Gatherer-Host', identity.host],
    ['Gatherer-Port', String(identity.port)],
    ['Gatherer-Version', identity.version],
    ['Update-Time', String(now)],
    ['Number-Of-Objects', String(info?.count ?? 0)],
    ['Oldest-Update-Time', oldest],
    ['Newest-Update-Time', newest],
    ['Attributes', (info?.attributes ?? []).join('\n')],
  ]);
  return encodeSoif(object);
}
