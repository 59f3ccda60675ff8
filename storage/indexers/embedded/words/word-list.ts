// Lists words of the index: completions of a beginning, and words that are spelled almost alike.
import { editDistance } from '../../../../protocols/edit-distance.js';
import type { IndexedWord, WordRequest } from '../../contract.js';
import type { WordPosition } from '../../query/lookup-words.js';
import { fold, wordsOf } from '../../query/words.js';
import { QueryStopped, type TimeSlice } from '../../scheduling/time-slice.js';
import type { FormFinder } from './form-finder.js';

/** Terms that are considered at most, and of them those whose objects are counted. */
const MAX_TERMS = 50_000;
const MAX_COUNTED = 2_000;
/** Objects of a word that are counted; more frequent words are equal. */
const MAX_OBJECTS = 1_000;
/** Shortest beginning that is completed, and shortest word that is corrected, in characters. */
const MIN_BEGINNING = 2;
const MIN_CORRECTED = 3;
/** Characters from which a word may differ in two places. */
const LONG_WORD = 5;
/** How many times as frequent a word must be to precede another that differs in one place less. */
const PLACE_WEIGHT = 30;
/** Distances computed between two reads of the clock. */
const TERMS_PER_YIELD = 256;

interface Candidate {
  readonly word: string;
  readonly distance: number;
}

/** What {@link listWords} asks the index. */
export interface WordSources {
  readonly forms: Pick<FormFinder, 'read'>;
  /** The words that begin with these letters, whatever their accents; at most about `limit`. */
  completions(beginning: string, limit: number, slice: TimeSlice): Promise<Iterable<string>>;
  /** The words with one of the parts of a search, and perhaps no others than its neighbors; at most `limit` a part. */
  withPart(search: NeighborSearch, limit: number, slice: TimeSlice): AsyncIterable<string>;
  /** The number of objects of each word, up to `limit`, in their order. */
  counts(words: readonly string[], limit: number, slice: TimeSlice): AsyncIterable<number>;
}

/** What words that are spelled almost like another one have in common with it. */
export interface NeighborSearch {
  readonly word: string;
  /** The places in which they differ at most. */
  readonly places: number;
  /** They have one of these. */
  readonly parts: readonly (readonly [text: string, position: WordPosition])[];
}

/** Lists the words of a request, the best first; those found until its time is over. */
export async function listWords(
  { kind, text, limit }: Omit<WordRequest, 'signal'>,
  sources: WordSources,
  slice: TimeSlice,
): Promise<IndexedWord[]> {
  const found: (IndexedWord & Candidate)[] = [];
  const word = fold(text);
  if (kind === 'forms') return listForms(word, limit, sources, slice);
  try {
    const candidates =
      kind === 'completions'
        ? await completions(word, sources, slice)
        : await neighbors(word, sources, slice);
    const counted = candidates.slice(0, MAX_COUNTED);
    let i = 0;
    for await (const objects of sources.counts(
      counted.map((candidate) => candidate.word),
      MAX_OBJECTS,
      slice,
    )) {
      // The vocabulary may be older than the index.
      if (objects > 0) found.push({ ...counted[i]!, objects });
      i++;
    }
  } catch (error) {
    if (!(error instanceof QueryStopped)) throw error;
  }
  const weight = ({ objects, distance }: (typeof found)[number]) => objects / PLACE_WEIGHT ** distance;
  found.sort((a, b) => weight(b) - weight(a) || (a.word < b.word ? -1 : 1));
  return found.slice(0, limit).map(({ word, objects }) => ({ word, objects }));
}

async function listForms(
  word: string,
  limit: number,
  { forms, counts }: WordSources,
  slice: TimeSlice,
): Promise<IndexedWord[]> {
  // A text of several words has no forms.
  if (wordsOf(word)[0]?.text !== word) return [];
  try {
    const reading = await forms.read(word, slice);
    const all = [word, ...reading.forms];
    const found: IndexedWord[] = [];
    for await (const objects of counts(all, MAX_OBJECTS, slice))
      found.push({ word: all[found.length]!, objects });
    const [itself = { word, objects: 0 }, ...others] = found;
    others.sort((a, b) => b.objects - a.objects);
    const first = reading.isStopWord ? { ...itself, isStopWord: true as const } : itself;
    return [first, ...others.filter(({ objects }) => objects > 0)].slice(0, limit);
  } catch (error) {
    if (!(error instanceof QueryStopped)) throw error;
    return [];
  }
}

/** Short words first: they are the more frequent ones, and time may end the counting. */
async function completions(word: string, sources: WordSources, slice: TimeSlice): Promise<Candidate[]> {
  if (Array.from(word).length < MIN_BEGINNING) return [];
  return shortestFirst(new Set(await sources.completions(word, MAX_TERMS, slice)), slice);
}

/** To sort tens of thousands would take milliseconds: words of one length are put together. */
async function shortestFirst(terms: Iterable<string>, slice: TimeSlice): Promise<Candidate[]> {
  const byLength: Candidate[][] = [];
  let count = 0;
  for (const word of terms) {
    const same = byLength[word.length] ?? [];
    byLength[word.length] = same;
    same.push({ word, distance: 0 });
    if (++count % TERMS_PER_YIELD === 0) await slice.yield();
  }
  return byLength.flat();
}

/**
 * Most errors leave the first character, exchange it with the second, or leave one half of the word as it is.
 */
async function neighbors(word: string, sources: WordSources, slice: TimeSlice): Promise<Candidate[]> {
  const characters = Array.from(word);
  const [first = '', second = ''] = characters;
  if (characters.length < MIN_CORRECTED) return [];
  const max = characters.length < LONG_WORD ? 1 : 2;
  const half = Math.ceil(characters.length / 2);
  const parts: readonly (readonly [string, WordPosition])[] = [
    [first, 'start'],
    [second, 'start'],
    [characters.slice(0, half).join(''), 'anywhere'],
    [characters.slice(half).join(''), 'end'],
  ];
  const seen = new Set([word]);
  const candidates: Candidate[] = [];
  for await (const term of sources.withPart({ word, places: max, parts }, MAX_TERMS, slice)) {
    if (seen.has(term)) continue;
    seen.add(term);
    if (seen.size % TERMS_PER_YIELD === 0) await slice.yield();
    const distance = editDistance(characters, Array.from(term), max);
    if (distance <= max) candidates.push({ word: term, distance });
  }
  return candidates.sort((a, b) => a.distance - b.distance);
}
