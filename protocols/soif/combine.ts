// Merges, embeds, orders and folds attributes (SOIF-3.4, 3.5, 5.4 to 5.8).
import { BOOKKEEPING_NAMES } from './bookkeeping.js';
import { assemble, type SoifObject } from './object.js';

type Pair = readonly [name: string, value: Uint8Array];

function pairsOf(object: SoifObject): Pair[] {
  return object.attributes.map(({ name, value }) => [name, value]);
}

function withPairs(object: SoifObject, pairs: readonly Pair[]): SoifObject {
  return assemble(object.type, object.urlBytes, pairs);
}

/**
 * SOIF-5.5: attributes of `b` replace those of `a` with the same name, at their positions; the others are
 * added. Type and URL are those of `a`. In `mergedb` manual data wins: `mergeSoif(automatic, manual)`.
 */
export function mergeSoif(a: SoifObject, b: SoifObject): SoifObject {
  const merged = new Map<string, Pair>();
  for (const object of [a, b]) {
    for (const { name, value } of object) merged.set(name.toLowerCase(), [name, value]);
  }
  return withPairs(a, [...merged.values()]);
}

/** The attributes of `above`, then those that only `below` has. */
export function overlaySoif(above: SoifObject, below: SoifObject): SoifObject {
  // The first merge adds the attributes of below in order, the second one restores the values of above.
  return mergeSoif(mergeSoif(above, below), above);
}

/** Number and rest of `Embed<3>-Title`. */
const EMBEDDED = /^embed<(\d{1,9})>-?(.*)$/is;

/**
 * SOIF-5.6: folds an object that was found inside another (a file of an archive) into its container, as
 * attributes `Embed<n>-Name`, where n is one more than the highest number so far. Its type and URL are dropped
 * (SOIF-5.7); `nestedFilename` becomes `Embed<n>-Nested-Filename`.
 */
export function embedSoif(container: SoifObject, component: SoifObject, nestedFilename?: string): SoifObject {
  const pairs = pairsOf(container);
  const n =
    1 + pairs.reduce((highest, [name]) => Math.max(highest, Number(EMBEDDED.exec(name)?.[1] ?? 0)), 0);
  if (nestedFilename !== undefined) pairs.push([`Embed<${n}>-Nested-Filename`, Buffer.from(nestedFilename)]);
  for (const { name, value } of component) {
    const isFilename = nestedFilename !== undefined && name.toLowerCase() === 'nested-filename';
    if (!isFilename) pairs.push([`Embed<${n}>-${name}`, value]);
  }
  return withPairs(container, pairs);
}

/**
 * SOIF-3.5: the order of the C library: names without regard to case, then the `embed` names, by the number
 * between the angle brackets and then by the rest.
 */
export function sortAttributes(object: SoifObject): SoifObject {
  const compare = (x: string, y: string): number => (x < y ? -1 : x > y ? 1 : 0);
  const isEmbed = (name: string): number => (/^embed/i.test(name) ? 1 : 0);
  const rest = (name: string): string => (EMBEDDED.exec(name)?.[2] ?? name).toLowerCase();
  const pairs = pairsOf(object).sort(
    ([x], [y]) => isEmbed(x) - isEmbed(y) || embedNumber(x) - embedNumber(y) || compare(rest(x), rest(y)),
  );
  return withPairs(object, pairs);
}

const BOOKKEEPING_RANK = new Map(BOOKKEEPING_NAMES.map((name, rank) => [name.toLowerCase(), rank]));

/** SOIF-3.4: the recommended order: bookkeeping, content in its own order, `Embed<n>-...` by n. */
export function arrangeAttributes(object: SoifObject): SoifObject {
  const pairs = pairsOf(object);
  const rank = (name: string): number => BOOKKEEPING_RANK.get(name) ?? BOOKKEEPING_NAMES.length;
  const numbered = pairs.map(([name, value], index) => ({ name, value, index }));
  numbered.sort((x, y) => {
    const embedded = embedNumber(x.name) - embedNumber(y.name);
    return embedded || rank(x.name.toLowerCase()) - rank(y.name.toLowerCase()) || x.index - y.index;
  });
  return withPairs(
    object,
    numbered.map(({ name, value }) => [name, value]),
  );
}

/** 0 for names that are not embedded, which sort first. */
function embedNumber(name: string): number {
  const number = EMBEDDED.exec(name)?.[1];
  return number === undefined ? 0 : Number(number) + 1;
}

/**
 * SOIF-5.8: `author-1`, `author-2`... are the values of one attribute `author`. They are joined by LF in the
 * order of their numbers (SOIF-5.1), at the position of the first; a plain `author` is the first value.
 */
export function foldMultiValues(object: SoifObject): SoifObject {
  const groups = new Map<string, { name: string; values: { number: number; value: Uint8Array }[] }>();
  let numbered = false;
  for (const { name, value } of object) {
    const match = /^(.+)-(\d{1,9})$/s.exec(name);
    const base = match?.[1] ?? name;
    if (match !== null) numbered = true;
    const number = match === null ? -1 : Number(match[2]);
    const group = groups.get(base.toLowerCase());
    if (group === undefined) groups.set(base.toLowerCase(), { name: base, values: [{ number, value }] });
    else group.values.push({ number, value });
  }
  if (!numbered) return object;
  const pairs = [...groups.values()].map(({ name, values }): Pair => {
    values.sort((x, y) => x.number - y.number);
    return [name, joinLines(values.map(({ value }) => value))];
  });
  return withPairs(object, pairs);
}

function joinLines(values: readonly Uint8Array[]): Uint8Array {
  const newline = Buffer.from('\n');
  return Buffer.concat(values.flatMap((value, i) => (i === 0 ? [value] : [newline, value])));
}
