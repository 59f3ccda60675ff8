// Reads a query of plain words as a person means it: with the other forms of the words, and without those that
// say nothing.

import {
  conjunctsOf,
  fewerOf,
  joined,
  type SentencePart,
  sentenceText,
} from '../../../clients/broker/forgiving.js';
import { type Expression, normalize, type Query } from '../../../protocols/broker/index.js';
import type { IndexedWord, Indexer } from '../../../storage/indexers/index.js';
import { type Content, html } from '../../web/html.js';
import { OptionalWork, type Visitor } from './visitor.js';

/** A query, and what it has in place of the words that were typed. */
export interface ForgivingQuery {
  /** Finds the objects with all words, each in one of its forms. */
  readonly all: Expression;
  /** Number of words that {@link fewer} counts: those that say something about a subject. */
  readonly words: number;
  /** Finds the objects with at least so many of them, the strictest first; the last one needs one word. */
  readonly fewer: readonly { readonly least: number; readonly query: Expression }[];
  /** Forms that were not typed. */
  readonly added: readonly string[];
  /** Words that need not occur. */
  readonly optional: readonly string[];
}

/**
 * Words of a query that is read so, and words and forms of it in all: an index answers short queries much
 * faster.
 */
const MAX_WORDS = 12;
const MAX_TERMS = 28;
/** Words from which those that say nothing need not occur: shorter queries mean what they say. */
const MANY_WORDS = 5;
/**
 * Milliseconds to find the forms of a word. Queries that are read so at a time; others are taken as they are.
 */
const TIME_MS = 200;
const MAX_CONCURRENT = 8;
/** A word without pattern characters (BRK-2.22). */
const WORD = /^[\p{L}\p{M}\p{N}_]+$/u;
/**
 * Words with points between them, as the name of a file or a version: for a person the point is not any
 * character.
 */
const DOTTED = /^[\p{L}\p{M}\p{N}_]+(?:\.[\p{L}\p{M}\p{N}_]+)+$/u;

/** Looks up the forms of words in the index of the Broker. */
export class ForgivingReader {
  readonly #indexer: Indexer;
  readonly #work = new OptionalWork(MAX_CONCURRENT);

  constructor(indexer: Indexer) {
    this.#indexer = indexer;
  }

