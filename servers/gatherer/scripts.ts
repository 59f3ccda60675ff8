import { randomBytes } from 'node:crypto';
import { chmod, lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { StorageError } from '../../protocols/errors.js';

/** What the scripts of a Gatherer start. */
export interface ScriptPlaces {
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

/** A file with this line is ours to replace. */
const MARK = '# Written by harvest-kit. Take this line away to keep changes.';

/**
 * Writes `RunGatherer`, for cron (G-153), and `RunGatherd`, for the boot file (G-154), into a Gatherer's directory (G-152),
 * where they are missing or still ours. They work from any directory.
 *
 * @returns the names of those that were written
 * @throws StorageError when one cannot be written
 */
export async function writeGathererScripts(places: ScriptPlaces): Promise<readonly string[]> {
  const scripts: Readonly<Record<string, string>> = {
    RunGatherer: runGatherer(places),
    RunGatherd: runGatherd(places),
  };
  const written: string[] = [];
  for (const [name, text] of Object.entries(scripts)) {
    const path = join(places.directory, name);
    try {
      if (await mayWrite(path, text)) {
        await replace(path, text);
        written.push(name);
      }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StorageError(`${path} cannot be written: ${why}`, { cause });
    }
  }
  return written;
}

/** G-153: the news server of whoever runs it is kept; programs of the Gatherer's own `bin` are found first (G-152). */
function runGatherer(places: ScriptPlaces): string {
  const { directory, configurationFile, gathererOptions = [], harvest } = places;
  const file = resolve(configurationFile);
  const words = [...harvest, 'gatherer', ...gathererOptions];
  return `#!/bin/sh
${MARK}
# Gathers once, publishes, starts gatherd if none is running. For cron.
${ENVIRONMENT}
PATH=${quoted(join(resolve(directory), 'bin'))}:"$PATH"
NNTPSERVER="\${NNTPSERVER:-localhost}"
export NNTPSERVER
cd ${quoted(dirname(file))} || exit 1
exec ${words.map(quoted).join(' ')} "$@" ${quoted(basename(file))}
`;
}

/** G-154. */
function runGatherd({ dataDirectory, host, port, harvest }: ScriptPlaces): string {
  return `#!/bin/sh
${MARK}
# Starts gatherd in the background. For the boot file.
${ENVIRONMENT}
exec ${harvest.map(quoted).join(' ')} gatherd --detach --host ${quoted(host)} -d ${quoted(resolve(dataDirectory))} "$@" ${port}
`;
}

/** G-153, G-154, G-162: where the original programs look for each other. */
const ENVIRONMENT = `HARVEST_HOME="\${HARVEST_HOME:-/usr/local/harvest}"
PATH="$HARVEST_HOME/bin:$HARVEST_HOME/lib/gatherer:$HARVEST_HOME/lib:$PATH"
export HARVEST_HOME PATH`;

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

/** There whole or not at all: cron may be starting it just now. */
async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(draft, text, { flag: 'wx' });
  await chmod(draft, 0o755);
  await rename(draft, path);
}
