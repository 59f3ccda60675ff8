// Update-Times of a wrong clock, once they are known to be wrong (GATHERD-13.10). Brokers that collect from each other
// repair the same version each by itself, at times that differ. So what takes the place of a wrong time follows from
// the versions alone: it is after the version that this one replaced, and before every one that follows.
import {
  decodeSoif,
  encodeSoif,
  readOutline,
  rewriteLarge,
  type SoifBytes,
  type SoifObject,
} from '../../protocols/soif/index.js';
import { EARLIEST_PRESENT, MAX_AHEAD, type UnixSeconds } from '../../protocols/time.js';

/** Takes a time of the next decades to one that was before this program. */
const BEFORE = 2 ** 30;

/** What is known of a stored version. */
interface Version {
  readonly updateTime: UnixSeconds;
  readonly fallbackTime?: UnixSeconds;
}

/**
 * What takes the place of the Update-Time of a new version, should it turn out to be wrong; 0 = not known. The clock may
 * have been set ahead between the versions that are furthest apart: those after them keep their distances.
 */
export function fallbackTimeAfter(old: Version | undefined, updateTime: UnixSeconds): UnixSeconds {
  if (old === undefined) return 0;
  const { fallbackTime = 0 } = old;
  const passed = updateTime - old.updateTime;
  const ahead = fallbackTime === 0 ? 0 : old.updateTime - fallbackTime;
  if (passed > Math.max(ahead, MAX_AHEAD)) return old.updateTime + 1;
  if (fallbackTime === 0 || passed < -MAX_AHEAD) return 0;
  return passed === 0 ? fallbackTime : fallbackTime + Math.max(passed, 1);
}

/** The time in place of a wrong one. Without a former version it is long past, in the order of the wrong times. */
export function placeOfWrongTime({ updateTime, fallbackTime = 0 }: Version, now: UnixSeconds): UnixSeconds {
  if (fallbackTime > 0 && fallbackTime <= now) return fallbackTime;
  return Math.max(1, Math.min(updateTime - BEFORE, EARLIEST_PRESENT - 1));
}

/** The Time-to-Live with which an object whose time is another one now expires as if it were of the present. */
export function lifeFrom(updateTime: UnixSeconds, timeToLive: number, now: UnixSeconds): number {
  return timeToLive === 0 ? 0 : timeToLive + Math.max(0, now - updateTime);
}

/** The bytes of an object with other times. @param object the decoded object, if it is at hand */
export function withTimes(
  bytes: SoifBytes,
  { updateTime, timeToLive }: { readonly updateTime: UnixSeconds; readonly timeToLive?: number },
  object?: SoifObject,
): SoifBytes | Promise<SoifBytes> {
  const times: [string, string][] = [['Update-Time', String(updateTime)]];
  if (timeToLive !== undefined) times.push(['Time-to-Live', String(timeToLive)]);
  if (!(bytes instanceof Uint8Array))
    return readOutline(bytes).then((outline) => rewriteLarge(bytes, outline, times));
  return encodeSoif((object ?? decodeSoif(bytes, { maxObjectBytes: bytes.length })).with(times));
}
