// Completes the last word of a query as a user types, in the format of OpenSearch suggestions.
import type { Indexer } from '../../../storage/indexers/index.js';
import { OptionalWork, type Visitor } from './visitor.js';

/** Type of the reply. */
export const SUGGESTIONS_TYPE = 'application/x-suggestions+json; charset=utf-8';

/** Completions of a reply, and milliseconds to find them. */
const MAX_COMPLETIONS = 8;
const TIME_MS = 150;
/** Replies that are made at a time; others have no completions. */
const MAX_CONCURRENT = 4;
/** Longest text that is completed, in characters. */
const MAX_TEXT = 256;

const LAST_WORD = /[\p{L}\p{M}\p{N}_]{2,64}$/u;

/** Makes suggestions from the words of the index. */
export class Suggestions {
  readonly #indexer: Indexer;
  readonly #work = new OptionalWork(MAX_CONCURRENT);

  constructor(indexer: Indexer) {
    this.#indexer = indexer;
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
    const words = await this.#indexer.words?.({ ...request, ...visitor });
    const before = text.slice(0, text.length - word.length);
    return (words ?? []).map((completion) => `${before}${completion.word}`);
  }
}
