// Takes the survey of a Broker's data: dumps it, extracts words, and queries each word.
import { Mismatch } from '../case.js';
import { checkNotRefused, urlsOf } from './checks.js';
import { type Reply, textsOf } from './reply.js';
import { type Sample, type Survey, type Word, wordsOf } from './survey.js';

/** Objects whose texts are searched for words. */
const MAX_SAMPLES = 2_000;
/** Words that are queried. */
const MAX_WORDS = 20;
/** Words that find more objects than this are not used. */
const MAX_SET = 300;

/** Sends a message and reads the whole reply. */
type Ask = (message: string) => Promise<Reply>;

/**
 * Extracts words from the texts of a dump and queries them, one after the other. @throws Mismatch if there is
 * no dump
 */
export async function takeSurvey(ask: Ask): Promise<Survey> {
  const { reply, attributes } = await dump(ask);
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
    const answer = await ask(`#USER #opaque #index case insensitive #index matchword #END ${text}`);
    checkNotRefused(answer, text);
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

async function dump(ask: Ask): Promise<{ reply: Reply; attributes: boolean }> {
  const reply = await ask('#USER #desc #attribute title #END #allb');
  // An older Broker does not know `#attribute` and refuses the message. A refusal among objects is a defect,
  // which other cases check.
  if (textsOf(reply, 111).length === 0 || reply.objects.length > 0) return { reply, attributes: true };
  const classic = await ask('#USER #desc #END #allb');
  checkNotRefused(classic, '#allb');
  return { reply: classic, attributes: false };
}

/**
 * Returns words that occur in some of the samples, the most frequent first, except words that find too many
 * objects.
 */
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
