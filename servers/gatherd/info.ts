// The answer to INFO (GATHERD-8).
import { encodeSoif, endLastLine, SoifObject } from '../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE, type UnixSeconds } from '../../protocols/time.js';
import type { SnapshotInfo } from '../../storage/generations/snapshot.js';

/** The Gatherer's description of itself in INFO. */
export interface GathererIdentity {
  /** '' if not configured: then name, host and version are those of the newest object. */
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
 * GATHERD-8.3, 8.4: the description of a database as one SOIF object. Its Last-Modification-Time is that of the
 * newest object; its Update-Time is `now`.
 */
export function encodeInfo(
  identity: GathererIdentity,
  info: SnapshotInfo | undefined,
  now: UnixSeconds,
): Uint8Array {
  const { refreshRate = DEFAULT_REFRESH_RATE, timeToLive = DEFAULT_TIME_TO_LIVE } = identity;
  const oldest = info?.oldest === undefined ? '' : String(info.oldest);
  const { name, host, version } = resolveGatherer(identity, info);
  const newest = info?.newest === undefined ? '' : String(info.newest);
  const object = SoifObject.of('GATHERER', identity.url ?? '-', [
    ['Time-to-Live', String(timeToLive)],
    ['Last-Modification-Time', newest === '' ? '0' : newest],
    ['Refresh-Rate', String(refreshRate)],
    ['Gatherer-Name', name],
    ['Gatherer-Host', host],
    ['Gatherer-Port', String(identity.port)],
    ['Gatherer-Version', version],
    ['Update-Time', String(now)],
    ['Number-Of-Objects', String(info?.count ?? 0)],
    ['Oldest-Update-Time', oldest],
    ['Newest-Update-Time', newest],
    ['Attributes', endLastLine((info?.attributes ?? []).join('\n'))],
  ]);
  return encodeSoif(object);
}

/**
 * GATHERD-8.3: returns name, host and version for INFO. Without a configured name they are those of the newest
 * object; if it has none, the host is also the name.
 */
function resolveGatherer(
  identity: GathererIdentity,
  info: SnapshotInfo | undefined,
): Pick<GathererIdentity, 'name' | 'host' | 'version'> {
  const found = info?.gatherer;
  if (identity.name !== '') return identity;
  if (found === undefined) return { ...identity, name: identity.host };
  return { name: found.gathererName, host: found.gathererHost, version: found.gathererVersion };
}
