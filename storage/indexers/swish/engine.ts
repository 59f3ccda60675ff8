import { join } from 'node:path';
import { type Engine, workLimit } from '../engine.js';

/** Swish as a value of `Indexer-Type`. */
export const SWISH: Engine = {
  title: 'Swish',
  section: 103,
  program: 'swish-e',
  isChoiceOfInit: true,
  async open({ brokerDirectory, storeDirectory, maxWork, onWarning }) {
    const { openSwishIndexer } = await import('./swish-indexer.js');
    return openSwishIndexer({
      directory: join(brokerDirectory, 'swish'),
      storeDirectory,
      limits: workLimit(maxWork),
      onWarning,
    });
  },
};
