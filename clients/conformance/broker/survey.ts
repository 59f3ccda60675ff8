import { Mismatch, NotApplicable } from '../case.js';
import type { BrokerContext } from './context.js';
import { notRefused, urlsOf } from './judgments.js';
import { type Reply, textsOf } from './reply.js';

/** Milliseconds that a case gets which may have to learn the words first. */
export const SURVEY_MS = 60_000;
/** Objects whose texts are looked at for words. */
const MAX_SAMPLES = 2_000;
/** Words that are asked for. */
const MAX_WORDS = 20;
/** A set larger than this costs more than it tells. */
const MAX_SET = 300;
const OPERATORS = new Set(['and', 'or', 'not', 'except', 'exact', 'regexp']);

/** One object of the dump, as far as its texts were sent. */
export interface Sample {
  readonly url: string;
  /** Description and title, Latin-1; empty when it has neither. */
  readonly text: string;
}

/** A word of the Broker's data, and the URLs of the objects that it finds. */
export interface Word {
  readonly text: string;
  readonly urls: ReadonlySet<string>;
}

/** What is known of the Broker's data. It should not change meanwhile. */
export interface Survey {
  /** URLs of the dump (BRK-2.11); of its beginning when `complete` is false. */
  readonly all: ReadonlySet<string>;
  readonly complete: boolean;
  /** URLs that more than one object has: nothing can be said of them. */
  readonly shared: ReadonlySet<string>;
  readonly samples: readonly Sample[];
  /** Words that find at least one object and not all. */
  readonly words: readonly Word[];
  /** Whether the Broker knows `#attribute` (late). */
  readonly attributes: boolean;
}

/** Learns words from the texts of a dump and asks for them, one after the other. @throws Mismatch there is no dump */
export async function takeSurvey(context: BrokerContext): Promise<Survey> {
  const { reply, attributes } = await dump(context);
  if (reply.objects.length === 0) {
    throw new Mismatch('a dump has no objects', {
      expected: '120 - URL ... 130 - object end',
      received: textsOf(reply, 111)[0] ?? textsOf(reply, 101)[0] ?? 'nothing',
    });
  }
  const all = new Set<string>();
  const shared = new Set<string>();
  for (const { url } of reply.objects) (all.has(url) ? shared : all).add(url);
  const samples = reply.objects.slice(0, MAX_SAMPLES).map(({ url, items }) => ({
    url,
    text: items.map(({ value }) => value?.toString('latin1') ?? '').join('\n'),
  }));
  const words: Word[] = [];
  const seen = candidates(samples);
  let useless = 0;
  for (const text of seen) {
    const answer = await context.ask(`#USER #opaque #index case insensitive #index matchword #END ${text}`);
    notRefused(answer, text);
    const urls = urlsOf(answer);
    if (urls.size === 0) useless++;
    else if (urls.size < all.size) words.push({ text, urls });
  }
  if (seen.length > 0 && useless === seen.length) {
    throw new Mismatch('words of the dump find nothing', {
      expected: `an object for one of: ${seen.slice(0, 5).join(', ')}`,
      received: `nothing for ${seen.length} words`,
    });
  }
  return { all, complete: !reply.truncated, shared, samples, words, attributes };
}

async function dump(context: BrokerContext): Promise<{ reply: Reply; attributes: boolean }> {
  const reply = await context.ask('#USER #desc #attribute title #END #allb');
  // An older Broker does not know `#attribute`.
  if (textsOf(reply, 111).length === 0) return { reply, attributes: true };
  const classic = await context.ask('#USER #desc #END #allb');
  notRefused(classic, '#allb');
  return { reply: classic, attributes: false };
}

/** Words that occur in some of the samples, the most frequent first, as long as their sets stay small. */
function candidates(samples: readonly Sample[]): string[] {
  const seenIn = new Map<string, number>();
  for (const { url, text } of samples) {
    for (const word of new Set([...wordsOf(text), ...wordsOf(url)])) {
      seenIn.set(word, (seenIn.get(word) ?? 0) + 1);
    }
  }
  const most = Math.min(MAX_SET, samples.length - 1);
  return [...seenIn]
    .filter(([, count]) => count <= most)
    .sort(([a, inA], [b, inB]) => inB - inA || (a < b ? -1 : 1))
    .slice(0, MAX_WORDS)
    .map(([word]) => word);
}

/** Words that every engine cuts alike: ASCII letters between blanks and punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,.;:()/?&=]+/)
    .filter((word) => /^[a-z]{3,20}$/.test(word) && !OPERATORS.has(word));
}

/** A word for cases that need just one; long ones first. @throws NotApplicable there is none */
export function anyWord({ words }: Survey, atLeast = 3): Word {
  const fitting = words.filter(({ text }) => text.length >= atLeast);
  const [word] = fitting.toSorted((a, b) => a.urls.size - b.urls.size || b.text.length - a.text.length);
  if (word === undefined) {
    throw new NotApplicable(`the data has no word of ${atLeast} letters that finds some objects but not all`);
  }
  return word;
}

/** Two words of which each finds objects without the other, and both find some. @throws NotApplicable */
export function overlapping({ words }: Survey): readonly [Word, Word] {
  for (const a of words) {
    for (const b of words) {
      if (
        intersect(a.urls, b.urls).size > 0 &&
        minus(a.urls, b.urls).size > 0 &&
        minus(b.urls, a.urls).size > 0
      )
        return [a, b];
    }
  }
  throw new NotApplicable('the data has no two words that overlap');
}

/** Three words for which `a and (b or c)` is not `(a and b) or c` (BRK-2.12). @throws NotApplicable */
export function triple({ words }: Survey): readonly [Word, Word, Word] {
  for (const a of words) {
    for (const b of words) {
      if (a === b || intersect(a.urls, b.urls).size === 0) continue;
      for (const c of words) {
        if (c !== a && c !== b && minus(c.urls, a.urls).size > 0) return [a, b, c];
      }
    }
  }
  throw new NotApplicable('the data has no three words that tell right grouping from left grouping');
}

/** Two words that stand side by side in one line of a text, in the samples. @throws NotApplicable */
export function phrase({ samples }: Survey): {
  readonly url: string;
  readonly words: readonly [string, string];
} {
  for (const { url, text } of samples) {
    const match = /(?:^|\n| )([A-Za-z]{3,20}) ([A-Za-z]{3,20})(?= |\n|$)/.exec(text);
    const [, first, second] = match ?? [];
    if (first === undefined || second === undefined) continue;
    const words = [first.toLowerCase(), second.toLowerCase()] as const;
    if (!words.some((word) => OPERATORS.has(word))) return { url, words };
  }
  throw new NotApplicable('no text of the dump has two words side by side');
}

export function intersect(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((url) => b.has(url)));
}

export function union(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a, ...b]);
}

export function minus(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((url) => !b.has(url)));
}
