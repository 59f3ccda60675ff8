// What several cases about a client of gatherd do.
import type { ConformanceCase, Procedure } from '../case.js';
import type { ClientContext, Observation } from './bench.js';
import {
  behaviorInClear,
  checkComplete,
  checkReportsFailure,
  ORDINARY,
  observeCompressed,
  observeInClear,
} from './checks.js';
import type { Behavior, Step } from './dialogue.js';
import { type Content, PLAIN } from './objects.js';

export type ClientCase = ConformanceCase<ClientContext>;

/** Looks at the ordinary session, which is run once for all cases. */
export function ordinary(
  verify: (observation: Observation, context: ClientContext) => void | Promise<void>,
): Procedure<ClientContext> {
  return { run: async (context) => verify(await context.bench.observeOnce(ORDINARY, context), context) };
}

/** Sends a transfer in clear, which the client must receive completely. */
export function complete(content: Content, behavior: Behavior = {}): Procedure<ClientContext> {
  return {
    async run(context) {
      const observation = await observeInClear(behaviorInClear(content, behavior), context);
      await checkComplete(observation, content, context);
    },
  };
}

/**
 * Sends a compressed transfer, which the client must receive completely. Skipped if it never requests
 * compression.
 */
export function completeMember(
  update: readonly Step[],
  content: Content = PLAIN,
  behavior: Behavior = {},
): Procedure<ClientContext> {
  return {
    async run(context) {
      const observation = await observeCompressed(update, behavior, context);
      await checkComplete(observation, content, context);
    },
  };
}

/** Sends a transfer in clear that fails, which the client must report. */
export function broken(...update: readonly Step[]): Procedure<ClientContext> {
  const behavior: Behavior = {
    compression: ['900 - Compression not available'],
    update: () => update,
  };
  return { run: async (context) => checkReportsFailure(await observeInClear(behavior, context)) };
}

/** Sends a compressed transfer that fails, which the client must report. */
export function brokenMember(...update: readonly Step[]): Procedure<ClientContext> {
  return { run: async (context) => checkReportsFailure(await observeCompressed(update, {}, context)) };
}
