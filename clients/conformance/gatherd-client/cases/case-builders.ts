// Builds cases about complete and failed transfers, in clear and compressed.
import type { CaseDescription, ConformanceCase } from '../../case.js';
import type { ClientContext } from '../bench.js';
import {
  behaviorInClear,
  checkComplete,
  checkReportsFailure,
  observeCompressed,
  observeInClear,
} from '../checks.js';
import type { Behavior, Step } from '../dialogue.js';
import { type Content, PLAIN } from '../objects.js';

export type ClientCase = ConformanceCase<ClientContext>;

/** A transfer in clear that the client must receive completely. */
export function completeCase(
  description: CaseDescription,
  content: Content,
  behavior: Behavior = {},
): ClientCase {
  return {
    ...description,
    async run(context) {
      await checkComplete(
        await observeInClear(behaviorInClear(content, behavior), context),
        content,
        context,
      );
    },
  };
}

/** A compressed transfer that the client must receive completely. Skipped if the client never requests compression. */
export function completeMemberCase(
  description: CaseDescription,
  update: readonly Step[],
  content: Content = PLAIN,
  behavior: Behavior = {},
): ClientCase {
  return {
    ...description,
    async run(context) {
      const observation = await observeCompressed(update, behavior, context);
      await checkComplete(observation, content, context);
    },
  };
}

/** A transfer in clear that fails; the client must report it. */
export function brokenCase(description: CaseDescription, behavior: Behavior): ClientCase {
  return {
    ...description,
    async run(context) {
      checkReportsFailure(
        await observeInClear({ compression: ['900 - Compression not available'], ...behavior }, context),
      );
    },
  };
}

/** A compressed transfer that fails; the client must report it. */
export function brokenMemberCase(description: CaseDescription, update: readonly Step[]): ClientCase {
  return {
    ...description,
    async run(context) {
      checkReportsFailure(await observeCompressed(update, {}, context));
    },
  };
}
