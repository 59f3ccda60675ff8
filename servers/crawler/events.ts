import { channel } from 'node:diagnostics_channel';
import type { Disposition } from './dispositions.js';
import type { FrontierCounts } from './frontier/contract.js';

/** What logs and figures need of a URI that is returned to the frontier. */
export interface RecordedEvent {
  readonly url: string;
  /** CRAWL-8.1. */
  readonly status: number;
  readonly disposition: Disposition;
  /** Why it failed, was rejected or is retried; empty otherwise. */
  readonly reason: string;
  /** Essence's type name. */
  readonly type: string;
  /** Bytes received. */
  readonly bytes: number;
  /** Read through Local-Mapping or from a file (G-77). */
  readonly local: boolean;
  /** Time from `next` to `finished`. */
  readonly milliseconds: number;
  readonly warnings: readonly string[];

  /** Class key of its queue (CRAWL-9.1). */
  readonly classKey: string;
  /** The URI on which it was found; empty for a seed. */
  readonly via: string;
  /** CRAWL-2.2; empty for a seed. */
  readonly pathFromSeed: string;
  /** CRAWL-2.9; empty if it has none. */
  readonly sourceTag: string;
  /** Attempts, this one included. */
  readonly attempts: number;
  /** Number of its worker, from 1 (CRAWL-16.1 field 8). */
  readonly worker: number;
  /** Start of the fetch, milliseconds since 1970; 0 if nothing was fetched. */
  readonly fetchBegin: number;
  /** Duration of the fetch, milliseconds; -1 if it has no end (CRAWL-7.1). */
  readonly fetchDuration: number;
  /** The declared media type with its parameters; empty if absent. */
  readonly contentType: string;
  /** Digest of the body, `sha1:` and 32 characters of base32; empty if absent (CRAWL-16.1 field 10). */
  readonly digest: string;
  /** CRAWL-16.2. */
  readonly annotations: readonly string[];
  /** Its links that are not URIs (CRAWL-16.4). */
  readonly uriErrors?: readonly Pick<UriErrorEvent, 'url' | 'message'>[] | undefined;
}

/** Message on {@link documentChannel} for every URI that is returned to the frontier. */
export interface DocumentEvent extends RecordedEvent {
  readonly frontier: FrontierCounts;
}

/** Channel `harvest:gatherer:document`, with a {@link DocumentEvent}. */
export const documentChannel = channel('harvest:gatherer:document');

/** A link that is not a URI (CRAWL-16.4, uri-errors.log). */
export interface UriErrorEvent {
  readonly url: string;
  readonly source: string;
  readonly message: string;
}

/** Channel `harvest:gatherer:uri-error`, with a {@link UriErrorEvent}. */
export const uriErrorChannel = channel('harvest:gatherer:uri-error');

export { announce, type CrawlEvent, crawlChannel } from './crawl-channel.js';
