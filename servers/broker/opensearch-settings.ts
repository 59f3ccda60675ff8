// The variables of broker.conf for OpenSearch, as its engine takes them.
import { resolve } from 'node:path';
import type { BrokerConfig } from '../../protocols/config/index.js';
import type { OpenSearchSettings } from '../../storage/indexers/engine.js';

/** The settings of the engine; files are relative to `Broker-Directory`. */
export function openSearchSettings(
  config: Pick<
    BrokerConfig,
    | 'brokerDirectory'
    | 'brokerName'
    | 'openSearchUrl'
    | 'openSearchIndex'
    | 'openSearchLogin'
    | 'openSearchAuthority'
  >,
): OpenSearchSettings {
  const fileOf = (name: string | undefined) =>
    name === undefined ? undefined : resolve(config.brokerDirectory, name);
  return {
    urls: config.openSearchUrl,
    index: config.openSearchIndex ?? config.brokerName,
    loginFile: fileOf(config.openSearchLogin),
    authorityFile: fileOf(config.openSearchAuthority),
  };
}
