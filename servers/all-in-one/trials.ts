// Chooses the commands to try with the gathered documents.
import { decodeSoif } from '../../protocols/soif/index.js';
import type { References } from '../../storage/references/index.js';
import type { SummaryStore } from '../../storage/summaries/summary-store.js';

/** Examples that have an answer. */
export interface Trials {
  /** A query that finds a gathered document: words of its title. */
  readonly query?: string | undefined;
  /** URL of the gathered document with the most links to it. */
  readonly linked?: string | undefined;
}

/** Number of objects that are looked at. */
const MAX_OBJECTS = 500;

/** Words of a query. */
const MAX_WORDS = 3;

/** URLs that a shell takes literally. */
const PLAIN_URL = /^[\w:/.%~+-]+$/;

/** Chooses examples among the first objects of a Gatherer: those with the most links to them first. */
export async function findTrials(
  summaries: SummaryStore,
  references: References | undefined,
): Promise<Trials> {
  const titles: { readonly words: readonly string[]; readonly links: number }[] = [];
  let linked: { readonly url: string; readonly links: number } | undefined;
  let objects = 0;
  search: for await (const page of summaries.iterate()) {
    for (const { url, soif } of page) {
      if (objects++ === MAX_OBJECTS) break search;
      const links = linksTo(references, url);
      if (links > (linked?.links ?? 0) && PLAIN_URL.test(url)) linked = { url, links };
      const words =
        decodeSoif(soif)
          .text('Title')
          ?.match(/[\p{L}\p{M}]{3,}/gu) ?? [];
      if (words.length > 0) titles.push({ words, links });
    }
  }
  // Two words show more than one.
  const [best] = titles.sort(
    (a, b) => Math.min(2, b.words.length) - Math.min(2, a.words.length) || b.links - a.links,
  );
  return {
    query: best?.words.slice(0, MAX_WORDS).join(' ').toLowerCase(),
    linked: linked?.url,
  };
}

function linksTo(references: References | undefined, url: string): number {
  const id = references?.idByUrl(url);
  return id === undefined ? 0 : (references?.links('hubs', id)?.total ?? 0);
}
