import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { filePaths, type GathererConfig } from '../../../protocols/config/index.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { existingDirectories, installedPrograms } from '../../essence/external/find.js';
import type { OwnModules } from '../../essence/external/limits.js';
import type { EssenceOptions } from '../../essence/model.js';
import type { EssencePoolOptions } from '../../essence/pool/pool.js';

/**
 * Returns the Essence options of a Gatherer's configuration; its Essence-Options precede the variables (E-116).
 */
export function essenceOptionsOf(
  config: GathererConfig,
  {
    keepFiles = false,
    modules,
  }: { readonly keepFiles?: boolean; readonly modules?: OwnModules | undefined } = {},
): EssencePoolOptions {
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
    programs: { ...programsOf(config, lib), keepFiles, ...(modules === undefined ? {} : { modules }) },
    libDirectory: lib,
    postSummarizing: rules,
    ...switches,
    stoplist: stoplist === undefined ? undefined : listFile(config, stoplist),
    allowlist: allowlist === undefined ? undefined : listFile(config, allowlist),
  };
}

/**
 * E-22, G-20: a name with a slash is a path; Essence itself searches for other names, first in Lib-Directory.
 */
function listFile(config: GathererConfig, name: string): string {
  return name.includes('/') ? findConfigFile(config, name) : name;
}

/**
 * E-46, E-61, G-54: the programs of the Gatherer are in `bin` of Top-Directory, in Lib-Directory and its
 * sibling `bin`; those of types that Essence does not know also in `$HARVEST_HOME/lib/gatherer`,
 * `$HARVEST_HOME/bin` and PATH, as all programs of rules (E-135).
 */
function programsOf(
  { topDirectory, workingDirectory }: GathererConfig,
  lib: string | undefined,
): NonNullable<EssenceOptions['programs']> {
  const ofLib = lib === undefined ? [] : [lib, join(dirname(lib), 'bin')];
  return {
    directories: existingDirectories([join(topDirectory, 'bin'), ...ofLib]),
    ...installedPrograms(process.env),
    temporaryDirectory: resolve(workingDirectory),
  };
}

/**
 * Essence reads as many links of a document as any setting allows; the setting of its URI may allow fewer
 * (G-173).
 */
export function linkLimit(order: CrawlOrderConfig | undefined): { maxLinks?: number } {
  if (order === undefined) return {};
  const ofSheets = order.sheets.map(({ settings }) => settings.maxOutlinks ?? 0);
  return { maxLinks: Math.max(order.settings.maxOutlinks, ...ofSheets) };
}

/**
 * G-20: finds a file that the configuration names, in Top-Directory, then in the current directory. Returns the
 * name itself for a missing file, so that an error names it.
 */
export function findConfigFile(config: GathererConfig, name: string): string {
  return filePaths(config, name).find((path) => existsSync(path)) ?? name;
}
