import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filePaths, type GathererConfig } from '../../protocols/config/index.js';
import type { EssenceOptions } from '../essence/index.js';

/** What a Gatherer's configuration says about summaries; its Essence-Options go before the variables (E-116). */
export function essenceOptionsOf(config: GathererConfig): EssenceOptions {
  const { libDirectory, stoplist, allowlist, ...switches } = config.essenceOptions;
  const lib = firstThere(config, libDirectory ?? config.libDirectory);
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
    ...switches,
    ...(stoplist === undefined ? {} : { stoplist: listFile(config, stoplist) }),
    ...(allowlist === undefined ? {} : { allowlist: listFile(config, allowlist) }),
  };
}

/** G-20: looked for in Top-Directory, then in the current directory; what is nowhere stays as it is, for an error to name it. */
function firstThere(config: GathererConfig, name: string | undefined): string | undefined {
  return name === undefined ? undefined : (filePaths(config, name).find((path) => existsSync(path)) ?? name);
}

/** E-22, G-20: a name with a slash is a path of the Gatherer's; one without is looked up by Essence, in Lib-Directory first. */
function listFile(config: GathererConfig, name: string): string {
  return name.includes('/') ? (firstThere(config, name) ?? name) : name;
}

/** E-46, E-61: the user's own programs, in Lib-Directory and in `bin` beside it; those of rules (E-135) also in the PATH. */
function programsOf(lib: string | undefined): NonNullable<EssenceOptions['programs']> {
  const places = lib === undefined ? [] : [lib, join(dirname(lib), 'bin')];
  const directories = places.filter((path) => existsSync(path));
  const { PATH: path = '', HARVEST_HOME } = process.env;
  const environment = HARVEST_HOME === undefined ? {} : { HARVEST_HOME };
  return { directories, path, environment };
}
