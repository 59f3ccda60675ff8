// `cleandb` deletes records that are not valid SOIF objects; `rmbinary` removes binary data from objects.
import { KitError } from '../../protocols/errors.js';
import {
  decodeSoif,
  problemOf,
  REQUIRED_NAMES,
  type SoifObject,
  textOfUrl,
  truncateKeywords,
  withoutBinary,
} from '../../protocols/soif/index.js';
import type { DatabaseFile } from './database-file.js';
import { type ToolOptions, yieldRegularly } from './load.js';
import { type DatabaseRecord, recordOf } from './record.js';

/** The result of {@link cleanDatabase}. */
export interface CleanCounts {
  readonly read: number;
  readonly deleted: number;
  /** Objects whose Keywords were truncated. */
  readonly truncated: number;
}

/** How to clean a database. */
export interface CleanOptions extends ToolOptions {
  /** Truncate Keywords to 8192 bytes (G-134). Default false. */
  readonly truncate?: boolean;
  /**
   * Also delete objects that Brokers reject because they lack the Gatherer's identity or the Update-Time
   * (SOIF-6.5). Default false.
   */
  readonly complete?: boolean;
  /** Called for each deleted record with the reason. */
  readonly onDeleted?: (url: string, reason: string) => void;
}

/**
 * `cleandb` (G-134): deletes the records that are not valid SOIF objects, in one transaction. The attributes
 * that the Gatherer writes are required only with `complete`, because manual records need not have them.
 */
export function cleanDatabase(database: DatabaseFile, options: CleanOptions = {}): Promise<CleanCounts> {
  const maybeYield = yieldRegularly(options.signal);
  return database.transaction(async () => {
    const counts = { read: 0, deleted: 0, truncated: 0 };
    for (const record of database.entries()) {
      counts.read++;
      const object = check(record, options.complete === true);
      if (typeof object === 'string') {
        database.delete(record.url);
        counts.deleted++;
        options.onDeleted?.(record.url, object);
      } else if (options.truncate === true) {
        if (rewrite(database, object, truncateKeywords(object))) counts.truncated++;
      }
      options.onObject?.();
      await maybeYield();
    }
    return counts;
  });
}

/** The result of {@link removeBinary}. */
export interface BinaryCounts {
  readonly read: number;
  readonly changed: number;
}

/**
 * `rmbinary` (G-133): removes binary data from every object, in one transaction. Skips records that are not
 * SOIF; `cleandb` deletes those.
 */
export function removeBinary(database: DatabaseFile, options: ToolOptions = {}): Promise<BinaryCounts> {
  const maybeYield = yieldRegularly(options.signal);
  return database.transaction(async () => {
    const counts = { read: 0, changed: 0 };
    for (const record of database.entries()) {
      counts.read++;
      const object = check(record, false);
      if (typeof object !== 'string' && rewrite(database, object, withoutBinary(object))) counts.changed++;
      options.onObject?.();
      await maybeYield();
    }
    return counts;
  });
}

/** Stores the changed object. Returns false if it is the same object. */
function rewrite(database: DatabaseFile, before: SoifObject, after: SoifObject): boolean {
  if (after === before) return false;
  database.put(recordOf(after));
  return true;
}

/** Returns the record's object, or the reason why it is not valid. */
function check(record: DatabaseRecord, complete: boolean): SoifObject | string {
  let object: SoifObject;
  try {
    object = decodeSoif(record.soif, { mode: 'strict', anyUrlByte: true });
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    return error.message;
  }
  if (object.url !== record.url) return `the object is about ${textOfUrl(object.url)}`;
  const problem = problemOf(object);
  if (problem !== undefined) return `${problem.message} (${problem.rule})`;
  const missing = complete ? REQUIRED_NAMES.filter((name) => !object.get(name)?.length) : [];
  return missing.length === 0 ? object : `no ${missing.join(', ')} (SOIF-6.5)`;
}
