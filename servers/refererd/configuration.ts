// Reads the configuration file of the original program.
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { parseRefererConf, type RefererConfig } from '../../protocols/config/referer-conf.js';
import type { ConfigError } from '../../protocols/errors.js';
import { rethrowAs, StorageError } from '../../protocols/errors.js';
import { passwordFileWarning } from '../host/password-file.js';

/** The configuration file, and the facts about the start that its values depend on. */
export interface ConfigurationSource {
  /** Absolute: the program changes its directory. */
  readonly file: string;
  /** the default of `progname`. */
  readonly progname: string;
  /** the root has been changed, so `rootdir` is `/`. */
  readonly chrooted: boolean;
}

/**
 * Reads the configuration file. A relative `rootdir` is relative to the directory in which the program was
 * started.
 *
 * @param startedIn that directory
 * @throws StorageError when the file cannot be read; ConfigError when a value is not valid
 */
export async function readConfiguration(
  source: ConfigurationSource,
  startedIn: string,
): Promise<{ readonly config: RefererConfig; readonly warnings: readonly ConfigError[] }> {
  const { file, progname, chrooted } = source;
  const text = await readFile(file, 'utf8').catch(rethrowAs(StorageError, `${file} cannot be read`));
  const parse = (rootdir?: string) => parseRefererConf(text, file, { progname, rootdir });
  let read = parse(chrooted ? '/' : undefined);
  if (!chrooted && !isAbsolute(read.config.rootdir)) read = parse(resolve(startedIn, read.config.rootdir));
  const { config, warnings } = read;
  const readable = config.scanpass === undefined ? undefined : passwordFileWarning(file, 'scanpass');
  return readable === undefined ? read : { config, warnings: [...warnings, readable] };
}
