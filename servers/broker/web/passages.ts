// Finds the passages of stored objects.
import { type Passages, passagesOfText, TEXTS, textLines } from '../../../clients/broker/passages.js';
import type { TermFinder } from '../../../clients/broker/query-terms.js';
import { RepeatedLines } from '../../../clients/broker/repeated-lines.js';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { decodeText } from '../../../protocols/soif/index.js';
import type { StoredParts } from '../../../storage/index.js';
import { shownObject } from './object-reply.js';
import type { ShownHit } from './results.js';
import type { PageTurns } from './visitor.js';

/** Characters of each group that are searched. */
const MAX_TEXT = 128 * 1024;

/** Milliseconds for all objects of a page; the others are shown by their descriptions. */
const TIME_MS = 400;

/** The cost of a part of an object's text, in milliseconds of processor time. */
const PART_COST_MS = 0.5;

/** Objects that are read together. */
const READ_TOGETHER = 5;

/** Opens an object by the URL of its `125`; undefined if it is not stored here. */
type OpenObject = (objectUrl: string) => Promise<StoredParts | Uint8Array | undefined>;

/** Reads objects in one call, as {@link OpenObject} does; `large` for one that must be opened. */
type ReadObjects = (objectUrls: readonly string[]) => Promise<readonly (Uint8Array | 'large' | undefined)[]>;

/** Reads objects whose URLs begin with the first `length` characters of a URL, see {@link RepeatedLines}. */
type OpenBeside = (url: string, length: number) => Promise<readonly Uint8Array[]>;

/** A hit whose object has a URL of its own. */
type StoredHit = ShownHit & { readonly objectUrl: string };

/** Where passages are found. */
export interface PassageSource {
  /** The clock of the limit of time. Default: that of this process. */
  readonly clock?: Clock | undefined;
  readonly openObject: OpenObject;
  readonly readObjects: ReadObjects;
  readonly openBeside: OpenBeside;
}

/**
 * Returns the passages of each hit in which a word of the query occurs, see {@link passagesOfText}.
 *
 * @param terms the words of the query
 */
export async function passagesOf(
  hits: readonly ShownHit[],
  terms: TermFinder,
  { openObject, readObjects, openBeside, clock = monotonicClock }: PassageSource,
  signal: AbortSignal,
  turns?: Pick<PageTurns, 'take'>,
): Promise<ReadonlyMap<ShownHit, Passages>> {
  const found = new Map<ShownHit, Passages>();
  const end = clock.now() + TIME_MS;
  const pause = async (): Promise<void> => turns?.take(PART_COST_MS);
  const repeated = new RepeatedLines(async (url, length) => {
    const others: string[][] = [];
    for (const bytes of await openBeside(url, length)) {
      await pause();
      others.push((await linesOf(bytes)).flat());
    }
    return others;
  });
  const isOver = () => signal.aborted || clock.now() > end;
  const stored = hits.filter((hit): hit is StoredHit => hit.objectUrl !== undefined);
  for (let from = 0; from < stored.length && !isOver(); from += READ_TOGETHER) {
    const some = stored.slice(from, from + READ_TOGETHER);
    const objects = await readObjects(some.map(({ objectUrl }) => objectUrl));
    for (const [i, hit] of some.entries()) {
      if (isOver()) break;
      const object = objects[i] === 'large' ? await openObject(hit.objectUrl) : objects[i];
      if (object === undefined) continue;
      await pause();
      const groups = await linesOf(object);
      const hasDescription = hit.description !== undefined && hit.description.trim() !== '';
      const text = { groups, isWhole: true, hasDescription };
      const best = await passagesOfText(text, terms, () => repeated.of(hit.url), pause);
      if (best !== undefined) found.set(hit, best);
    }
  }
  return found;
}

/** The lines of each group. */
async function linesOf(stored: Uint8Array | StoredParts): Promise<string[][]> {
  const { attributes } = await shownObject(stored);
  return TEXTS.map((names) => {
    let text = '';
    for (const { name, value } of attributes) {
      if (text.length >= MAX_TEXT || !names.includes(name.toLowerCase())) continue;
      text += `${decodeText(value.subarray(0, MAX_TEXT - text.length))}\n`;
    }
    return textLines(text);
  });
}
