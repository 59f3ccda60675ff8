import { join, resolve } from 'node:path';
import { SCRIPT_MARK, shellWord, writeScript } from '../host/index.js';

/** What `RunBroker` starts. */
export interface RunBrokerPlaces {
  /** Where it is written. */
  readonly brokerDirectory: string;
  readonly configFile: string;
  readonly host: string;
  readonly webPort: number | undefined;
  /** The words that run `harvest`: absolute paths. */
  readonly harvest: readonly string[];
}

/**
 * BRK-6.6: writes `RunBroker` into the Broker's directory where it is missing or still ours. It works from any directory, and
 * takes `-new` and `-nocol`.
 *
 * @returns whether it was written
 * @throws StorageError when it cannot be
 */
export function writeRunBroker(places: RunBrokerPlaces): Promise<boolean> {
  return writeScript(join(places.brokerDirectory, 'RunBroker'), runBroker(places));
}

function runBroker({ brokerDirectory, configFile, host, webPort, harvest }: RunBrokerPlaces): string {
  const words = [
    ...harvest,
    'broker',
    '--detach',
    '--host',
    host,
    ...(webPort === undefined ? [] : ['--web-port', String(webPort)]),
    resolve(configFile),
  ];
  return `#!/bin/sh
${SCRIPT_MARK}
# Starts the broker in the background, its output in broker.out. For the boot file; takes -new and -nocol.
cd ${shellWord(resolve(brokerDirectory))} || exit 1
exec ${words.map(shellWord).join(' ')} "$@"
`;
}
