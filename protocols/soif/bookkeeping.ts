// The bookkeeping attributes of an object: their names, its identity and its times (SOIF-3.4, SOIF-6.2, SOIF-6.6).
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE, type UnixSeconds } from '../time.js';
import { isAttributeName, isTemplateType } from './names.js';
import type { SoifObject } from './object.js';
import { urlProblem } from './url-bytes.js';

/**
 * The attributes that a Gatherer adds to the content of an object, in the order of SOIF-3.4. They come first in
 * an object, a document cannot set them (E-105), and a `@REFRESH` section contains no others (SOIF-8.4).
 */
export const BOOKKEEPING_NAMES: readonly string[] = [
  'Time-to-Live',
  'Last-Modification-Time',
  'Refresh-Rate',
  'Gatherer-Name',
  'Gatherer-Host',
  'Gatherer-Version',
  'Update-Time',
  'Type',
  'File-Size',
  'MD5',
];

/**
 * The attributes that a refresh renews (GATHERD-13.8): the times, and the version, which is part of the
 * identity (SOIF-6.6).
 */
export const REFRESHED_NAMES: readonly string[] = [
  'Time-to-Live',
  'Last-Modification-Time',
  'Refresh-Rate',
  'Gatherer-Version',
  'Update-Time',
];

/** The attributes by which two objects are the same (SOIF-6.5, 6.6). */
export interface SoifIdentity {
  readonly url: string;
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  readonly updateTime: UnixSeconds;
  /** 32 lower-case hex digits (SOIF-6.4); absent when the object has no MD5. */
  readonly md5?: string;
}

/** Times of an object with the defaults of SOIF-6.2. Rates are seconds. */
export interface SoifTimes {
  /** `undefined`: absent or unreadable; a Broker requires it (SOIF-6.5). */
  readonly updateTime: UnixSeconds | undefined;
  readonly lastModificationTime: UnixSeconds;
  readonly refreshRate: number;
  readonly timeToLive: number;
}

/** The attributes that a Broker requires (SOIF-6.5). */
export const REQUIRED_NAMES: readonly string[] = [
  'Gatherer-Name',
  'Gatherer-Host',
  'Gatherer-Version',
  'Update-Time',
];

/** The object's identity, or `undefined` when one of {@link REQUIRED_NAMES} is missing or empty (SOIF-6.5). */
export function identityOf(object: SoifObject): SoifIdentity | undefined {
  const gathererName = object.text('Gatherer-Name')?.trim();
  const gathererHost = object.text('Gatherer-Host')?.trim();
  const gathererVersion = object.text('Gatherer-Version')?.trim();
  const updateTime = object.number('Update-Time');
  if (!gathererName || !gathererHost || !gathererVersion || updateTime === undefined) return undefined;
  const md5 = object.text('MD5')?.trim().toLowerCase();
  const identity = { url: object.url, gathererName, gathererHost, gathererVersion, updateTime };
  return md5 ? { ...identity, md5 } : identity;
}

/** SOIF-6.6: the four Gatherer attributes are equal, and the URL or the MD5. */
export function isSameObject(a: SoifIdentity, b: SoifIdentity): boolean {
  return (
    a.gathererName === b.gathererName &&
    a.gathererHost === b.gathererHost &&
    a.gathererVersion === b.gathererVersion &&
    a.updateTime === b.updateTime &&
    (a.url === b.url || (a.md5 !== undefined && a.md5 === b.md5))
  );
}

/** The times of an object; the defaults of SOIF-6.2 for those that are absent or not numbers. */
export function timesOf(object: SoifObject): SoifTimes {
  return {
    updateTime: object.number('Update-Time'),
    lastModificationTime: object.number('Last-Modification-Time') ?? 0,
    refreshRate: object.number('Refresh-Rate') ?? DEFAULT_REFRESH_RATE,
    timeToLive: object.number('Time-to-Live') ?? DEFAULT_TIME_TO_LIVE,
  };
}

/** The times that decide when an object expires. */
export type Lifetime = Pick<SoifTimes, 'updateTime' | 'timeToLive'>;

/**
 * SOIF-6.8: the last second at which an object is valid, `Update-Time` + `Time-to-Live`. Infinity for an object
 * that never expires: with a `Time-to-Live` of 0 (SOIF-6.7), or without an `Update-Time`. Every other result is
 * a safe integer, because stores use it as a key.
 */
export function lastValidSecond({ updateTime, timeToLive }: Lifetime): number {
  if (updateTime === undefined || timeToLive === 0) return Number.POSITIVE_INFINITY;
  return Math.min(updateTime + timeToLive, Number.MAX_SAFE_INTEGER);
}

/** SOIF-6.8: whether an object with these times has expired. */
export function hasExpired(times: Lifetime, now: UnixSeconds): boolean {
  return lastValidSecond(times) < now;
}

/** {@link hasExpired} for a decoded object. */
export function isExpired(object: SoifObject, now: UnixSeconds): boolean {
  return hasExpired(timesOf(object), now);
}

/** The reason an object is not valid, with the rule that it breaks. */
export interface SoifProblem {
  readonly rule: string;
  readonly message: string;
}

const TIMES: readonly string[] = ['Update-Time', 'Last-Modification-Time', 'Refresh-Rate', 'Time-to-Live'];

/**
 * Validates an object as `cleandb` does (G-134): a type and names that an emitter may write (SOIF-2.8), a URL
 * (SOIF-2.9), times that are numbers (SOIF-6.1) or absent. Manual records need not have what a Broker requires
 * (SOIF-6.5).
 * @returns the first problem; `undefined` when the object is valid.
 */
export function problemOf(object: SoifObject): SoifProblem | undefined {
  if (!isTemplateType(object.type)) {
    return { rule: 'SOIF-2.8', message: `not a template type: ${JSON.stringify(object.type)}` };
  }
  const message = urlProblem(object.urlBytes, object.type);
  if (message !== undefined) return { rule: 'SOIF-2.9', message };
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    if (!isAttributeName(name)) {
      return { rule: 'SOIF-2.8', message: `not an attribute name: ${JSON.stringify(name)}` };
    }
  }
  for (const name of TIMES) {
    if (object.has(name) && object.number(name) === undefined) {
      return { rule: 'SOIF-6.1', message: `${name} is not a number: ${JSON.stringify(object.text(name))}` };
    }
  }
  return undefined;
}

/** Whether `cleandb` keeps the object: {@link problemOf} finds nothing. */
export function isValid(object: SoifObject): boolean {
  return problemOf(object) === undefined;
}
