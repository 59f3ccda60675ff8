// Finds the passages of stored objects.
import { bestPassages, type Passages, TEXTS } from '../../../clients/broker/passages.js';
import { decodeText } from '../../../protocols/soif/index.js';
import type { StoredParts } from '../../../storage/index.js';
import { shownObject } from './object-reply.js';
import type { ShownHit } from './results.js';

/** Characters of each group that are searched. */
const MAX_TEXT = 128 * 1024;

/** Milliseconds for all objects of a page; the others are shown by their descriptions. */
const TIME_MS = 400;

/** Reads an object by the URL of its `125`; undefined if it is not stored here. */
export type OpenObject = (objectUrl: string) => Promise<Uint8Array | StoredParts | undefined>;

/**
 * Returns the passages of each hit in which a word of the query occurs.
 *
 * @param pattern matches the words of the query, see {@link findPassages}
 */
export async function passagesOf(
  hits: readonly ShownHit[],
  pattern: RegExp,
  open: OpenObject,
  signal: AbortSignal,
): Promise<ReadonlyMap<ShownHit, Passages>> {
  const found = new Map<ShownHit, Passages>();
  const end = performance.now() + TIME_MS;
  for (const hit of hits) {
    if (hit.objectUrl === undefined) continue;
    if (signal.aborted || performance.now() > end) break;
    const stored = await open(hit.objectUrl);
    if (stored === undefined) continue;
    const best = bestPassages(await textsOf(stored), pattern);
    if (best !== undefined) found.set(hit, best);
  }
  return found;
}

/** The text of each group, in one line. A zero-width no-break space is no blank. */
async function textsOf(stored: Uint8Array | StoredParts): Promise<string[]> {
  const { attributes } = await shownObject(stored);
  return TEXTS.map((names) => {
    let text = '';
    for (const { name, value } of attributes) {
      if (text.length >= MAX_TEXT || !names.includes(name.toLowerCase())) continue;
      text += `${decodeText(value.subarray(0, MAX_TEXT - text.length))} `;
    }
    return text.replace(/[^\S\ufeff]+/g, ' ').trim();
  });
}
