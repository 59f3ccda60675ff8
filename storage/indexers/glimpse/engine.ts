import { join } from 'node:path';
import { type Engine, workLimit } from '../engine.js';

/** Glimpse as a value of `Indexer-Type`. */
export const GLIMPSE: Engine = {
  title: 'Glimpse',
  section: 102,
  program: 'glimpse',
  isChoiceOfInit: true,
  async open(options) {
    const { openGlimpseIndexer } = await import('./open-glimpse.js');
    const { brokerDirectory, storeDirectory, glimpseIndexOption, glimpseServerPort, onWarning } = options;
    const server = options.glimpseServerHost === false ? undefined : glimpseServerPort;
    return openGlimpseIndexer({
      directory: join(brokerDirectory, 'glimpse'),
      objectsDirectory: join(brokerDirectory, 'objects'),
      storeDirectory,
      indexOption: glimpseIndexOption,
      server: server === undefined ? undefined : { port: server },
      ...workLimit(options.maxWork),
      onWarning,
    });
  },
};
