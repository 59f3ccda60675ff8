// The project's frontier for its conformance suite.
import { join } from 'node:path';
import type {
  FrontierSetup,
  FrontierUnderTest,
} from '../../../servers/crawler/frontier/conformance/index.js';
import { Frontier } from '../../../servers/crawler/frontier/frontier.js';
import { type GathererBatch, GathererStore } from '../../../storage/index.js';
import { openSeenFilter, type SeenKind } from '../../../storage/seen/index.js';

export type OpenFrontier = FrontierUnderTest<GathererBatch>;

/** Returns what opens the project's frontier; the seen filter is in the store, or has its own files. */
export function opener(
  kind: SeenKind,
  overlapWrites = false,
): (directory: string, setup: FrontierSetup) => Promise<OpenFrontier> {
  return async (directory, { smallMemory, ...setup }) => {
    const store = await GathererStore.open(join(directory, 'working'));
    const seen =
      kind === 'level'
        ? await store.openSeenFilter()
        : await openSeenFilter({ kind, directory: join(directory, 'seen'), bloomCapacity: 10_000 });
    const memory = smallMemory ? { restingQueues: 2, windowEntries: 8 } : {};
    const frontier = await Frontier.open({ store, seen, ...setup, ...memory, overlapWrites });
    return {
      frontier,
      batch: () => store.batch(),
      async [Symbol.asyncDispose]() {
        frontier.close();
        await frontier.settled();
        await seen.close();
        await store.close();
      },
    };
  };
}
