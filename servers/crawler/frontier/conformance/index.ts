// `frontierConformance`: the test suite of the frontier contract (`harvest-kit/conformance/frontier`).
import { createHarnessOpener, inDirectory, type OpenHarness } from './harness.js';
import { registerHistoryTests } from './histories.js';
import { registerLifeCycleTests } from './life-cycle.js';
import { registerOperationTests, registerOperatorTests, registerWaitingTests } from './operations.js';
import type { FrontierConformance } from './options.js';
import { registerMemoryTests, registerPersistenceTests } from './persistence.js';

export type { Clock as FrontierClock } from '../../../../protocols/clock.js';
export type { QueueSelection } from '../../control.js';
export type {
  Budgets,
  Candidate,
  CrawlFrontier,
  Finish,
  FrontierCounts,
  FrontierFigures,
  Outcome,
  Prepared,
  PreparedOf,
  QueueTraffic,
  Written,
} from '../contract.js';
export { ManualClock } from './manual-clock.js';
export type {
  FrontierConformance,
  FrontierManifest,
  FrontierSetup,
  FrontierUnderTest,
  TestRunner,
} from './options.js';

/**
 * Registers the tests of the frontier's contract (CRAWL-5) with a test runner. Time passes only on the clock
 * that the factory receives, so no test depends on the speed of the machine.
 */
export function frontierConformance<Batch>(options: FrontierConformance<Batch>): void {
  const {
    persistence = true,
    crashCopies = true,
    withoutHolding = true,
    relocation = true,
  } = options.manifest ?? {};
  const test = (name: string, run: (open: OpenHarness<Batch>) => Promise<void>): void => {
    options.test(name, () => inDirectory((directory) => run(createHarnessOpener(options, directory))));
  };
  registerOperationTests(test);
  registerLifeCycleTests(test, { withoutHolding, relocation });
  registerOperatorTests(test);
  registerWaitingTests(test);
  if (persistence) registerPersistenceTests(test, crashCopies);
  registerMemoryTests(test);
  if (persistence) {
    registerHistoryTests(test, {
      histories: options.histories ?? 15,
      firstSeed: options.seed ?? 1,
      crashCopies,
    });
  }
}
