import type { Clock } from '../../../../protocols/clock.js';
import type { CrawlFrontier, Prepared, PreparedOf } from '../contract.js';

/** The `test` function of node:test, of tap, or of another runner. */
export type TestRunner = (name: string, run: () => Promise<void>) => unknown;

/** The options that a frontier under test must follow. */
export interface FrontierSetup {
  readonly clock: Clock;
  /** CRAWL-11.4. */
  readonly prepare: (uri: PreparedOf) => Prepared;
  readonly holdQueues: boolean;
  readonly targetReadyBacklog: number;
  readonly snoozeDeactivateMs: number;
  /** Keep as few queues and URIs in memory as the frontier can. */
  readonly smallMemory: boolean;
}

/** A frontier on a directory. Disposing of it closes the frontier and its store. */
export interface FrontierUnderTest<Batch> extends AsyncDisposable {
  readonly frontier: CrawlFrontier<Batch>;
  /** Returns an empty batch of the frontier's store. */
  batch(): Batch;
}

/** The features of a frontier; the tests of a feature that is `false` are left out. Default: all `true`. */
export interface FrontierManifest {
  /** A frontier that is opened again on its directory continues with its queues (CRAWL-17.2.2). */
  readonly persistence?: boolean;
  /** A copy of the directory, made while the frontier is idle, is equal to the files of a killed process. */
  readonly crashCopies?: boolean;
  /** T1: the option `holdQueues: false`. */
  readonly withoutHolding?: boolean;
  /** T8: a head whose class key has changed moves to its new queue. */
  readonly relocation?: boolean;
}

export interface FrontierConformance<Batch> {
  readonly test: TestRunner;
  /** Opens a frontier on a directory of this machine; the same directory may be opened again after disposal. */
  readonly open: (directory: string, setup: FrontierSetup) => Promise<FrontierUnderTest<Batch>>;
  readonly manifest?: FrontierManifest;
  /** Random histories to try. Default 15. */
  readonly histories?: number;
  /** Seed of the random histories; default 1. A failure names the seed of its history. */
  readonly seed?: number;
}
