import { basename, dirname, join, resolve } from 'node:path';
import { SCRIPT_MARK, shellWord, writeScript } from '../host/script-file.js';

/** The paths and arguments in a Gatherer's scripts. */
export interface GathererScriptOptions {
  /** Directory of the scripts: Top-Directory. */
  readonly directory: string;
  /** The Gatherer's configuration file. */
  readonly configurationFile: string;
  readonly dataDirectory: string;
  /** Command-line options of RunGatherer that are not in the configuration file. */
  readonly gathererOptions?: readonly string[];
  /** Address and port of gatherd. */
  readonly host: string;
  readonly port: number;
  /** Command that runs `harvest`, e.g. the interpreter and the program; absolute paths. */
  readonly harvest: readonly string[];
}

/**
 * Writes `RunGatherer`, for cron (G-153), and `RunGatherd`, for system startup (G-154), into a Gatherer's
 * directory (G-152), unless the user has changed them. They work from any directory.
 *
 * @returns the names of the scripts that were written
 * @throws StorageError if one cannot be written
 */
export async function writeGathererScripts(options: GathererScriptOptions): Promise<readonly string[]> {
  const scripts: Readonly<Record<string, string>> = {
    RunGatherer: runGatherer(options),
    RunGatherd: runGatherd(options),
  };
  const written: string[] = [];
  for (const [name, text] of Object.entries(scripts)) {
    if (await writeScript(join(options.directory, name), text)) written.push(name);
  }
  return written;
}

/**
 * G-153: NNTPSERVER of the environment is kept; programs in the Gatherer's own `bin` are found first (G-152).
 */
function runGatherer(options: GathererScriptOptions): string {
  const { directory, configurationFile, gathererOptions = [], harvest } = options;
  const file = resolve(configurationFile);
  const command = [...harvest, 'gatherer', ...gathererOptions];
  return `#!/bin/sh
${SCRIPT_MARK}
# Gathers once, publishes, starts gatherd if it is not running. For cron.
${ENVIRONMENT}
PATH=${shellWord(join(resolve(directory), 'bin'))}:"$PATH"
NNTPSERVER="\${NNTPSERVER:-localhost}"
export NNTPSERVER
cd ${shellWord(dirname(file))} || exit 1
exec ${command.map(shellWord).join(' ')} "$@" ${shellWord(basename(file))}
`;
}

/** G-154. */
function runGatherd({ dataDirectory, host, port, harvest }: GathererScriptOptions): string {
  return `#!/bin/sh
${SCRIPT_MARK}
# Starts gatherd in the background. For system startup.
${ENVIRONMENT}
exec ${harvest.map(shellWord).join(' ')} gatherd --detach --host ${shellWord(host)} -d ${shellWord(resolve(dataDirectory))} "$@" ${port}
`;
}

/** G-153, G-154, G-162: the directories in which the original programs find each other. */
const ENVIRONMENT = `HARVEST_HOME="\${HARVEST_HOME:-/usr/local/harvest}"
PATH="$HARVEST_HOME/bin:$HARVEST_HOME/lib/gatherer:$HARVEST_HOME/lib:$PATH"
export HARVEST_HOME PATH`;
