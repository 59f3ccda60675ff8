import { existsSync } from 'node:fs';
import { filePaths, type GathererConfig } from '../../../protocols/config/index.js';

/**
 * G-20: finds a file that the configuration names, in Top-Directory, then in the current directory. Returns the
 * name itself for a missing file, so that an error names it.
 */
export function findConfigFile(config: GathererConfig, name: string): string {
  return filePaths(config, name).find((path) => existsSync(path)) ?? name;
}
