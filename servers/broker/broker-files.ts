// The files of a broker that other programs read too.
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type BrokerConfig, parseBrokerConf } from '../../protocols/config/broker-conf.js';
import { withBrokerSettings } from '../../protocols/config/broker-conf-set.js';
import type { ConfigError } from '../../protocols/errors.js';
import { rethrowAs, UsageError } from '../../protocols/errors.js';
import { passwordFileWarning } from '../host/password-file.js';

/** The contents of a `broker.conf` and its warnings. */
export interface ReadConfiguration {
  readonly config: BrokerConfig;
  readonly warnings: readonly ConfigError[];
}

/**
 * Reads a `broker.conf`; the default of Broker-Directory is the parent of the file's directory (BRK-6.6).
 *
 * @param settings variables that precede those of the file, by their names
 * @throws UsageError when it cannot be read, ConfigError for an invalid value
 */
export async function readBrokerConf(
  file: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ReadConfiguration> {
  const path = resolve(file);
  const text = await readFile(path, 'utf8').catch(rethrowAs(UsageError, `${file}: cannot be read`));
  const { config: read, warnings } = parseBrokerConf(text, file, { brokerDirectory: dirname(dirname(path)) });
  const config = withBrokerSettings(read, settings);
  const readable = config.adminPassword === '' ? undefined : passwordFileWarning(path, 'Admin-Password');
  return { config, warnings: readable === undefined ? warnings : [...warnings, readable] };
}

/** Path of the pid file of a running broker. */
export function brokerPidFile(brokerDirectory: string): string {
  return join(brokerDirectory, 'admin', 'broker.pid');
}
