import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GathererConfig } from '../../protocols/config/index.js';
import type { EssenceOptions, EssencePoolOptions } from '../essence/index.js';
import { findConfigFile } from './config-files.js';

/** Returns the Essence options of a Gatherer's configuration; its Essence-Options precede the variables (E-116). */
export function essenceOptionsOf(config: GathererConfig): EssencePoolOptions {
  const { libDirectory, stoplist, allowlist, ...switches } = config.essenceOptions;
  const libName = libDirectory ?? config.libDirectory;
  const lib = libName === undefined ? undefined : findConfigFile(config, libName);
  const rules =
    config.postSummarizing === undefined ? undefined : findConfigFile(config, config.postSummarizing);
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

/** E-22, G-20: a name with a slash is a path; Essence itself searches for other names, first in Lib-Directory. */
function listFile(config: GathererConfig, name: string): string {
  return name.includes('/') ? findConfigFile(config, name) : name;
}

/** E-46, E-61: the user's programs are in Lib-Directory and its sibling `bin`; programs of rules (E-135) also in the PATH. */
function programsOf(lib: string | undefined): NonNullable<EssenceOptions['programs']> {
  const candidates = lib === undefined ? [] : [lib, join(dirname(lib), 'bin')];
  const directories = candidates.filter((path) => existsSync(path));
  const { PATH: path = '', HARVEST_HOME } = process.env;
  const environment = HARVEST_HOME === undefined ? {} : { HARVEST_HOME };
  return { directories, path, environment };
}
