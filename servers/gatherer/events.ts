import { channel } from 'node:diagnostics_channel';
import type { Disposition } from './crawl/crawl-uri.js';
import type { FrontierCounts } from './crawl/frontier.js';

/** Published for every URI that the frontier gets back; logs, metrics and progress bars subscribe. */
export interface DocumentEvent {
  readonly url: string;
  readonly status: number;
  readonly disposition: Disposition;
  /** Why it failed, was rejected or is tried again; empty otherwise. */
  readonly reason: string;
  readonly type: string;
  readonly bytes: number;
  /** Read through Local-Mapping or from a file (G-77). */
  readonly local: boolean;
  readonly milliseconds: number;
  readonly warnings: readonly string[];
  readonly frontier: FrontierCounts;
}

/** `harvest:gatherer:document`, with a {@link DocumentEvent}. */
export const documentChannel = channel('harvest:gatherer:document');
