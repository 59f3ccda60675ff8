import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** A made-up link graph whose degrees follow a power law: the same for the same numbers. */
export interface GraphShape {
  /** IDs are 1 to this. */
  readonly documents: number;
  /** Links; some come twice, as is natural. */
  readonly links: number;
  readonly servers: number;
  readonly seed: number;
}

/** How unequal targets and servers are: 1 is all alike, more is steeper. */
const STEEPNESS = 3;
const CHUNK_CHARACTERS = 1 << 16;

/** Random numbers of 0 to below 1, the same for the same seed (xorshift). */
export function randomOf(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A number from 1 to `count`, small ones far more often. */
function steep(random: () => number, count: number): number {
  return 1 + Math.floor(count * random() ** STEEPNESS);
}

/** Documents as `harvest links load` reads them, in texts of some lines. */
export function* documentTexts({ documents, servers, seed }: GraphShape): Generator<string> {
  const random = randomOf(seed);
  let text = '';
  for (let id = 1; id <= documents; id++) {
    const host = steep(random, servers);
    const time = 1_000_000_000 + id;
    text += `{"id":${id},"url":"http://s${host}.example/d/${id}.html","time":${time},"checktime":${time + 9},"length":${id % 50_000}}\n`;
    if (text.length > CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

/** Links as lines of two IDs, page by page as a crawl finds them. */
export function* linkTexts({ documents, links, seed }: GraphShape): Generator<string> {
  const random = randomOf(seed + 1);
  const mean = links / documents;
  let text = '';
  for (let written = 0, page = 1; written < links; page = (page % documents) + 1) {
    // Out-degrees spread around the mean; a few pages are link lists.
    const degree = random() < 0.01 ? Math.ceil(20 * mean * random()) : Math.ceil(1.8 * mean * random());
    for (let i = 0; i < degree && written < links; i++, written++) {
      text += `${page} ${steep(random, documents)}\n`;
    }
    if (text.length > CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

/** Writes texts into a file, waiting for the disk. */
export async function writeTexts(path: string, texts: Iterable<string>): Promise<void> {
  const file = createWriteStream(path);
  for (const text of texts) if (!file.write(text)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}
