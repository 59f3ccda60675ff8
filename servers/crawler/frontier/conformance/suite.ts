import { historyTests } from './histories.js';
import { lifeCycleTests } from './life-cycle.js';
import { operationTests } from './operations.js';
import { operatorTests } from './operators.js';
import type { FrontierConformance } from './options.js';
import { memoryTests, persistenceTests } from './persistence.js';
import { inDirectory, type OpenScene, sceneOpener } from './scene.js';
import { waitingTests } from './waiting.js';

/**
 * Registers the tests of the frontier's contract (CRAWL-5) with a test runner. Time passes only on the clock that the factory receives;
 * no test depends on the speed of the machine.
 */
export function frontierConformance<Batch>(options: FrontierConformance<Batch>): void {
  const {
    persistence = true,
    crashCopies = true,
    withoutHolding = true,
    relocation = true,
  } = options.manifest ?? {};
  const test = (name: string, run: (open: OpenScene<Batch>) => Promise<void>): void => {
    options.test(name, () => inDirectory((directory) => run(sceneOpener(options, directory))));
  };
  operationTests(test);
  lifeCycleTests(test, { withoutHolding, relocation });
  operatorTests(test);
  waitingTests(test);
  if (persistence) persistenceTests(test, crashCopies);
  memoryTests(test);
  if (persistence) historyTests(test, options.histories ?? 15, options.seed ?? 1);
}
