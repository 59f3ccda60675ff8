// The fixture of `protocols/fixture` as the suites see it: which objects a server has, and how they differ.
import { FIXTURE, type FixtureObject } from '../../protocols/fixture/index.js';
import { check, NotApplicable } from './case.js';
import type { StreamObject } from './gatherd/stream-check.js';
import { printable } from './printable.js';

/** Why a case about the fixture is skipped. */
const NOT_LOADED = 'the server does not have the objects of the fixture (harvest conformance --fixture FILE)';

const BY_URL: ReadonlyMap<string, FixtureObject> = new Map(FIXTURE.map((object) => [object.url, object]));

/** Bytes of a value that a report shows. */
const SHOWN = 60;

/** A value of an object, as received. */
export interface ReceivedValue {
  readonly name: string;
  readonly value: Uint8Array;
}

/** The values of each copy of the objects of the fixture that a server sends, by URL. */
export type FixtureCopies = ReadonlyMap<string, readonly (readonly ReceivedValue[])[]>;

/** Objects that are kept: those of the fixture, and some that are not. */
const MAX_COPIES = 1_000;

/** Keeps the objects of a stream that are of the fixture, or look like it, in the order in which they come. */
export class FixtureCollector {
  readonly #copies = new Map<string, (readonly ReceivedValue[])[]>();
  #kept = 0;

  get copies(): FixtureCopies {
    return this.#copies;
  }

  add({ object }: Pick<StreamObject, 'object'>): void {
    const url = Buffer.from(object.urlBytes).toString('latin1');
    if (this.#kept === MAX_COPIES || (!isFixtureUrl(url) && !isChangedUrl(url))) return;
    this.#kept++;
    const values = [...object].map(({ name, value }) => ({ name, value: Uint8Array.from(value) }));
    this.#copies.set(url, [...(this.#copies.get(url) ?? []), values]);
  }
}

/** Whether the fixture has an object with this URL. @param url its bytes, as Latin-1 */
export function isFixtureUrl(url: string): boolean {
  return BY_URL.has(url);
}

/** Whether the URL looks like one of the fixture, but no object has it: another one was changed. */
export function isChangedUrl(url: string): boolean {
  return /\bfixture\b/i.test(url) && /example|^urn:/i.test(url) && !BY_URL.has(url);
}

/** Returns the URLs of the fixture among others. */
function fixtureUrlsOf(urls: Iterable<string>): ReadonlySet<string> {
  return new Set([...urls].filter(isFixtureUrl));
}

/** Returns the objects whose URLs begin so after `http://fixture.example/`. */
export function fixtureObjects(path: string): readonly FixtureObject[] {
  return FIXTURE.filter(({ url }) => url.startsWith(`http://fixture.example/${path}`));
}

/** The names of the objects below `values/` that have a case of their own, with what it checks. */
export const VALUE_CASES = FIXTURE.filter(({ url }) => /\/values\/(?!near-)/.test(url)).map(
  ({ url, purpose }) => ({ name: url.slice(url.lastIndexOf('/') + 1), url, purpose }),
);

/**
 * Checks that an object has the values of the fixture: each of them once, byte for byte. Names may be in other
 * capitals (SOIF-2.11), more attributes may be there, and an empty value may be left out (SOIF-3.2).
 * @param only the names to look at; default: all @throws Mismatch
 */
export function checkValues(
  { url, attributes }: FixtureObject,
  received: readonly ReceivedValue[],
  only?: readonly string[],
): void {
  for (const [name, value] of attributes) {
    if (only?.includes(name) === false) continue;
    const found = received.filter((one) => one.name.toLowerCase() === name.toLowerCase());
    if (value === '' && found.length === 0) continue;
    check(found.length === 1, `${found.length} values of ${name}: ${printable(url)}`, {
      expected: `${name}{${value.length}}`,
      received: received.map((one) => `${one.name}{${one.value.length}}`).join(' ') || 'no attributes',
    });
    checkBytes(value, found[0]?.value ?? Buffer.alloc(0), `${name} of ${printable(url)}`);
  }
}

/** Checks that bytes are those of a text, which is Latin-1. @throws Mismatch that shows where they differ */
export function checkBytes(expected: string, received: Uint8Array, what: string): void {
  const wanted = Buffer.from(expected, 'latin1');
  if (Buffer.compare(wanted, received) === 0) return;
  let at = 0;
  while (at < wanted.length && wanted[at] === received[at]) at++;
  const from = Math.max(0, at - SHOWN / 2);
  const show = (bytes: Uint8Array) =>
    `${bytes.length} bytes, from byte ${from}: "${printable(bytes.subarray(from, from + SHOWN), SHOWN)}"`;
  check(false, `other bytes: ${what}`, { expected: show(wanted), received: show(received) });
}

/** Checks that a set of URLs of the fixture is this one. @throws Mismatch */
export function checkFixtureUrls(expected: Iterable<string>, received: Iterable<string>, what: string): void {
  const wanted = new Set(expected);
  const found = fixtureUrlsOf(received);
  const missing = [...wanted].filter((url) => !found.has(url));
  const surplus = [...found].filter((url) => !wanted.has(url));
  check(missing.length + surplus.length === 0, `wrong objects of the fixture: ${printable(what)}`, {
    expected: `${wanted.size} objects${missing.length > 0 ? `, also ${printable(missing.slice(0, 3).join(' '))}` : ''}`,
    received: `${found.size} objects${surplus.length > 0 ? `, also ${printable(surplus.slice(0, 3).join(' '))}` : ''}`,
  });
}

/**
 * Checks each copy of an object that must have been sent.
 * @param only the names to look at; default: all @throws Mismatch
 */
export function checkObject(object: FixtureObject, copies: FixtureCopies, only?: readonly string[]): void {
  const found = copies.get(object.url);
  check(found !== undefined, `not sent: ${printable(object.url)}`, {
    expected: 'the object',
    received: `${copies.size} others`,
  });
  for (const values of found) checkValues(object, values, only);
}

/** @throws NotApplicable if the server has no object of the fixture */
export function requireFixture(urls: Iterable<string>): void {
  if (fixtureUrlsOf(urls).size === 0) throw new NotApplicable(NOT_LOADED);
}
