import { join } from 'node:path';
import { UsageError } from '../../../protocols/errors.js';
import { type Engine, workLimit } from '../engine.js';

/** Where OpenSearch listens when it is installed without a configuration. */
const DEFAULT_NODE = 'http://127.0.0.1:9200';

/** OpenSearch as a value of `Indexer-Type`. The table of BRK-6.5 has no section for it: that of PLWeb is used. */
export const OPENSEARCH: Engine = {
  title: 'OpenSearch',
  section: 101,
  isChoiceOfInit: true,
  async open({ brokerDirectory, storeDirectory, maxWork, openSearch = {}, onWarning }) {
    const { openOpenSearchIndexer } = await import('./opensearch-indexer.js');
    const { urls = [], index, loginFile } = openSearch;
    if (index === undefined) throw new UsageError('OpenSearch-Index: must be given');
    return openOpenSearchIndexer({
      directory: join(brokerDirectory, 'opensearch'),
      storeDirectory,
      nodes: urls.length === 0 ? [DEFAULT_NODE] : urls,
      index,
      loginFile,
      limits: workLimit(maxWork),
      onWarning,
    });
  },
};
