import type { TimeSlice } from '../../scheduling/time-slice.js';
import { IndexCache, type IndexVersion } from '../index/index-cache.js';
import type { Postings } from '../index/postings.js';

const CACHE_BYTES = 2 << 20;

/** The objects that match expressions of the index. People ask for the same again: for the next page. */
export class MatchingObjects {
  readonly #postings: Postings;
  readonly #version: IndexVersion;
  readonly #known: IndexCache<Uint32Array>;

  constructor(postings: Postings, version: IndexVersion) {
    this.#postings = postings;
    this.#version = version;
    this.#known = new IndexCache(version, CACHE_BYTES, ({ byteLength }) => byteLength);
  }

  /** Returns the OIDs of the objects that match, ascending; undefined if they are more than `most`. */
  async of(match: string, most: number, slice: TimeSlice): Promise<Uint32Array | undefined> {
    const known = this.#known.get(match);
    if (known !== undefined) return known.length > most ? undefined : known;
    const { epoch } = this.#version;
    const mayBeMore = this.#postings.span > most;
    if (mayBeMore && (await this.#postings.countOf(match, most + 1, slice)) > most) return undefined;
    const oids = await this.#postings.matching(match, slice);
    this.#known.set(match, oids, epoch);
    return oids.length > most ? undefined : oids;
  }
}
