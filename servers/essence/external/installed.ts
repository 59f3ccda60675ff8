import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { ProgramSettings } from './limits.js';

/**
 * Where the programs of the machine are: `$HARVEST_HOME/lib/gatherer`, `$HARVEST_HOME/bin`, then PATH (E-61, G-54).
 * @param environment e.g. `process.env`
 */
export function installedPrograms(
  environment: Readonly<Record<string, string | undefined>>,
): Required<Pick<ProgramSettings, 'installedDirectories' | 'path' | 'environment'>> {
  const { PATH: path = '', HARVEST_HOME: home } = environment;
  const ofHarvest =
    home === undefined || home === '' ? [] : [join(home, 'lib', 'gatherer'), join(home, 'bin')];
  return {
    installedDirectories: existingDirectories([...ofHarvest, ...path.split(delimiter).filter(isAbsolute)]),
    path: [...ofHarvest, path].join(delimiter),
    environment: home === undefined || home === '' ? {} : { HARVEST_HOME: home },
  };
}

/** Returns the absolute paths of the directories that exist, each once, in their order. */
export function existingDirectories(directories: readonly string[]): string[] {
  return [...new Set(directories.map((directory) => resolve(directory)))].filter((path) => existsSync(path));
}
