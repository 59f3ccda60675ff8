import { join } from 'node:path';
import { type Engine, workLimit } from '../engine.js';

/** Our own engine. The table of BRK-6.5 has no section for it, so it uses that of PLWeb. */
export const EMBEDDED: Engine = {
  title: 'Embedded',
  section: 101,
  isChoiceOfInit: false,
  async open({ brokerDirectory, storeDirectory, maxWork }) {
    const { openEmbeddedIndexer } = await import('./embedded-indexer.js');
    const { indexFileIn, openRebuildable } = await import('./rebuildable.js');
    return openRebuildable(join(brokerDirectory, 'index'), (directory) =>
      openEmbeddedIndexer({
        file: indexFileIn(directory),
        storeDirectory,
        rebuildOnError: true,
        ...workLimit(maxWork),
      }),
    );
  },
};
