// Completes a query as a user types, in the format of OpenSearch suggestions: titles first, then the last word.

import { conjunctsOf, joined, readForgiving } from '../../../clients/broker/forgiving.js';
import type { Expression } from '../../../protocols/broker/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import type { BrokerParts } from '../admin/parts.js';
import { OptionalWork, type Visitor } from './visitor.js';

/** Type of the reply. */
export const SUGGESTIONS_TYPE = 'application/x-suggestions+json; charset=utf-8';

/** Completions of a reply, and how many of them are titles. */
const MAX_COMPLETIONS = 8;
const MAX_TITLES = 4;
/** Milliseconds to find words, and titles that have them. */
const TIME_MS = 150;
/** Objects whose titles are read; larger ones than so many bytes are passed over, and longer titles. */
const MAX_OBJECTS = 12;
const MAX_BYTES = 256 * 1024;
const MAX_TITLE = 120;
/** Replies that are made at a time; others have no completions. */
const MAX_CONCURRENT = 4;
/** Longest text that is completed, in characters, and words of it before the last one. */
const MAX_TEXT = 256;
const MAX_WORDS = 8;

const LAST_WORD = /[\p{L}\p{M}\p{N}_]{2,64}$/u;
/** What a query for a title does not have: signs that the query language reads. */
const NO_WORD = /[^\p{L}\p{M}\p{N}_.,'\u2019-]+/u;
/** BRK-2.3; `and` between words means what it says. */
const OPERATOR = /^(?:or|not|except|exact|regexp|less-than|greater-than)$/i;

/** Makes suggestions from the titles and the words of the index. */
export class Suggestions {
  readonly #parts: Pick<BrokerParts, 'store' | 'indexer'>;
  readonly #work = new OptionalWork(MAX_CONCURRENT);

  constructor(parts: Pick<BrokerParts, 'store' | 'indexer'>) {
    this.#parts = parts;
  }

  /** Returns the JSON of the reply: the text, and the texts that complete it. */
  async reply(text: string, visitor: Visitor): Promise<string> {
    const completions = await this.#work.run(() => this.#complete(text, visitor));
    return `${JSON.stringify([text, completions ?? []])}\n`;
  }

  async #complete(text: string, visitor: Visitor): Promise<string[]> {
    const [word] = (text.length <= MAX_TEXT && LAST_WORD.exec(text)) || [];
    if (word === undefined) return [];
    const request = { kind: 'completions', text: word, limit: MAX_COMPLETIONS, lifetimeMs: TIME_MS } as const;
    const words = ((await this.#parts.indexer.words?.({ ...request, ...visitor })) ?? []).map(
      (completion) => completion.word,
    );
    const before = text.slice(0, text.length - word.length);
    const titles = words.length === 0 ? [] : await this.#titles(before, [word, ...words], visitor);
    const all = [
      ...orderTitles(titles, text).slice(0, MAX_TITLES),
      ...words.map((last) => `${before}${last}`),
    ];
    return distinct(all).slice(0, MAX_COMPLETIONS);
  }

  /** The titles with the words before and one of the last words, as queries for them. */
  async #titles(before: string, last: readonly string[], visitor: Visitor): Promise<string[]> {
    const expression = titleQuery(before, last);
    if (expression === undefined) return [];
    const { store, indexer } = this.#parts;
    const hits = indexer.query(expression, {
      ignoreCase: true,
      ignoreAccents: true,
      matchWord: true,
      errors: 0,
      wantLines: false,
      maxFiles: MAX_OBJECTS,
      lifetimeMs: TIME_MS,
      ...visitor,
    });
    const oids: number[] = [];
    for await (const { oid } of hits) oids.push(oid);
    const entries = await store.entries.getMany(oids);
    const small = oids.filter((_, i) => (entries[i]?.length ?? Number.POSITIVE_INFINITY) <= MAX_BYTES);
    const titles = (await store.objects(small)).flatMap((bytes) => {
      const title = bytes && decodeSoif(bytes, { maxObjectBytes: bytes.length }).text('title');
      return title === undefined ? [] : [title.replace(/\s+/g, ' ').trim()];
    });
    return titles.filter((title) => title !== '' && title.length <= MAX_TITLE);
  }
}

/** Finds titles with all words of a text and one of the last words; undefined for a text with operators. */
function titleQuery(before: string, last: readonly string[]): Expression | undefined {
  const reading = before.trim() === '' ? undefined : readForgiving(before);
  const parts = reading === undefined ? [] : conjunctsOf(reading.query);
  if (parts === undefined || parts.length > MAX_WORDS) return undefined;
  const inTitle = (value: string): Expression => ({
    kind: 'select',
    attribute: 'title',
    operator: 'contains',
    value,
    offset: 0,
  });
  const earlier = parts.flatMap((part) => (part.kind === 'term' ? [inTitle(part.text)] : []));
  return joined('and', [...earlier, joined('or', [...new Set(last)].map(inTitle))]);
}

/** The titles as queries for them: first those that begin with the text, then those that have it. */
function orderTitles(titles: readonly string[], text: string): string[] {
  const typed = text.replace(/\s+/g, ' ').trimStart().toLowerCase();
  const rank = (query: string) => {
    const at = ` ${query.toLowerCase()}`.indexOf(` ${typed}`);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  const ranked = distinct(titles.map(titleAsQuery)).map((query) => ({ query, rank: rank(query) }));
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .map(({ query }) => query)
    .filter((query) => query !== '' && query.toLowerCase() !== typed);
}

/** Each text once, whatever the case of its letters. */
function distinct(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.filter((text) => seen.size < seen.add(text.toLowerCase()).size);
}

/** The words of a title, as a query for it: those that are operators in quotes. */
function titleAsQuery(title: string): string {
  const words = title.split(NO_WORD).filter((word) => /[\p{L}\p{M}\p{N}_]/u.test(word));
  return words.map((word) => (OPERATOR.test(word) ? `"${word}"` : word)).join(' ');
}
