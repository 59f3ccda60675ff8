import { randomBytes } from 'node:crypto';
import { lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StorageError } from '../../protocols/errors.js';

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

/** A file with this line is ours to replace. */
const MARK = '# Written by harvest-kit. Take this line away to keep changes.';

/**
 * BRK-6.6: writes `RunBroker` into the Broker's directory where it is missing or still ours. It works from any directory, and
 * takes `-new` and `-nocol`.
 *
 * @returns whether it was written
 * @throws StorageError when it cannot be
 */
export async function writeRunBroker(places: RunBrokerPlaces): Promise<boolean> {
  const path = join(places.brokerDirectory, 'RunBroker');
  const text = runBroker(places);
  try {
    if (!(await mayWrite(path, text))) return false;
    const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
    await writeFile(draft, text, { flag: 'wx', mode: 0o755 });
    await rename(draft, path);
    return true;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StorageError(`${path} cannot be written: ${why}`, { cause });
  }
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
${MARK}
# Starts the broker in the background, its output in broker.out. For the boot file; takes -new and -nocol.
cd ${quoted(resolve(brokerDirectory))} || exit 1
exec ${words.map(quoted).join(' ')} "$@"
`;
}

/** Whatever a path holds, for the shell it is one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Missing, or ours and not what it should be. */
async function mayWrite(path: string, text: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isFile()) return false;
    const found = await readFile(path, 'utf8');
    return found !== text && found.split('\n').includes(MARK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
