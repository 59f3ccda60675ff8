// Reads an order as a file, JSON or order.xml, with the files that belong to it, and reports settings without
// effect.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { withChainSettings } from './check-chains.js';
import { ignoredSettings } from './ignored-settings.js';
import { parseJsonWithComments } from './json-with-comments.js';
import type { CrawlOrderConfig } from './order.js';
import { type HostSettings, hostOfSettingsFile, readOrderXml } from './order-xml.js';
import { formatPath, originOf, validateOrder } from './read-order.js';

export interface OrderFile {
  /** With the seeds of its seed file (CRAWL-10.1.5). */
  readonly order: CrawlOrderConfig;
  /** Settings without effect, with file and line. */
  readonly warnings: readonly ConfigError[];
}

/** Maximum number of files of overrides that are read. */
const MAX_OVERRIDES = 10_000;

/**
 * Reads an order, JSON with comments or an order.xml of the 1.x line (CRAWL-19.2) with its seed file, its files
 * of SURT prefixes and its overrides of hosts (CRAWL-19.4).
 * @param file path of the order, to which names of other files are relative
 * @throws ConfigError if the order is not valid, or a file that it names cannot be read
 */
export async function readOrderText(text: string, file: string): Promise<OrderFile> {
  if (text.trimStart().startsWith('<')) return readXml(text, file);
  const { value, lineOf } = parseJsonWithComments(text, file);
  const order = validateOrder(value, file, lineOf);
  const { origins } = withChainSettings(value);
  const placeOf = (path: readonly PropertyKey[]) => ({ file, line: lineOf(originOf(path, origins)) });
  return { order, warnings: effectless(order, placeOf) };
}

async function readXml(text: string, file: string): Promise<OrderFile> {
  const { settingsDirectory, prefixFiles } = readOrderXml(text, file);
  const prefixes = new Map<string, string[]>();
  for (const name of prefixFiles) prefixes.set(name, await readLines(name, file, 'surts-source-file'));
  const directory = resolve(dirname(file), settingsDirectory);
  const overrides = settingsDirectory === '' ? [] : await readOverrides(directory, file);
  const { order, seedsFile, warnings, placeOf } = readOrderXml(text, file, overrides, prefixes);
  const missing =
    settingsDirectory === '' || overrides.length > 0
      ? []
      : [
          new ConfigError(
            file,
            placeOf(['settingsDirectory']).line,
            '',
            `${directory} has no overrides of hosts`,
          ),
        ];
  const seeds = seedsFile === '' ? [] : await readLines(seedsFile, file, 'seedsfile');
  return {
    order: { ...order, seeds: [...order.seeds, ...seeds] },
    warnings: [
      ...warnings.map((warning) => new ConfigError(warning.file, warning.line, '', warning.text)),
      ...missing,
      ...effectless(order, placeOf),
    ].sort((a, b) => Number(a.file !== file) - Number(b.file !== file) || a.line - b.line),
  };
}

function effectless(
  order: CrawlOrderConfig,
  placeOf: (path: readonly PropertyKey[]) => { readonly file: string; readonly line: number },
): ConfigError[] {
  return ignoredSettings(order).map(({ path, problem }) => {
    const { file, line } = placeOf(path);
    return new ConfigError(file, line, formatPath(path), problem);
  });
}

/** Reads the overrides below a directory; none if it does not exist. */
async function readOverrides(directory: string, order: string): Promise<HostSettings[]> {
  const fail = (cause: unknown): never => {
    throw new ConfigError(order, 0, 'settings-directory', `${directory} cannot be read: ${messageOf(cause)}`);
  };
  const names = await readdir(directory, { recursive: true }).catch((cause: unknown) =>
    (cause as NodeJS.ErrnoException).code === 'ENOENT' ? [] : fail(cause),
  );
  const overrides: HostSettings[] = [];
  for (const name of names.sort()) {
    const host = hostOfSettingsFile(name.replaceAll('\\', '/'));
    if (host === undefined) continue;
    if (overrides.length === MAX_OVERRIDES) fail(new Error(`it has more than ${MAX_OVERRIDES} overrides`));
    const file = join(directory, name);
    overrides.push({ host, file, text: await readFile(file, 'utf8').catch(fail) });
  }
  return overrides;
}

/** Returns the lines of a file that an element of an order names. */
async function readLines(name: string, order: string, element: string): Promise<string[]> {
  const path = resolve(dirname(order), name);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ConfigError(order, 0, element, `${path} cannot be read: ${messageOf(cause)}`);
  });
  return text.split(/\r\n|\r|\n/);
}
