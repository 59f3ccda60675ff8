// The mutants of the kit's own gatherd, behind a proxy.
import { referenceServer } from '../clients/conformance/gatherd-reference.js';
import { GATHERD_COMMAND_MUTANTS } from './gatherd-commands.js';
import { GATHERD_DATA_MUTANTS } from './gatherd-data.js';
import { GATHERD_LINE_MUTANTS } from './gatherd-lines.js';
import { type GatherdChange, gatherdLink } from './gatherd-link.js';
import { GATHERD_SEQUENCE_MUTANTS } from './gatherd-sequence.js';
import { GATHERD_VARIANTS } from './gatherd-variants.js';
import type { MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';

export const GATHERD: MutatedSuite<GatherdChange> = {
  suite: 'gatherd',
  covers: /^(?!fixture\/)/,
  slow: /^endurance\/(?:sessions|does-not-read)$/,
  first: ['update/everything'],
  mutants: [
    ...GATHERD_LINE_MUTANTS,
    ...GATHERD_DATA_MUTANTS,
    ...GATHERD_COMMAND_MUTANTS,
    ...GATHERD_SEQUENCE_MUTANTS,
  ],
  variants: GATHERD_VARIANTS,
  async start(t) {
    const port = await referenceServer(t);
    return (change = {}, request) =>
      runProxied('gatherd', port, () => gatherdLink(change), request, { weakness: change.weakness ?? {} });
  },
};
