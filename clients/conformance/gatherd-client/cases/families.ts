import type { CaseDescription, ConformanceCase } from '../../case.js';
import type { Part, Step } from '../dialogue.js';
import type { ClientContext } from '../experiment.js';
import { clearPart, isComplete, observeCompressed, observeInClear, saysFailed } from '../judgments.js';
import { type Content, PLAIN } from '../objects.js';

export type ClientCase = ConformanceCase<ClientContext>;

/** A transfer in clear that the client must receive completely. */
export function whole(description: CaseDescription, content: Content, part: Part = {}): ClientCase {
  return {
    ...description,
    async run(context) {
      await isComplete(await observeInClear(clearPart(content, part), context), content, context);
    },
  };
}

/** A compressed transfer that the client must receive completely. Skipped if the client never requests compression. */
export function wholeMember(
  description: CaseDescription,
  update: readonly Step[],
  content: Content = PLAIN,
  part: Part = {},
): ClientCase {
  return {
    ...description,
    async run(context) {
      const observation = await observeCompressed(update, part, context);
      await isComplete(observation, content, context);
    },
  };
}

/** A transfer in clear that fails; the client must report it. */
export function broken(description: CaseDescription, part: Part): ClientCase {
  return {
    ...description,
    async run(context) {
      saysFailed(
        await observeInClear({ compression: ['900 - Compression not available'], ...part }, context),
      );
    },
  };
}

/** A compressed transfer that fails; the client must report it. */
export function brokenMember(description: CaseDescription, update: readonly Step[]): ClientCase {
  return {
    ...description,
    async run(context) {
      saysFailed(await observeCompressed(update, {}, context));
    },
  };
}
