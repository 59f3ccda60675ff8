import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filePaths, type GathererConfig } from '../../protocols/config/index.js';
import type { EssenceOptions } from '../essence/index.js';

/** Returns the Essence options of a Gatherer's configuration; its Essence-Options precede the variables (E-116). */
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

/** G-20: searches Top-Directory, then the current directory; returns the name itself for a missing file, so that an error names it. */
function firstThere(config: GathererConfig, name: string | undefined): string | undefined {
  return name === undefined ? undefined : (filePaths(config, name).find((path) => existsSync(path)) ?? name);
}

/** E-22, G-20: a name with a slash is a path; Essence searches for one without, first in Lib-Directory. */
function listFile(config: GathererConfig, name: string): string {
  return name.includes('/') ? (firstThere(config, name) ?? name) : name;
}

/** E-46, E-61: the user's programs are in Lib-Directory and its sibling `bin`; those of rules (E-135) also in the PATH. */
function programsOf(lib: string | undefined): NonNullable<EssenceOptions['programs']> {
  const candidates = lib === undefined ? [] : [lib, join(dirname(lib), 'bin')];
  const directories = candidates.filter((path) => existsSync(path));
  const { PATH: path = '', HARVEST_HOME } = process.env;
  const environment = HARVEST_HOME === undefined ? {} : { HARVEST_HOME };
  return { directories, path, environment };
}
