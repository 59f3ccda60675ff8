// Loads the operator's own code, which a configuration names: fetchers, summarizers, search engines.
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { ConfigError, messageOf } from '../../protocols/errors.js';

/** Options of {@link importFunction}. */
export interface ImportOptions {
  /** The directive that names the module, for errors; default none. */
  readonly directive?: string;
  /** Whether a file that has changed is loaded again. Default false. */
  readonly again?: boolean;
}

/**
 * Loads a module with `import()`, which runs it, and returns one of its functions.
 *
 * @param file absolute path
 * @throws ConfigError naming the file if it cannot be loaded or does not export the function
 */
export async function importFunction(
  file: string,
  name: string,
  { directive = '', again = false }: ImportOptions = {},
): Promise<(argument: unknown) => unknown> {
  let loaded: unknown;
  try {
    const { href } = pathToFileURL(file);
    loaded = await import(again ? `${href}?changed=${(await stat(file)).mtimeMs}` : href);
  } catch (error) {
    throw new ConfigError(file, 0, directive, `cannot be loaded: ${messageOf(error)}`);
  }
  const found: unknown = Reflect.get(loaded as object, name);
  if (typeof found !== 'function') throw new ConfigError(file, 0, directive, `exports no function ${name}`);
  return (argument) => found(argument);
}
