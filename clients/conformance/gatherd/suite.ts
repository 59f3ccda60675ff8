// The suite `gatherd`.
import { ConnectionError } from '../../../protocols/errors.js';
import { GATHERD_PORT } from '../../../protocols/gatherd/index.js';
import { printable } from '../printable.js';
import type { Suite } from '../runner.js';
import { factsOf, prepareServer } from '../server-context.js';
import { targetOf } from '../wire.js';
import { changesCases } from './changes-cases.js';
import { compressionCases } from './compression-cases.js';
import { type GatherdCase, GatherdContext, type SharedFacts } from './context.js';
import { dialogueCases } from './dialogue-cases.js';
import { fixtureCases } from './fixture-cases.js';
import { objectCases } from './object-cases.js';
import { sequenceCases } from './sequence-cases.js';
import { enduranceCases, sessionCases } from './session-cases.js';
import { updateCases } from './update-cases.js';

const CASES: readonly GatherdCase[] = [
  ...dialogueCases,
  ...updateCases,
  ...objectCases,
  ...compressionCases,
  ...changesCases,
  ...sequenceCases,
  ...fixtureCases,
  ...sessionCases,
  ...enduranceCases,
];

/** Checks a gatherd from outside. The database should not change during the run. */
export const suite: Suite = {
  name: 'gatherd',
  title: 'a gatherd: greeting, commands, updates, compression, INFO, endurance',
  usage: 'HOST[:PORT]',
  cases: CASES,
  async prepare(args, options) {
    const shared: SharedFacts = {
      ...factsOf(targetOf(args, GATHERD_PORT), options),
      survey: undefined,
    };
    return prepareServer('gatherd', CASES, GatherdContext, shared, options, assertServed);
  },
};

/**
 * Rejects with ConnectionError when no server listens, or when it does not serve us (GATHERD-3.10). Accepts a
 * server that sends nothing or breaks the connection: the cases show its defects.
 */
async function assertServed(context: GatherdContext): Promise<void> {
  const wire = await context.connect();
  const first = await wire.read().catch((error: unknown) => {
    if (error instanceof ConnectionError) return undefined;
    throw error;
  });
  const text = Buffer.from(first ?? []).toString('latin1');
  if (text.startsWith('999')) {
    throw new ConnectionError(`${context.target} does not serve us: ${printable(text)}`);
  }
}
