// Finds the links that a configuration names, and loads them if a dump is newer.
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RefererConfig } from '../../protocols/config/referer-conf.js';
import { StorageError } from '../../protocols/errors.js';
import { berkeleyFile } from '../../storage/references/berkeley-db.js';
import { referencesDirectory } from '../../storage/references/format.js';
import { loadReferences } from '../../storage/references/load.js';
import { LEVEL } from './level.js';
import type { RefererLog } from './log.js';

/** The parameters that name the databases. */
export type DatabaseNames = Pick<RefererConfig, 'refdb' | 'urldb' | 'hubsdb'>;

/** The links that a configuration names, ready to be served. */
export interface PreparedData {
  /** The data directory. */
  readonly directory: string;
  /**
   * Files and directories that loading created; the user that the server becomes must own them to load again
   * (R-55).
   */
  readonly written: readonly string[];
}

/**
 * Returns the data directory for the names of the original: `refdb` itself if it is one, else the
 * directory of that file; `refdb = base/refs.db` is served from the links published in `base`.
 *
 * If `refdb` is a file newer than the published links, it is loaded first: a Berkeley DB file, a dump
 * or pairs, with the documents of `urldb` (JSON lines), and checked against `hubsdb` if that is a file.
 * Databases that are copied here therefore take effect at a start, a `/reload` or SIGHUP. `srvdb` is not
 * needed: the URLs of the documents name their servers.
 *
 * @throws StorageError when nothing is published there and there is nothing to load
 */
export async function prepareData(
  names: DatabaseNames,
  log: RefererLog,
  signal?: AbortSignal,
): Promise<PreparedData> {
  const { refdb } = names;
  if ((await publishedAt(refdb)) !== undefined) return { directory: refdb, written: [] };
  const directory = dirname(refdb);
  const published = await publishedAt(directory);
  const dump = await fileTime(refdb);
  if (dump !== undefined && dump > (published ?? Number.NEGATIVE_INFINITY)) {
    await load(names, directory, log, signal);
    const published = referencesDirectory(directory);
    const inside = await readdir(published);
    return { directory, written: [published, ...inside.map((name) => join(published, name))] };
  }
  if (published === undefined) {
    throw new StorageError(
      `refdb: there is neither a dump ${refdb} nor are links published in ${directory} (\`harvest links load --data ${directory}\`)`,
    );
  }
  return { directory, written: [] };
}

async function load(
  { refdb, urldb, hubsdb }: DatabaseNames,
  data: string,
  log: RefererLog,
  signal: AbortSignal | undefined,
): Promise<void> {
  const records = await berkeleyFile(urldb);
  if (records !== undefined) {
    const remedy = '`harvest links load --documents` takes them as JSON lines';
    log.write(
      LEVEL.warning,
      `${urldb} is ${records.description}, and the layout of its records is not recorded (R-16): ${remedy}`,
    );
  }
  const documents = records !== undefined || (await fileTime(urldb)) === undefined ? undefined : urldb;
  const hubs = (await fileTime(hubsdb)) === undefined ? undefined : hubsdb;
  if (documents === undefined) {
    log.write(LEVEL.warning, `there are no documents in ${urldb}: all URLs are unknown`);
  }
  log.write(LEVEL.notice, `loading ${[refdb, documents, hubs].filter(Boolean).join(', ')}`);
  await loadReferences({ data, refs: refdb, documents, hubs, signal });
}

/** Returns when the newest generation was published, in milliseconds since 1970; undefined if none is. */
async function publishedAt(directory: string): Promise<number | undefined> {
  return fileTime(join(referencesDirectory(directory), 'CURRENT'));
}

/** Returns when a file was last changed, in milliseconds since 1970; undefined if it does not exist. */
async function fileTime(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? found.mtimeMs : undefined;
}
