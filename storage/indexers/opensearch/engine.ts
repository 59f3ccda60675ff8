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
  configuration: `OpenSearch-URL ${DEFAULT_NODE}
# A file whose first line is user:password, and one with the certificates of your own authority:
#OpenSearch-Login admin/opensearch.login
#OpenSearch-CA admin/opensearch.pem
`,
  async examine({ brokerDirectory, isStoreShared, openSearch = {} }) {
    const { examineCluster } = await import('./examine-cluster.js');
    const { urls = [], index = '', loginFile, authorityFile } = openSearch;
    return examineCluster({
      directory: join(brokerDirectory, 'opensearch'),
      nodes: urls.length === 0 ? [DEFAULT_NODE] : urls,
      index,
      loginFile,
      authorityFile,
      isStoreShared,
    });
  },
  async open({ brokerDirectory, storeDirectory, storeName, maxWork, openSearch = {}, onWarning }) {
    const { openOpenSearchIndexer } = await import('./opensearch-indexer.js');
    const { urls = [], index, loginFile, authorityFile } = openSearch;
    if (index === undefined) throw new UsageError('OpenSearch-Index: must be given');
    return openOpenSearchIndexer({
      directory: join(brokerDirectory, 'opensearch'),
      storeDirectory,
      storeName,
      nodes: urls.length === 0 ? [DEFAULT_NODE] : urls,
      index,
      loginFile,
      authorityFile,
      limits: workLimit(maxWork),
      onWarning,
    });
  },
};
