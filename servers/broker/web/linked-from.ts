// Requests from a References Server how many documents link to each hit.

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReferencesPool } from '../../../clients/references/index.js';
import { hrefOfUrl } from '../../../protocols/soif/index.js';
import { referenceUrl } from '../../../protocols/urls/index.js';
import type { ShownHit } from './results.js';

/** Time limits for a References Server. */
export interface LinkedFromOptions {
  /** Time for all requests of a page. Default 300. */
  readonly deadlineMs?: number;
  /** Pause after a page whose requests the server did not answer. Default 10 000. */
  readonly pauseMs?: number;
}

const DEFAULT_DEADLINE_MS = 300;
const DEFAULT_PAUSE_MS = 10_000;

/** Reduces the influence of the rank: the first 20 hits have nearly the same weight. */
const RANK_OFFSET = 20;

/** Requests how many documents link to a document from the References Server at `References-Server`, a `host:port`. */
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
   * Requests the totals of all URLs in parallel. Never rejects: answers after the deadline are missing, and a server that
   * did not answer at all receives no request for a while.
   *
   * @param urls in the Gatherer's canonical form
   * @returns totals above 0, by URL
   */
  async count(urls: Iterable<string>, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    const names = [...new Set(urls)].flatMap((url) => {
      const name = referenceUrl(hrefOfUrl(url));
      return name === undefined ? [] : [{ url, name }];
    });
    if (names.length === 0 || performance.now() < this.#pausedUntil) return counts;
    const ended = new AbortController();
    const stop = AbortSignal.any([signal, ended.signal]);
    // One listener for each request is not a leak.
    setMaxListeners(0, stop);
    let answers = 0;
    const requests = names.map(async ({ url, name }) => {
      const { found } = await this.#pool.referers({ url: name, count: 0, signal: stop });
      answers++;
      if (found > 0) counts.set(url, found);
    });
    const deadline = sleep(this.#deadlineMs, undefined, { signal: stop }).catch(() => undefined);
    await Promise.race([Promise.allSettled(requests), deadline]);
    ended.abort();
    if (answers === 0 && !signal.aborted) this.#pausedUntil = performance.now() + this.#pauseMs;
    // A copy, because late answers still change the original.
    return new Map(counts);
  }

  /** Returns the URL of the server's page about a document; undefined if the server has no such page. */
  pageOf(url: string): string | undefined {
    const name = referenceUrl(hrefOfUrl(url));
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
 * `References-Rank`: returns the hits in the Broker's order, but raises documents that many others link to. A hit's weight falls with
 * its rank and grows with the logarithm of its links, `(1 + log10(1 + links)) / (20 + rank)`: nine links raise the 20th hit to the
 * first.
 */
export function orderByLinks(hits: readonly ShownHit[], links: ReadonlyMap<string, number>): ShownHit[] {
  const weighed = hits.map((hit, rank) => ({
    hit,
    weight: (1 + Math.log10(1 + (links.get(hit.url) ?? 0))) / (RANK_OFFSET + rank),
  }));
  return weighed.sort((a, b) => b.weight - a.weight).map(({ hit }) => hit);
}
