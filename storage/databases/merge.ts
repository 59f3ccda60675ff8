// `mergedb` and `consoldb`: merges sources into one database.
import { CloseStack } from '../../protocols/close-stack.js';
import { StorageError } from '../../protocols/errors.js';
import { decodeSoif, overlaySoif, type SoifObject } from '../../protocols/soif/index.js';
import { type ReplaceOptions, replaceFile } from '../files/replace-file.js';
import { DatabaseFile } from './database-file.js';
import { applyObject, openLookup, type ToolOptions, yieldRegularly } from './load.js';
import { recordOf } from './record.js';
import { openSource, type SourceObject } from './sources.js';

/** The result of {@link mergeDatabases}. */
export interface MergeCounts {
  /** The number of objects in the new database. */
  readonly objects: number;
  /** The number of URLs with both manual and automatic data. */
  readonly merged: number;
  /** The number of URLs with manual data only. */
  readonly manualOnly: number;
}

/**
 * `mergedb` (G-139 to G-142, SOIF-5.5): writes a new database with all objects of the automatic source and of
 * the manual sources. If several sources have an attribute, the manual value wins, and among the manual sources
 * the one named first (G-142). Manual attributes come first, as in the printed example (G-140). The new file
 * replaces the old one atomically.
 *
 * Streams the automatic source once and looks the manual ones up by URL.
 *
 * @throws StorageError if `production` exists and `force` is not set, or a source cannot be read
 */
export async function mergeDatabases(
  production: string,
  automatic: string,
  manual: readonly string[],
  options: ToolOptions & ReplaceOptions = {},
): Promise<MergeCounts> {
  await using lookups = new CloseStack();
  const annotations: DatabaseFile[] = [];
  for (const path of manual) annotations.push(lookups.use(await openLookup(path, options)).database);
  const build = async (temporary: string): Promise<MergeCounts> => {
    using database = DatabaseFile.open(temporary, { create: true });
    return await database.transaction(async () => {
      const merged = await addAutomatic(database, openSource(automatic, options), annotations, options);
      const manualOnly = await addManual(database, annotations, options);
      return { objects: database.count, merged, manualOnly };
    });
  };
  rollBackUnfinished(production);
  return await replaceFile(production, build, options);
}

/**
 * Rolls back the unfinished transaction of a killed tool in the file to be replaced. Otherwise SQLite would
 * apply its journal to the new file, which has the same name.
 */
function rollBackUnfinished(path: string): void {
  try {
    DatabaseFile.open(path).close();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

async function addAutomatic(
  database: DatabaseFile,
  objects: AsyncIterable<SourceObject>,
  annotations: readonly DatabaseFile[],
  options: ToolOptions,
): Promise<number> {
  const maybeYield = yieldRegularly(options.signal);
  let merged = 0;
  for await (const item of objects) {
    const manual = manualOf(item.object.url, annotations);
    if (manual === undefined || item.section === 'delete') applyObject(database, item);
    else {
      const { url } = recordOf(manual);
      if (!database.has(url)) merged++;
      database.put(recordOf(overlaySoif(manual, item.object)));
    }
    options.onObject?.();
    await maybeYield();
  }
  return merged;
}

async function addManual(
  database: DatabaseFile,
  annotations: readonly DatabaseFile[],
  options: ToolOptions,
): Promise<number> {
  const maybeYield = yieldRegularly(options.signal);
  let added = 0;
  for (const annotation of annotations) {
    for (const { url } of annotation.entries()) {
      await maybeYield();
      const manual = manualOf(url, annotations);
      if (manual === undefined) continue;
      const record = recordOf(manual);
      if (database.has(record.url)) continue;
      database.put(record);
      options.onObject?.();
      added++;
    }
  }
  return added;
}

/**
 * Returns the manual object of a URL: the attributes of the first source, then those that only later sources
 * have (G-142).
 */
function manualOf(url: string, annotations: readonly DatabaseFile[]): SoifObject | undefined {
  let manual: SoifObject | undefined;
  for (const annotation of annotations) {
    const record = annotation.get(url);
    if (record === undefined) continue;
    const object = decodeSoif(record.soif);
    manual = manual === undefined ? object : overlaySoif(manual, object);
  }
  return manual;
}

/** The result of {@link consolidate}. */
export interface ConsolidateCounts {
  readonly read: number;
  readonly added: number;
  readonly replaced: number;
  /** Objects of the target that were kept because they are not older. */
  readonly kept: number;
}

/**
 * `consoldb` (G-136): merges sources into `database` in one transaction. Of objects with the same URL the one
 * with the newer Update-Time is kept. If the Update-Times are equal or absent, the existing object is kept, so
 * that the additions of `mergedb` stay until the Gatherer has a newer object.
 */
export function consolidate(
  database: DatabaseFile,
  sources: readonly string[],
  options: ToolOptions = {},
): Promise<ConsolidateCounts> {
  const maybeYield = yieldRegularly(options.signal);
  return database.transaction(async () => {
    const counts = { read: 0, added: 0, replaced: 0, kept: 0 };
    for (const source of sources) {
      for await (const { section, object, bytes } of openSource(source, options)) {
        if (section !== 'update') continue;
        counts.read++;
        const record = recordOf(object, bytes);
        const known = database.get(record.url);
        if (known !== undefined && (known.updateTime ?? -1) >= (record.updateTime ?? -1)) counts.kept++;
        else {
          database.put(record);
          counts[known === undefined ? 'added' : 'replaced']++;
        }
        options.onObject?.();
        await maybeYield();
      }
    }
    return counts;
  });
}
