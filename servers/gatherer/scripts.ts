import { basename, dirname, join, resolve } from 'node:path';
import { SCRIPT_MARK, shellWord, writeScript } from '../host/index.js';

/** What the scripts of a Gatherer start. */
export interface ScriptSlots {
  /** Where the scripts are written: Top-Directory. */
  readonly directory: string;
  /** The Gatherer's configuration file. */
  readonly configurationFile: string;
  readonly dataDirectory: string;
  /** Options of the command line that RunGatherer has to repeat, because the configuration file does not have them. */
  readonly gathererOptions?: readonly string[];
  /** Address and port of gatherd. */
  readonly host: string;
  readonly port: number;
  /** The words that run `harvest`, e.g. the interpreter and the program; absolute paths. */
  readonly harvest: readonly string[];
}

/**
 * Writes `RunGatherer`, for cron (G-153), and `RunGatherd`, for the boot file (G-154), into a Gatherer's directory (G-152),
 * where they are missing or still ours. They work from any directory.
 *
 * @returns the names of those that were written
 * @throws StorageError when one cannot be written
 */
export async function writeGathererScripts(places: ScriptSlots): Promise<readonly string[]> {
  const scripts: Readonly<Record<string, string>> = {
    RunGatherer: runGatherer(places),
    RunGatherd: runGatherd(places),
  };
  const written: string[] = [];
  for (const [name, text] of Object.entries(scripts)) {
    if (await writeScript(join(places.directory, name), text)) written.push(name);
  }
  return written;
}

/** G-153: the news server of whoever runs it is kept; programs of the Gatherer's own `bin` are found first (G-152). */
function runGatherer(places: ScriptSlots): string {
  const { directory, configurationFile, gathererOptions = [], harvest } = places;
  const file = resolve(configurationFile);
  const words = [...harvest, 'gatherer', ...gathererOptions];
  return `#!/bin/sh
${SCRIPT_MARK}
# Gathers once, publishes, starts gatherd if none is running. For cron.
${ENVIRONMENT}
PATH=${shellWord(join(resolve(directory), 'bin'))}:"$PATH"
NNTPSERVER="\${NNTPSERVER:-localhost}"
export NNTPSERVER
cd ${shellWord(dirname(file))} || exit 1
exec ${words.map(shellWord).join(' ')} "$@" ${shellWord(basename(file))}
`;
}

/** G-154. */
function runGatherd({ dataDirectory, host, port, harvest }: ScriptSlots): string {
  return `#!/bin/sh
${SCRIPT_MARK}
# Starts gatherd in the background. For the boot file.
${ENVIRONMENT}
exec ${harvest.map(shellWord).join(' ')} gatherd --detach --host ${shellWord(host)} -d ${shellWord(resolve(dataDirectory))} "$@" ${port}
`;
}

/** G-153, G-154, G-162: where the original programs look for each other. */
const ENVIRONMENT = `HARVEST_HOME="\${HARVEST_HOME:-/usr/local/harvest}"
PATH="$HARVEST_HOME/bin:$HARVEST_HOME/lib/gatherer:$HARVEST_HOME/lib:$PATH"
export HARVEST_HOME PATH`;
