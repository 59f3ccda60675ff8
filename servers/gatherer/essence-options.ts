import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filePaths, type GathererConfig } from '../../protocols/config/index.js';
import type { EssenceOptions } from './essence/index.js';

/** What a Gatherer's configuration says about summaries. */
export function essenceOptionsOf(config: GathererConfig): EssenceOptions {
  const lib = firstThere(config, config.libDirectory);
  const rules = firstThere(config, config.postSummarizing);
  return {
    gathererName: config.gathererName,
    gathererHost: config.gathererHost,
    gathererVersion: config.gathererVersion,
    refreshRate: config.refreshRate,
    timeToLive: config.timeToLive,
    programs: programsOf(lib),
    ...(lib === undefined ? {} : { libDirectory: lib }),
    ...(rules === undefined ? {} : { postSummarizing: rules }),
  };
}

/** G-20: looked for in Top-Directory, then in the current directory; what is nowhere stays as it is, for an error to name it. */
function firstThere(config: GathererConfig, name: string | undefined): string | undefined {
  return name === undefined ? undefined : (filePaths(config, name).find((path) => existsSync(path)) ?? name);
}

/** E-46, E-61: the user's own programs, in Lib-Directory and in `bin` beside it; those of rules (E-135) also in the PATH. */
function programsOf(lib: string | undefined): NonNullable<EssenceOptions['programs']> {
  const places = lib === undefined ? [] : [lib, join(dirname(lib), 'bin')];
  const directories = places.filter((path) => existsSync(path));
  const { PATH: path = '', HARVEST_HOME } = process.env;
  const environment = HARVEST_HOME === undefined ? {} : { HARVEST_HOME };
  return { directories, path, environment };
}
