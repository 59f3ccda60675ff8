// After few results: finds similar queries that find more.
import { conjunctsOf } from '../../../clients/broker/forgiving.js';
import { literalTerms } from '../../../clients/broker/query-terms.js';
import { type Expression, formatQuery, type Query } from '../../../protocols/broker/index.js';
import type { Indexer } from '../../../storage/indexers/index.js';
import { type Content, type Html, html } from '../../web/html.js';
import { plural } from '../../web/values.js';
import type { Matching } from './facets.js';
import { type QueryForm, writeForm } from './form.js';
import { narrowQuery } from './narrow.js';
import { readQuery } from './query.js';
import { combine, describeQuery, mapWords, writeQuery } from './query-words.js';
import { OptionalWork, type Visitor } from './visitor.js';

/** A query that finds more. */
interface Alternative {
  readonly kind: 'spelling' | 'text' | 'words' | 'errors' | 'parts' | 'everywhere' | 'without' | 'any';
  readonly form: QueryForm;
  /** The word that is left out. */
  readonly word?: string;
  readonly objects: number;
  /** Whether there are more. */
  readonly more: boolean;
}

/** Objects that are counted of each alternative. */
const MAX_OBJECTS = 100;
/** Milliseconds for one of them, and for all. */
const PROBE_MS = 300;
const TOTAL_MS = 1_000;
/** Pages that look for alternatives at a time; others show none. */
const MAX_CONCURRENT = 4;
/** Alternatives that are shown, and words that are left out one at a time. */
const MAX_SHOWN = 6;
const MAX_WITHOUT = 4;
/** A word with so few objects is corrected if a word like it has so many times as many. */
const RARE = 3;
const TIMES_AS_MANY = 10;

const ONE_WORD = /^[\p{L}\p{M}\p{N}_]+$/u;

/** Finds {@link Alternative}s in the index of the Broker. */
export class AlternativeFinder {
  readonly #indexer: Indexer;
  readonly #work = new OptionalWork(MAX_CONCURRENT);

  constructor(indexer: Indexer) {
    this.#indexer = indexer;
  }

  /**
   * Returns the alternatives that find something, at most six, those most like the query first.
   *
   * @param form its query is valid
   * @param found number of objects that the query found
   */
  async find(form: QueryForm, found: number, { client, signal }: Visitor): Promise<Alternative[]> {
    const read = readQuery(form.query);
    if (read.kind === 'fault') return [];
    const { query } = read;
    if (query.kind === 'all') return [];
    const end = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]);
    const visitor = { client, signal: end };
    const alternatives: Alternative[] = [];
    await this.#work.run(async () => {
      try {
        for await (const candidate of this.#candidates(form, query, visitor)) {
          const { objects, more } = await this.#count(candidate.form, visitor);
          if (objects > found) alternatives.push({ ...candidate, objects, more });
          if (alternatives.length === MAX_SHOWN) break;
        }
      } catch (error) {
        // The alternatives found until then are shown.
        if (!end.aborted) throw error;
      }
    });
    return alternatives;
  }

  async *#candidates(
    form: QueryForm,
    query: Expression,
    visitor: Visitor,
  ): AsyncGenerator<Omit<Alternative, 'objects' | 'more'>> {
    const first = { ...form, page: 1 };
    const corrected = await this.#correct(query, visitor);
    if (corrected !== undefined) yield { kind: 'spelling', form: { ...first, query: corrected } };
    const text = form.query.replace(/["\\]/g, ' ').trim();
    if (hasAttribute(query)) {
      yield { kind: 'text', form: { ...first, query: `"${text}"` } };
      const words = wordsOf(text);
      if (words !== undefined) {
        const written = (await this.#correct(words, visitor)) ?? writeQuery(words);
        yield { kind: 'words', form: { ...first, query: written } };
      }
    }
    if (form.errors === 0) yield { kind: 'errors', form: { ...first, errors: 1 } };
    if (form.matchWord) yield { kind: 'parts', form: { ...first, matchWord: false } };
    if (form.narrow.length > 0) yield { kind: 'everywhere', form: { ...first, narrow: [] } };
    const parts = conjunctsOf(query) ?? [];
    if (parts.length < 2) return;
    for (const part of parts.slice(0, MAX_WITHOUT)) {
      const rest = combine(
        'and',
        parts.filter((other) => other !== part),
      );
      yield { kind: 'without', form: { ...first, query: rest }, word: wordOf(part) };
    }
    if (parts.length > 2) yield { kind: 'any', form: { ...first, query: combine('or', parts) } };
  }

  /** The query with words of the index in place of words that it does not have. */
  async #correct(query: Expression, visitor: Visitor): Promise<string | undefined> {
    const corrections = new Map<string, string>();
    for (const word of literalTerms(query)) {
      if (!ONE_WORD.test(word)) continue;
      const { objects } = await this.#countQuery(
        { kind: 'term', text: word, quoted: true, offset: 0 },
        { ignoreCase: true, matchWord: true, errors: 0, contentOnly: true, ignoreAccents: true },
        visitor,
      );
      if (objects >= RARE) continue;
      const request = { kind: 'neighbors', text: word, limit: 1, lifetimeMs: PROBE_MS } as const;
      const [best] = (await this.#indexer.words?.({ ...request, ...visitor })) ?? [];
      if (best !== undefined && best.objects >= TIMES_AS_MANY * objects) corrections.set(word, best.word);
    }
    if (corrections.size === 0) return undefined;
    return writeQuery(mapWords(query, (text) => corrections.get(text) ?? text));
  }

  async #count(form: QueryForm, visitor: Visitor) {
    const read = readQuery(form.query);
    if (read.kind === 'fault') return NOTHING;
    const whole = readQuery(narrowQuery(formatQuery(read.query), form.narrow));
    if (whole.kind === 'fault' || whole.query.kind === 'all') return NOTHING;
    return this.#countQuery(whole.query, form, visitor);
  }

  async #countQuery(
    query: Expression,
    { ignoreCase, matchWord, errors, contentOnly, ignoreAccents }: Matching,
    visitor: Visitor,
  ): Promise<{ readonly objects: number; readonly more: boolean }> {
    visitor.signal.throwIfAborted();
    const hits = this.#indexer.query(query, {
      ignoreCase,
      matchWord,
      errors,
      contentOnly,
      ignoreAccents,
      wantLines: false,
      ordered: false,
      maxFiles: MAX_OBJECTS,
      lifetimeMs: PROBE_MS,
      ...visitor,
    });
    let objects = 0;
    for await (const _ of hits) objects += 1;
    const { complete } = await hits.outcome;
    return { objects, more: !complete };
  }
}

