// Requests from a References Server how many documents link to each hit.

import { setMaxListeners } from 'node:events';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { ReferencesPool } from '../../../clients/references/pool.js';
import { withTimeout } from '../../../protocols/clock.js';
import { hrefOfUrl } from '../../../protocols/soif/index.js';
import { referenceUrl } from '../../../protocols/urls/index.js';
import type { Certificate } from '../../host/tls.js';
import type { ShownHit } from './results.js';

/** Time limits for a References Server. */
export interface LinkedFromOptions {
  /** Time for all requests of a page. Default 300. */
  readonly deadlineMs?: number;
  /** Pause after a page whose requests the server did not answer. Default 10 000. */
  readonly pauseMs?: number;
  /** The address of its pages for browsers, without a final slash. Default: that of the server. */
  readonly pagesUrl?: string | undefined;
  /** The certificate that the server must have, also when it is renewed. Default: one that is trusted here. */
  readonly certificate?: Pick<Certificate, 'fingerprint'> | undefined;
}

const DEFAULT_DEADLINE_MS = 300;
const DEFAULT_PAUSE_MS = 10_000;

/** Reduces the influence of the rank: the second hit weighs a twelfth less than the first. */
const RANK_OFFSET = 11;
/** How much more the most linked hit weighs. */
const LINK_SHARE = 0.1;

/**
 * Requests how many documents link to a document from the References Server at `References-Server`, a
 * `host:port` with or without `tls://` before it.
 */
export class LinkedFrom implements AsyncDisposable {
  readonly #pool: ReferencesPool;
  readonly #deadlineMs: number;
  readonly #pauseMs: number;
  readonly #pagesUrl: string;
  #pausedUntil = 0;

  constructor(
    readonly server: string,
    options: LinkedFromOptions = {},
  ) {
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#pauseMs = options.pauseMs ?? DEFAULT_PAUSE_MS;
    const [, tls = '', authority = ''] = /^(tls:\/\/)?(.*)$/s.exec(server) ?? [];
    this.#pagesUrl = options.pagesUrl ?? `${tls === '' ? 'http' : 'https'}://${authority}`;
    const colon = authority.lastIndexOf(':');
    const { certificate } = options;
    this.#pool = new ReferencesPool({
      // Read again for each connection.
      get fingerprint() {
        return certificate?.fingerprint;
      },
      host: tls + authority.slice(0, colon).replace(/^\[|\]$/g, ''),
      port: Number(authority.slice(colon + 1)),
      connections: 1,
      connectTimeoutMs: this.#deadlineMs,
    });
  }

  /**
   * Requests the totals of all URLs in parallel. Never rejects: answers after the deadline are missing,
   * and a server that did not answer at all receives no request for a while.
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
    await withTimeout(monotonicClock, this.#deadlineMs, Promise.allSettled(requests), () => undefined);
    ended.abort();
    if (answers === 0 && !signal.aborted) this.#pausedUntil = performance.now() + this.#pauseMs;
    // A copy, because late answers still change the original.
    return new Map(counts);
  }

  /** Returns the URL of the server's page about a document; undefined if the server has no such page. */
  pageOf(url: string): string | undefined {
    const name = referenceUrl(hrefOfUrl(url));
    return name === undefined ? undefined : `${this.#pagesUrl}/?${new URLSearchParams({ q: name })}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.close();
  }
}

/**
 * `References-Rank`: returns the hits in the Broker's order, but of those with about the same rank the
 * documents first to which more others link. The most linked one moves up by one rank and a tenth of its rank:
 * within a site the pages that all others link to are contents and navigation, so that more weight makes
 * answers worse (test/bench/relevance/README.md).
 */
export function orderByLinks(hits: readonly ShownHit[], links: ReadonlyMap<string, number>): ShownHit[] {
  const countOf = ({ url }: ShownHit) => links.get(url) ?? 0;
  const most = hits.reduce((max, hit) => Math.max(max, countOf(hit)), 0);
  const weighed = hits.map((hit, rank) => ({
    hit,
    weight: (1 + (LINK_SHARE * Math.log1p(countOf(hit))) / Math.log(2 + most)) / (RANK_OFFSET + rank),
  }));
  return weighed.sort((a, b) => b.weight - a.weight).map(({ hit }) => hit);
}
