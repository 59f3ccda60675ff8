import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReferencesPool } from '../../../clients/references/index.js';
import { referenceUrl } from '../../../protocols/urls/index.js';
import type { ShownHit } from './results.js';

/** How long a page waits for a References Server. */
export interface LinkedFromOptions {
  /** Milliseconds for all questions of a page. Default 300. */
  readonly deadlineMs?: number;
  /** Milliseconds that a server is left alone which did not answer. Default 10 000. */
  readonly pauseMs?: number;
}

const DEFAULT_DEADLINE_MS = 300;
const DEFAULT_PAUSE_MS = 10_000;

/** Of a hit's weight, the place before which a link counts little: the first 20 hits are nearly alike. */
const LEVEL_PLACES = 20;

/** How many documents link to a document, as a References Server says; its `host:port` is `References-Server`. */
export class LinkedFrom implements AsyncDisposable {
  readonly #pool: ReferencesPool;
  readonly #deadlineMs: number;
  readonly #pauseMs: number;
  #pausedUntil = 0;

  constructor(
    readonly server: string,
    options: LinkedFromOptions = {},
  ) {
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#pauseMs = options.pauseMs ?? DEFAULT_PAUSE_MS;
    const colon = server.lastIndexOf(':');
    this.#pool = new ReferencesPool({
      host: server.slice(0, colon).replace(/^\[|\]$/g, ''),
      port: Number(server.slice(colon + 1)),
      connections: 1,
      connectTimeoutMs: this.#deadlineMs,
    });
  }

  /**
   * Asks for all of them at once, for the totals only. Never fails: what is not known in time is not there, and a server
   * that answers nothing is not asked again for a while.
   *
   * @param urls in the Gatherer's canonical form
   * @returns totals above 0, by URL
   */
  async count(urls: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const names = [...new Set(urls)].flatMap((url) => {
      const name = referenceUrl(url);
      return name === undefined ? [] : [{ url, name }];
    });
    if (names.length === 0 || performance.now() < this.#pausedUntil) return counts;
    const over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    // One listener for each question: that is no leak.
    setMaxListeners(0, stop);
    let answers = 0;
    const questions = names.map(async ({ url, name }) => {
      const { found } = await this.#pool.referers({ url: name, count: 0, signal: stop });
      answers++;
      if (found > 0) counts.set(url, found);
    });
    const deadline = sleep(this.#deadlineMs, undefined, { signal: stop }).catch(() => undefined);
    await Promise.race([Promise.allSettled(questions), deadline]);
    over.abort();
    if (answers === 0 && !signal.aborted) this.#pausedUntil = performance.now() + this.#pauseMs;
    // A late answer must not change what is shown already.
    return new Map(counts);
  }

  /** The server's page about a document; undefined when it can have none. */
  pageOf(url: string): string | undefined {
    const name = referenceUrl(url);
    return name === undefined ? undefined : `http://${this.server}/?${new URLSearchParams({ q: name })}`;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * `References-Rank`: the Broker's order with documents raised that many others link to. A hit's weight falls with its place and
 * grows with the logarithm of its links, `(1 + log10(1 + links)) / (20 + place)`: nine links lift the 20th to the first.
 */
export function byLinks(hits: readonly ShownHit[], links: ReadonlyMap<string, number>): ShownHit[] {
  const weighed = hits.map((hit, place) => ({
    hit,
    weight: (1 + Math.log10(1 + (links.get(hit.url) ?? 0))) / (LEVEL_PLACES + place),
  }));
  return weighed.sort((a, b) => b.weight - a.weight).map(({ hit }) => hit);
}
