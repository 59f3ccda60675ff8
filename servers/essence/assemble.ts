import { LF } from '../../protocols/ascii.js';
import { BOOKKEEPING_NAMES, encodeSoif, SoifObject, urlOfText } from '../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE } from '../../protocols/time.js';
import type { EmbeddedSummary, SourceDocument, Summary } from './document.js';
import { generateKeywords } from './keywords.js';
import { languageOf } from './language.js';
import type { EssenceInput, EssenceOptions, EssenceSettings } from './model.js';
import { DESCRIPTION_LENGTH, openingSentences } from './summarizers/text.js';

/** Maximum length of an attribute name that a document sets, in characters. */
const MAX_NAME_LENGTH = 64;

/** Attributes with running text: they are written last and are the first to be cut. */
const RUNNING_TEXT = new Set(['partial-text', 'body', 'main-text', 'full-text', 'navigation']);

/** Names that only the Gatherer sets (E-105). */
const RESERVED: ReadonlySet<string> = new Set(
  [...BOOKKEEPING_NAMES, 'URL', 'Gatherer-Port'].map((name) => name.toLowerCase()),
);

/**
 * Bytes of an attribute in addition to its name and value: braces, colon, tab, newline and the digits of its
 * size.
 */
const FRAMING_BYTES = 15;

/**
 * Encodes the finished object as it goes over the wire: bookkeeping first (SOIF-3.4), components last (E-55).
 *
 * @param md5 - of the gathered bytes; empty if they were not read (E-118).
 */
export function assembleObject(
  input: EssenceInput,
  type: string,
  md5: string,
  document: SourceDocument,
  summary: Summary,
  components: readonly EmbeddedSummary[] = [],
): Uint8Array {
  const { settings } = document;
  const attributes = mergeAttributes(summary, document);
  const size = settings.access ? input.body.length : undefined;
  const pairs: Pair[] = bookkeeping({ ...input, type, size, ...(md5 === '' ? {} : { md5 }) }, settings);
  let remaining = settings.maxObjectBytes - input.url.length - 16;
  for (const [name, value] of pairs) remaining -= name.length + value.length + FRAMING_BYTES;
  const ordered = [...attributes].filter(([key]) => !RUNNING_TEXT.has(key));
  ordered.push(...[...attributes].filter(([key]) => RUNNING_TEXT.has(key)));
  for (const [, { name, value }] of ordered) {
    let bytes = encodeValue(value, settings.trailingNewline);
    const available = Math.max(0, remaining - name.length - FRAMING_BYTES);
    if (bytes.length > available) {
      document.warn(
        `${name} cut from ${bytes.length} to ${available} bytes: the object would exceed ${settings.maxObjectBytes}`,
      );
      bytes = cutUtf8(bytes, available);
    }
    if (bytes.length === 0) continue;
    remaining -= bytes.length + name.length + FRAMING_BYTES;
    pairs.push([name, bytes]);
  }
  addComponents(pairs, components, remaining, document);
  return encodeSoif(SoifObject.of('FILE', urlOfText(input.url), pairs));
}

type Pair = readonly [name: string, value: string | Uint8Array];

/**
 * E-54, E-55: each component as `Embed<n>-` attributes, by number, then by name without case; at the object's
 * end.
 */
function addComponents(
  pairs: Pair[],
  components: readonly EmbeddedSummary[],
  available: number,
  document: SourceDocument,
): void {
  let remaining = available;
  for (const [i, { name, type, whole, summary }] of components.entries()) {
    const prefix = `Embed<${i + 1}>-`;
    const component: Pair[] = [
      ['Nested-Filename', Buffer.from(name)],
      ['Type', type],
    ];
    if (whole !== undefined) component.push(['File-Size', String(whole.size)], ['MD5', whole.md5]);
    let needed = 0;
    for (const [key, value] of component) needed += prefix.length + key.length + value.length + FRAMING_BYTES;
    if (needed > remaining) {
      document.warn(`the object is full: components from ${i + 1} on are omitted (E-45)`);
      return;
    }
    remaining -= needed;
    for (const { name: key, value } of mergeAttributes(summary, document).values()) {
      const space = remaining - prefix.length - key.length - FRAMING_BYTES;
      const bytes = cutUtf8(encodeValue(value, document.settings.trailingNewline), Math.max(0, space));
      if (bytes.length === 0) continue;
      remaining -= prefix.length + key.length + FRAMING_BYTES + bytes.length;
      component.push([key, bytes]);
    }
    component.sort(([x], [y]) => (x.toLowerCase() < y.toLowerCase() ? -1 : 1));
    pairs.push(...component.map(([key, value]) => [`${prefix}${key}`, value] as const));
  }
}

/** The facts of an object that do not follow from its content. */
export interface ObjectFacts {
  readonly lastModificationTime: number;
  readonly updateTime: number;
  readonly type: string;
  /** Bytes as gathered. */
  readonly size?: number | undefined;
  readonly md5?: string;
}

/** Returns the attributes that every object of a Gatherer has with the same values (E-110, G-100). */
export function gathererAttributes(
  options: Pick<
    EssenceOptions,
    'gathererName' | 'gathererHost' | 'gathererVersion' | 'refreshRate' | 'timeToLive'
  >,
) {
  return [
    ['Time-to-Live', String(options.timeToLive)],
    ['Refresh-Rate', String(options.refreshRate)],
    ['Gatherer-Name', options.gathererName],
    ['Gatherer-Host', options.gathererHost],
    ['Gatherer-Version', options.gathererVersion],
  ] as const;
}

