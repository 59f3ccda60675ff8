// Chooses the commands to try with the gathered documents.
import { BrokerClient } from '../../clients/broker/index.js';
import { KitError } from '../../protocols/errors.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import type { References } from '../../storage/references/index.js';
import type { SummaryStore } from '../../storage/summaries/summary-store.js';
import { reachableHost } from '../web/application.js';
import type { AllInOne } from './all-in-one.js';

/** Milliseconds for all queries: the answers of a large index are not worth a wait. */
const QUERIES_MS = 5000;

/** Examples that have an answer. */
export interface Trials {
  /** Words of a document's title, whose first result is that document. */
  readonly query?: string | undefined;
  /** URL of the gathered document with the most links to it. */
  readonly linked?: string | undefined;
}

/** Number of objects that are looked at. */
const MAX_OBJECTS = 500;

/** Queries that are tried. */
const MAX_QUERIES = 20;

/** URLs that a shell takes literally. */
const PLAIN_URL = /^[\w:/.%~+-]+$/;

/** Chooses examples for the servers of a run, of which the Broker is asked over its port, as by `harvest query`. */
export async function findTrials(kit: AllInOne): Promise<Trials> {
  const { host, port } = kit.brokerServer.address;
  const { certificate } = kit;
  const tls = certificate === undefined ? '' : 'tls://';
  const client = new BrokerClient({
    host: `${tls}${reachableHost(host)}`,
    port,
    fingerprint: certificate?.fingerprint,
  });
  const signal = AbortSignal.timeout(QUERIES_MS);
  const firstResult = async (query: string): Promise<string | undefined> => {
    try {
      const request = {
        matchedLines: true,
        ignoreCase: true,
        ignoreAccents: true,
        contentOnly: true,
        attributes: ['Title'],
        maxFiles: PAGE + 1,
      } as const;
      for await (const { url } of client.query(query, { ...request, signal })) return url;
    } catch (error) {
      if (!signal.aborted && !(error instanceof KitError)) throw error;
    }
    return undefined;
  };
  return chooseTrials(kit.gatherer.store.summaries, kit.refererd.service.references.current, firstResult);
}

/** Results of a page of `harvest query`: their number can change the order. */
const PAGE = 50;

/**
 * Chooses examples among the first objects of a Gatherer: those with the most links to them first.
 *
 * @param firstResult returns the URL of the first result of a query, as `harvest query` shows it
 */
export async function chooseTrials(
  summaries: SummaryStore,
  references: References | undefined,
  firstResult: (query: string) => Promise<string | undefined>,
): Promise<Trials> {
  const documents: TitledDocument[] = [];
  let linked: { readonly url: string; readonly links: number } | undefined;
  let objects = 0;
  search: for await (const page of summaries.iterate()) {
    for (const { url, soif } of page) {
      if (objects++ === MAX_OBJECTS) break search;
      const links = linksTo(references, url);
      if (links > (linked?.links ?? 0) && PLAIN_URL.test(url)) linked = { url, links };
      documents.push({ url, links, title: decodeSoif(soif).text('Title') ?? '' });
    }
  }
  let query: string | undefined;
  for (const { url, words } of queriesFor(documents).slice(0, MAX_QUERIES)) {
    if ((await firstResult(words)) !== url) continue;
    query = words;
    break;
  }
  return { query, linked: linked?.url };
}

interface TitledDocument {
  readonly url: string;
  readonly title: string;
  readonly links: number;
}

/** Part of the titles from which on a word at the edge of a title says nothing, e.g. the name of the site. */
const COMMON = 0.1;
const MIN_COMMON = 5;

/** Words of titles that a person could ask for, each of one title alone; the best first. */
export function queriesFor(documents: readonly TitledDocument[]): { url: string; words: string }[] {
  const phrases = documents.map(({ title }) => phrasesOf(title));
  const counts = new Map<string, number>();
  for (const all of phrases)
    for (const word of new Set(all.flat())) counts.set(word, (counts.get(word) ?? 0) + 1);
  const isCommon = (word: string): boolean =>
    (counts.get(word) ?? 0) >= Math.max(MIN_COMMON, documents.length * COMMON);
  const found = new Map<string, { url: string; words: string; rank: number; links: number }[]>();
  documents.forEach(({ url, links }, i) => {
    for (const phrase of phrases[i] ?? []) {
      const start = phrase.findIndex((word) => !isCommon(word) && isTelling(word));
      const end = phrase.findLastIndex((word) => !isCommon(word) && isTelling(word));
      const rank = start < 0 ? undefined : RANKS[end - start];
      const words = phrase.slice(start, end + 1).join(' ');
      if (rank !== undefined) found.set(words, [...(found.get(words) ?? []), { url, words, rank, links }]);
    }
  });
  return [...found.values()]
    .flatMap((all) => (all.length === 1 ? all : []))
    .sort((a, b) => a.rank - b.rank || b.links - a.links);
}

/** By the number of words less one: two or three words show more than one, and are quicker read than four. */
const RANKS: readonly (number | undefined)[] = [2, 0, 0, 1];

/** A word that may begin or end a query; shorter ones are mostly articles. */
function isTelling(word: string): boolean {
  return word.length >= 4;
}

/** A part of a title between signs, in which a shell and the query language find only words. */
const PHRASE = /^\p{L}[\p{L}\p{M}\s]+$/u;
const OPERATOR = /\b(?:and|or|not|except)\b/;

/** The parts of a title between its signs, as words in lower case. */
function phrasesOf(title: string): string[][] {
  return title
    .toLowerCase()
    .split(/[:;,()[\]|/–—"]+|[.-]+(?:\s|$)/u)
    .map((part) => part.trim())
    .filter((part) => PHRASE.test(part) && !OPERATOR.test(part))
    .map((part) => part.split(/\s+/));
}

function linksTo(references: References | undefined, url: string): number {
  const id = references?.idByUrl(url);
  return id === undefined ? 0 : (references?.links('hubs', id)?.total ?? 0);
}
