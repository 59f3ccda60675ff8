import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Disposition } from '../../crawler/crawl-uri.js';
import type { DocumentEvent } from '../../crawler/events.js';
import { REPEATED } from '../processors/history.js';
import { SAME_PAGE } from '../processors/writer.js';

/** Counts the URIs of one run by disposition, and their bytes. */
export class Tally {
  readonly counts: Record<Disposition, number> = {
    summarized: 0,
    unchanged: 0,
    kept: 0,
    listed: 0,
    redirected: 0,
    rejected: 0,
    failed: 0,
    retry: 0,
  };
  bytes = 0;
  /** Why the seeds, or the targets of their redirections, were not gathered, by the URL of the seed. */
  readonly #failures = new Map<string, string>();
  /** The seeds of redirected URLs. */
  readonly #seeds = new Map<string, string>();

  add({ disposition, bytes, url, via, pathFromSeed, reason, annotations }: DocumentEvent): void {
    if (annotations.includes(REPEATED)) return;
    this.counts[disposition]++;
    this.bytes += bytes;
    if (!/^R*$/.test(pathFromSeed)) return;
    const seed = pathFromSeed === '' ? url : (this.#seeds.get(via) ?? via);
    if (disposition === 'redirected' && this.#seeds.size < MAX_SEEDS) this.#seeds.set(url, seed);
    const hasContent = disposition === 'rejected' && annotations.includes(SAME_PAGE);
    if (disposition === 'failed' || (disposition === 'rejected' && !hasContent)) {
      if (this.#failures.size < MAX_SEEDS) this.#failures.set(seed, reason);
    } else if (disposition !== 'retry') this.#failures.delete(seed);
  }

  /** Those of the roots that failed or were rejected, with the reasons. */
  failedRoots(roots: readonly string[]): FailedRoot[] {
    return roots.flatMap((url) => {
      const reason = this.#failures.get(url);
      return reason === undefined ? [] : [{ url: withoutUserInfo(url), reason }];
    });
  }
}

/** Seeds whose outcome is kept; those beyond are counted only. */
const MAX_SEEDS = 10_000;

/** A root whose own document could not be gathered. */
export interface FailedRoot {
  /** Without a login. */
  readonly url: string;
  readonly reason: string;
}