/**
 * Returns the bookkeeping attributes in their order, without those that `minimalBookkeeping` omits (E-110,
 * E-113).
 */
export function bookkeeping(facts: ObjectFacts, settings: EssenceSettings): Pair[] {
  const minimal = settings.minimalBookkeeping;
  const pairs: Pair[] = [];
  const [timeToLive, refreshRate, ...identity] = gathererAttributes(settings);
  if (!minimal || settings.timeToLive !== DEFAULT_TIME_TO_LIVE) pairs.push(timeToLive);
  if (!minimal) pairs.push(['Last-Modification-Time', String(facts.lastModificationTime)]);
  if (!minimal || settings.refreshRate !== DEFAULT_REFRESH_RATE) pairs.push(refreshRate);
  pairs.push(...identity, ['Update-Time', String(facts.updateTime)], ['Type', facts.type]);
  if (!minimal && facts.size !== undefined) pairs.push(['File-Size', String(facts.size)]);
  if (facts.md5 !== undefined) pairs.push(['MD5', facts.md5]);
  return pairs;
}

interface NamedValue {
  readonly name: string;
  value: string;
  /** Set once a line did not fit: cutting a long value again for each further line would be quadratic. */
  full?: true;
}

function append(to: NamedValue, line: string, limit: number): void {
  const joined = `${to.value}\n${line}`;
  to.value = cutLines(joined, limit);
  if (joined.length > limit) to.full = true;
}

/**
 * Merges attributes of the same name, without case (E-69); then derives description (E-141) and keywords
 * (E-106).
 */
function mergeAttributes(summary: Summary, document: SourceDocument): Map<string, NamedValue> {
  const { settings } = document;
  const merged = new Map<string, NamedValue>();
  let omitted = false;
  for (const [written, raw] of summary.attributes) {
    const name = cleanName(written);
    const value = withoutFinalNewlines(raw);
    if (name === '' || value === '') continue;
    const key = name.toLowerCase();
    const limit = RUNNING_TEXT.has(key) ? settings.maxObjectBytes : settings.maxAttributeLength;
    const before = merged.get(key);
    if (before === undefined && merged.size >= settings.maxAttributes) omitted = true;
    else if (before === undefined) merged.set(key, { name, value: cutLines(value, limit) });
    else if (!before.full) append(before, value, limit);
  }
  if (omitted) document.warn(`attributes beyond the first ${settings.maxAttributes} are omitted (E-45)`);
  const derived = !merged.has('description') && settings.description ? summary.description : undefined;
  if (settings.language && !merged.has('language')) {
    const language = languageOf(Array.from(merged.values(), ({ name, value }) => [name, value] as const));
    if (language !== undefined) merged.set('language', { name: 'Language', value: language });
  }
  if (settings.keywords) addKeywords(merged, settings.maxKeywordBytes);
  if (derived !== undefined && derived !== '') {
    merged.set('description', { name: 'Description', value: openingSentences(derived, DESCRIPTION_LENGTH) });
  }
  return merged;
}

function addKeywords(merged: Map<string, NamedValue>, limit: number): void {
  const phrases = merged.get('keywords');
  const values = Array.from(merged.values(), ({ name, value }) => [name, value] as const);
  const value = generateKeywords(values, phrases?.value ?? '', limit);
  if (value !== '') merged.set('keywords', { name: phrases?.name ?? 'Keywords', value });
}

/** E-69, E-105: keeps letters, digits, `-`, `_`, `.`; adds `Meta-` to the names that only the Gatherer sets. */
function cleanName(name: string): string {
  const legal = /^[A-Za-z0-9._-]+$/.test(name)
    ? name
    : name
        .trim()
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^-+|-+$/g, '');
  const short = legal.slice(0, MAX_NAME_LENGTH);
  return RESERVED.has(short.toLowerCase()) ? `Meta-${short}` : short;
}

/** A loop, because a regular expression would try a match at every newline of a long text. */
function withoutFinalNewlines(value: string): string {
  let end = value.length;
  while (end > 0 && value.charCodeAt(end - 1) === 0x0a) end--;
  return end === value.length ? value : value.slice(0, end);
}

/** Cuts at a line end if there is one. */
function cutLines(value: string, limit: number): string {
  if (value.length <= limit) return value;
  const end = value.lastIndexOf('\n', limit);
  return value.slice(0, end > 0 ? end : limit);
}

/** Encodes as UTF-8 (E-77); values of summarizers end with a newline that counts (E-68). */
function encodeValue(value: string, trailingNewline: boolean): Uint8Array {
  return Buffer.from(trailingNewline ? `${value}\n` : value, 'utf8');
}

/**
 * Returns at most `available` bytes, without a part of a character at the end; a value of several lines keeps
 * its last LF (SOIF-4.7).
 */
function cutUtf8(bytes: Uint8Array, available: number): Uint8Array {
  if (bytes.length <= available) return bytes;
  const isEnded = bytes.at(-1) === LF;
  let end = isEnded ? available - 1 : available;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  if (end <= 0) return bytes.subarray(0, 0);
  if (!isEnded) return bytes.subarray(0, end);
  const cut = bytes.slice(0, end + 1);
  cut[end] = LF;
  return cut;
}