  /** Returns undefined for a query with operators other than `and`, and for one that needs no change. */
  async read(query: Query, visitor: Visitor): Promise<ForgivingQuery | undefined> {
    const parts = (conjunctsOf(query) ?? []).flatMap(atApostrophes).map(withLiteralPoints);
    const hasWord = parts.some((part) => isPlain(part) || isDotted(part));
    if (!hasWord || parts.length > MAX_WORDS) return undefined;
    // The word itself, and its forms.
    const limit = Math.floor(MAX_TERMS / parts.length);
    const forms = async (part: Expression): Promise<readonly IndexedWord[]> => {
      if (!isPlain(part)) return [];
      const request = { kind: 'forms', text: part.text, limit, lifetimeMs: TIME_MS } as const;
      return (await this.#indexer.words?.({ ...request, ...visitor })) ?? [];
    };
    return this.#work.run(async () => withForms(parts, await Promise.all(parts.map(forms))));
  }
}

/** Reads words as they stand, but so that objects with most of them follow those with all. */
export function readWithoutForms(query: Query): ForgivingQuery | undefined {
  const parts = conjunctsOf(query) ?? [];
  if (parts.length < 2 || parts.length > MAX_WORDS || !parts.some(isPlain)) return undefined;
  return { all: joined('and', parts), words: parts.length, fewer: fewerOf(parts), added: [], optional: [] };
}

/** A word that was typed without quotes, which ask for exactly this word. */
function isPlain(part: Expression): part is Extract<Expression, { kind: 'term' }> {
  return part.kind === 'term' && !part.quoted && WORD.test(part.text);
}

/** What stands before and after an apostrophe are two words: `what's`, `l’index`. */
function atApostrophes(part: Expression): Expression[] {
  if (part.kind !== 'term' || part.quoted) return [part];
  const words = normalize(part.text).split("'");
  return words.every((word) => WORD.test(word)) ? words.map((text) => ({ ...part, text })) : [part];
}

function isDotted(part: Expression): boolean {
  return part.kind === 'term' && DOTTED.test(part.text.replaceAll('\\.', '.'));
}

/** BRK-2.22: a point matches any character unless it is escaped. */
function withLiteralPoints(part: Expression): Expression {
  if (part.kind !== 'term' || part.quoted || !DOTTED.test(part.text)) return part;
  return { ...part, text: part.text.replaceAll('.', '\\.') };
}

function withForms(
  parts: readonly Expression[],
  readings: readonly (readonly IndexedWord[])[],
): ForgivingQuery | undefined {
  const mayDrop = parts.length >= MANY_WORDS && readings.some((words) => words[0]?.isStopWord !== true);
  const added: string[] = [];
  const optional: string[] = [];
  const groups: Expression[] = [];
  const subject: Expression[] = [];
  for (const [i, part] of parts.entries()) {
    const [itself, ...forms] = readings[i]!;
    if (mayDrop && itself?.isStopWord === true) {
      optional.push(itself.word);
      continue;
    }
    added.push(...forms.map(({ word }) => word));
    const group = joined('or', [part, ...forms.map(({ word }) => termOf(word))]);
    groups.push(group);
    if (itself?.isStopWord !== true) subject.push(group);
  }
  const counted = subject.length === 0 ? groups : subject;
  const fewer = [...fewerOf(counted)];
  // All of them are fewer than all words if the others say nothing.
  if (counted.length < groups.length) fewer.unshift({ least: counted.length, query: joined('and', counted) });
  return {
    all: joined('and', groups),
    words: counted.length,
    fewer,
    added: [...new Set(added)],
    optional: [...new Set(optional)],
  };
}

function termOf(text: string): Expression {
  return { kind: 'term', text, quoted: true, offset: 0 };
}

/** How a query was read, for the page. */
export interface ForgivenResult {
  /** What was changed to read the text at all. */
  readonly said: readonly SentencePart[];
  readonly reading?: ForgivingQuery | undefined;
  /** Number of objects with all words, if objects with fewer of them follow, and how many these have at least. */
  readonly withAll?: { readonly objects: number; readonly least: number } | undefined;
  /** Numbers of objects with all words, and of those among them that lack some; undefined if not all are counted. */
  readonly inOneOrder?: InOneOrder | undefined;
}

interface InOneOrder {
  readonly withAll: number | undefined;
  readonly others: number | undefined;
}

/** Says how a query was read; empty if it was read as it stands. */
function forgivenSentences({
  said,
  reading,
  withAll,
  inOneOrder,
}: ForgivenResult): readonly (readonly SentencePart[])[] {
  const { added = [], optional = [], words = 0 } = reading ?? {};
  const listed = (name: string, list: readonly string[]) =>
    list.length === 0
      ? []
      : [[`${name}: `, ...list.flatMap((word, i) => [i === 0 ? '' : ', ', { word }]), '.']];
  return [
    ...(said.length === 0 ? [] : [said]),
    ...(withAll === undefined ? [] : [[fewerSentence(withAll.objects, withAll.least, words)]]),
    ...(inOneOrder === undefined ? [] : [[oneOrderSentence(inOneOrder)]]),
    ...listed('Also found', added),
    ...listed('Not required', optional),
  ];
}

function oneOrderSentence({ withAll, others }: InOneOrder): string {
  if (withAll === undefined || others === undefined) return 'Some of these objects lack some of the words.';
  if (withAll === 0) return 'No object has all of the words; these have some of them.';
  const those = withAll === 1 ? 'One object has' : `${withAll.toLocaleString('en')} objects have`;
  const more = others === 1 ? 'one more has' : `${others.toLocaleString('en')} more have`;
  return `${those} all of the words; ${more} some of them.`;
}

function fewerSentence(objects: number, least: number, words: number): string {
  const some = least * 2 > words ? 'most of them' : 'some of them';
  if (objects === 0) return `No object has all of the words; these have ${some}.`;
  const those = objects === 1 ? 'One object has' : `${objects} objects have`;
  return `${those} all of the words; the others, which follow, have ${some}.`;
}

/** Says how a query was read, as plain text; undefined if it was read as it stands. */
export function forgivenText(result: ForgivenResult | undefined): string | undefined {
  const sentences = result === undefined ? [] : forgivenSentences(result);
  return sentences.length === 0 ? undefined : sentences.map(sentenceText).join(' ');
}

/** Renders how a query was read, with a link to the results without the changes. */
export function renderForgiven(result: ForgivenResult, exactUrl: string): Content {
  const sentences = forgivenSentences(result);
  if (sentences.length === 0) return '';
  const rendered = sentences.map((parts) => [
    parts.map((part) => (typeof part === 'string' ? part : html`<q>${part.word}</q>`)),
    ' ',
  ]);
  return html`<p class="reading">${rendered.flat()}<a href="${exactUrl}">Only what was typed</a></p>
`;
}
