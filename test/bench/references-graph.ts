// Generates a link graph whose degrees follow a power law.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** The parameters of a graph. Equal parameters give equal graphs. */
export interface GraphShape {
  /** Number of documents; their IDs begin with 1. */
  readonly documents: number;
  /** Number of links, some of them repeated. */
  readonly links: number;
  readonly servers: number;
  readonly seed: number;
}

/** Exponent of the distribution of targets and servers: 1 is uniform; more prefers low numbers. */
const SKEW = 3;
const CHUNK_CHARACTERS = 1 << 16;

/** Creates a generator of numbers from 0 to below 1 (xorshift), equal for equal seeds. */
export function createRandom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Draws a number from 1 to `count`; low numbers are far more frequent. */
function drawSkewed(random: () => number, count: number): number {
  return 1 + Math.floor(count * random() ** SKEW);
}

/** Generates documents in the format of `harvest links load`, several lines at a time. */
export function* documentTexts({ documents, servers, seed }: GraphShape): Generator<string> {
  const random = createRandom(seed);
  let text = '';
  for (let id = 1; id <= documents; id++) {
    const host = drawSkewed(random, servers);
    const time = 1_000_000_000 + id;
    text += `{"id":${id},"url":"http://s${host}.example/d/${id}.html","time":${time},"checktime":${time + 9},"length":${id % 50_000}}\n`;
    if (text.length > CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

/** Generates links as lines of two IDs, page by page as a crawl finds them, several lines at a time. */
export function* linkTexts({ documents, links, seed }: GraphShape): Generator<string> {
  const random = createRandom(seed + 1);
  const mean = links / documents;
  let text = '';
  for (let written = 0, page = 1; written < links; page = (page % documents) + 1) {
    // Out-degrees vary around the mean; a few pages are link lists.
    const degree = random() < 0.01 ? Math.ceil(20 * mean * random()) : Math.ceil(1.8 * mean * random());
    for (let i = 0; i < degree && written < links; i++, written++) {
      text += `${page} ${drawSkewed(random, documents)}\n`;
    }
    if (text.length > CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

/** Writes texts into a file with back-pressure. */
export async function writeTexts(path: string, texts: Iterable<string>): Promise<void> {
  const file = createWriteStream(path);
  for (const text of texts) if (!file.write(text)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}
