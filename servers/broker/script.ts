// Writes the script `RunBroker` (BRK-6.6).
import { join, resolve } from 'node:path';
import { SCRIPT_MARK, shellWord, writeScript } from '../host/script-file.js';

/** Options of {@link writeRunBroker}. */
export interface RunBrokerOptions {
  /** Directory of the script. */
  readonly brokerDirectory: string;
  readonly configFile: string;
  readonly host: string;
  readonly webPort: number | undefined;
  /** The command line that runs `harvest`, with absolute paths. */
  readonly harvest: readonly string[];
}

/**
 * BRK-6.6: writes `RunBroker` into the Broker's directory, unless it contains a script of that name that is not
 * ours. The script works from any directory and accepts `-new` and `-nocol`.
 *
 * @returns whether it was written
 * @throws StorageError when it cannot be written
 */
export function writeRunBroker(options: RunBrokerOptions): Promise<boolean> {
  return writeScript(join(options.brokerDirectory, 'RunBroker'), scriptText(options));
}

function scriptText({ brokerDirectory, configFile, host, webPort, harvest }: RunBrokerOptions): string {
  const command = [
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
# Starts the broker in the background, with its output in broker.out. For system startup. Accepts -new and -nocol.
cd ${shellWord(resolve(brokerDirectory))} || exit 1
exec ${command.map(shellWord).join(' ')} "$@"
`;
}