const NOTHING = { objects: 0, more: false };

function hasAttribute(query: Query): boolean {
  return (conjunctsOf(query) ?? []).some(({ kind }) => kind === 'select');
}

/** The words of a text, which must all occur. */
function wordsOf(text: string): Expression | undefined {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return words
    .map((word): Expression => ({ kind: 'term', text: word, quoted: false, offset: 0 }))
    .reduceRight<Expression | undefined>(
      (right, left) => (right === undefined ? left : { kind: 'and', left, right }),
      undefined,
    );
}

function wordOf(part: Expression): string {
  return part.kind === 'term' ? part.text : formatQuery(part);
}

/** Renders how the query was understood. */
export function renderReading(query: Query): Html {
  return html`<p class="reading">Understood as: ${describeQuery(query)}.</p>\n`;
}

/** Renders the links to queries that find more. */
export function renderAlternatives(alternatives: readonly Alternative[], action: string): Content {
  if (alternatives.length === 0) return '';
  return html`<ul class="alternatives">
${alternatives.map(
  (alternative) =>
    html`<li>${sentence(alternative, (text) => html`<a href="${action}?${writeForm(alternative.form)}">${text}</a>`)} <span class="number">${count(alternative)}</span></li>\n`,
)}</ul>
`;
}

function sentence({ kind, form, word }: Alternative, link: (text: Content) => Html): Content {
  switch (kind) {
    case 'spelling':
      return html`Did you mean ${link(html`<q>${form.query}</q>`)}?`;
    case 'text':
      return html`As text, not as an attribute: ${link(form.query)}`;
    case 'words':
      return html`As words, not as an attribute: ${link(form.query)}`;
    case 'errors':
      return link('Allow one spelling error in each word');
    case 'parts':
      return link('Also find parts of words');
    case 'everywhere':
      return link('Without narrowing the result');
    case 'without':
      return link(html`Without <q>${word ?? ''}</q>`);
    case 'any':
      return link('One of the words suffices');
  }
}

function count({ objects, more }: Alternative): string {
  return `${more ? 'more than ' : ''}${plural(objects, 'object')}`;
}
