// Completes the last word of a query as a user types, in the format of OpenSearch suggestions.
import { PeerError, StorageError } from '../../../protocols/errors.js';
import type { Indexer } from '../../../storage/indexers/index.js';

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
  #running = 0;

  constructor(readonly indexer: Indexer) {}

  /** Returns the JSON of the reply: the text, and the texts that complete it. */
  async reply(text: string, client: string, signal: AbortSignal): Promise<string> {
    return `${JSON.stringify([text, await this.#complete(text, client, signal)])}\n`;
  }

  async #complete(text: string, client: string, signal: AbortSignal): Promise<string[]> {
    const [word] = (text.length <= MAX_TEXT && LAST_WORD.exec(text)) || [];
    if (word === undefined || this.#running >= MAX_CONCURRENT) return [];
    this.#running += 1;
    try {
      const words = await this.indexer.words?.({
        kind: 'completions',
        text: word,
        limit: MAX_COMPLETIONS,
        lifetimeMs: TIME_MS,
        client,
        signal,
      });
      const before = text.slice(0, text.length - word.length);
      return (words ?? []).map((completion) => `${before}${completion.word}`);
    } catch (error) {
      // An index that is busy or out of time has no completions; a search would say why.
      if (error instanceof StorageError || error instanceof PeerError) return [];
      throw error;
    } finally {
      this.#running -= 1;
    }
  }
}
