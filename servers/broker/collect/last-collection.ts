// The file `admin/LAST-COLLECTION` (BT-7).
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CollectionPoint } from '../../../protocols/config/index.js';
import { rethrowAs, StorageError } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { readRegular } from '../../../storage/files/regular-file.js';
import { replaceFile } from '../../../storage/files/replace-file.js';

/** BT-7: the state of a collection point that is a Broker. */
export interface LastCollection {
  readonly point: CollectionPoint;
  /** The time for the next request. */
  readonly last: UnixSeconds;
}

/** BT-7: returns the path of the file `admin/LAST-COLLECTION`. */
export function lastCollectionFile(brokerDirectory: string): string {
  return join(brokerDirectory, 'admin', 'LAST-COLLECTION');
}

/**
 * BT-7: writes the file with one line per point: `host port type time`, then the options of its filter. The
 * times in the store take precedence; the file is for people, and for a store that has objects and does not
 * know the point. A crash leaves the old file or the new one.
 *
 * @throws StorageError when it cannot be written
 */
export async function writeLastCollections(file: string, points: readonly LastCollection[]): Promise<void> {
  const text = points.map(({ point, last }) => `${lineOf(point, String(last))}\n`).join('');
  await createDirectory(dirname(file)).catch(rethrowAs(StorageError, `${file} cannot be written`));
  await replaceFile(file, (draft) => writeFile(draft, text), { force: true });
}

/**
 * Reads the file and returns a function that looks up the time of a point; undefined if the file has none or
 * does not exist.
 */
export async function readLastCollections(
  file: string,
): Promise<(point: CollectionPoint) => UnixSeconds | undefined> {
  let text: string;
  try {
    text = (await readRegular(file)).toString('utf8');
  } catch {
    return () => undefined;
  }
  const lines = text.split('\n');
  return (point) => {
    // Of a point's line, everything but the time is known.
    const [prefix = '', suffix = ''] = lineOf(point, '\0').split('\0');
    for (const line of lines) {
      if (!line.startsWith(prefix) || !line.endsWith(suffix)) continue;
      const time = line.slice(prefix.length, line.length - suffix.length);
      if (/^\d{1,15}$/.test(time)) return Number(time);
    }
    return undefined;
  };
}

function lineOf({ host, port, type, filter }: CollectionPoint, time: string): string {
  const flags = filter === undefined || filter.flags === '' ? '' : ` --FLAGS ${filter.flags}`;
  const query = filter === undefined || filter.query === '' ? '' : ` --QUERY ${filter.query}`;
  return `${host.toLowerCase()} ${port} ${type} ${time}${flags}${query}`;
}
