// What several cases about a gatherd do.
import type { Procedure } from '../case.js';
import { withSurvey } from '../server-context.js';
import type { Wire } from '../wire.js';
import { FAR_FUTURE, type GatherdContext } from './context.js';
import type { Survey } from './survey.js';
import { readUpdate } from './transfer.js';

/** Time limit of a case that may transfer a large database; a server that sends nothing fails it earlier. */
export const TRANSFER_MS = 600_000;

/** An update without objects. */
export const NOTHING_NEW = `SEND-UPDATE ${FAR_FUTURE}`;

/** Compares answers with the first full transfer of the run. */
export const surveyed = withSurvey<Survey, GatherdContext>(TRANSFER_MS);

/** As {@link surveyed}; skips the case if the database has fewer objects. */
export function surveyedWith(
  objects: number,
  run: (survey: Survey, context: GatherdContext) => void | Promise<void>,
): Procedure<GatherdContext> {
  return {
    timeoutMs: TRANSFER_MS,
    run: async (context) => run(await context.surveyWith(objects), context),
  };
}

/** Runs a session, after its greeting. */
export function inSession(
  run: (wire: Wire, context: GatherdContext) => Promise<unknown>,
): Procedure<GatherdContext> {
  return {
    async run(context) {
      await run(await context.session(), context);
    },
  };
}

/** Sends a command and checks the number of the answer. @throws Mismatch */
export async function exchange(
  wire: Wire,
  command: string,
  code: number,
  described = command,
): Promise<void> {
  await wire.send(`${command}\n`);
  await wire.expect(code, described);
}

/**
 * Sends commands in one session, each after the answer to the one before it, and checks the numbers of the
 * answers.
 */
export function answers(
  ...exchanges: readonly (readonly [command: string, code: number, described: string])[]
): Procedure<GatherdContext> {
  return inSession(async (wire) => {
    for (const one of exchanges) await exchange(wire, ...one);
  });
}

/** Sends a line that is the command {@link NOTHING_NEW} in another form, and reads the update. */
export function updates(line: string): Procedure<GatherdContext> {
  return inSession(async (wire) => {
    await wire.send(line);
    await readUpdate(wire, NOTHING_NEW);
  });
}
