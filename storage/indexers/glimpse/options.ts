// The options of the Glimpse engine, and the state of its index.
import { z } from 'zod';
import type { CandidateSearchLimits, ProgramEngineOptions } from '../external/candidate-search.js';

/** Options of `openGlimpseIndexer`. */
export interface GlimpseIndexerOptions extends ProgramEngineOptions, Partial<CandidateSearchLimits> {
  /** The Broker's `objects/`: one file for each object (BRK-8.9). On the same file system as `directory`. */
  readonly objectsDirectory: string;
  /** `GlimpseIndex-Option`: none = tiny, `-o` = small, `-b` = medium (BRK-7.3). Default `-b`. */
  readonly indexOption?: string | undefined;
  /**
   * Runs a glimpseserver on this port of the loopback interface (BRK-8.12). Default: no server. `patienceMs`:
   * maximum milliseconds until it has started, and until it answers after SIGUSR1; default 5000.
   */
  readonly server?:
    | { readonly port: number; readonly host?: string; readonly patienceMs?: number }
    | undefined;
  /**
   * Maximum milliseconds in which glimpseindex neither reads nor prints anything; then it is stopped. Default
   * half an hour.
   */
  readonly indexSilenceMs?: number;
  /** Names or paths of the programs. Default: the names in Debian's package `glimpse`, looked up in PATH. */
  readonly programs?: {
    readonly glimpse?: string;
    readonly glimpseindex?: string;
    readonly glimpseserver?: string;
  };
}

/** State of an index. `objects` and `option` say whether it still agrees with the options. */
export const stateSchema = z.object({
  watermark: z.number().int().nonnegative(),
  objects: z.string(),
  option: z.string(),
  /** The files are in the layout of REG-34; an index without this mark names files in an earlier one. */
  layout: z.literal('REG-34'),
  /** Directories of the parts, the largest first; a later part has the newer version of an object. */
  parts: z.array(z.string().regex(/^\d+$/)),
  /** Name of the next part. */
  next: z.number().int().positive(),
});
export type State = z.output<typeof stateSchema>;
