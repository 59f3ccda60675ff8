// Finds the files of objects anywhere below `objects/`: flat, in numbered directories, or deeper (REG-34).
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { objectDirectory, oidOfFileName } from '../../protocols/registry/index.js';
import { OidSet } from '../broker/oid-set.js';
import { OBJECTS_DIRECTORY, objectFilePath } from './broker-directory.js';

/** The file of an object. */
export interface ObjectLocation {
  readonly oid: number;
  readonly path: string;
}

/**
 * The files `OBJ<OID>` below `objects/`, as they were when the directory was read. Needs one bit of memory for
 * each file that is where this kit writes it, and about 40 bytes for any other. Links to directories and files
 * are followed.
 */
export class ObjectLocations {
  readonly #directory: string;
  /** The OIDs of all object files. */
  readonly oids = new OidSet();
  readonly #inPlace = new OidSet();
  readonly #directories: string[] = [];
  /** The index of the directory of the first file that is not in its place, by OID. */
  readonly #elsewhere = new Map<number, number>();
  /** The directories of all further files of an OID. */
  readonly #further = new Map<number, number[]>();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Reads the directories below `objects/`; empty if there is no such directory.
   *
   * @param directory the directory of an original Broker
   * @throws StorageError if a directory cannot be read: its objects would seem to be missing
   */
  static async find(directory: string, signal?: AbortSignal): Promise<ObjectLocations> {
    const locations = new ObjectLocations(directory);
    const visited = new Set<string>();
    const pending: (readonly string[])[] = [[]];
    for (let names = pending.pop(); names !== undefined; names = pending.pop()) {
      signal?.throwIfAborted();
      const path = join(directory, OBJECTS_DIRECTORY, ...names);
      try {
        const { dev, ino } = await stat(path);
        // A link may lead back to a directory above it.
        if (visited.has(`${dev}:${ino}`)) continue;
        visited.add(`${dev}:${ino}`);
        await locations.#read(path, names, pending);
      } catch (cause) {
        if (errorCode(cause) === 'ENOENT' && names.length === 0) return locations;
        throw new StorageError(`${path} cannot be read: ${errorCode(cause) ?? String(cause)}`, { cause });
      }
    }
    return locations;
  }

  /** The paths of an object's files: the place of REG-34 first, others in the order of their names. */
  pathsOf(oid: number): string[] {
    const first = this.#elsewhere.get(oid);
    const others = first === undefined ? [] : [first, ...(this.#further.get(oid) ?? [])];
    const paths = others.map((index) => join(this.#directories[index]!, `OBJ${oid}`)).sort();
    return this.#inPlace.has(oid) ? [objectFilePath(this.#directory, oid), ...paths] : paths;
  }

  /** All files in rising order of OIDs. */
  *files(): Generator<ObjectLocation, void, undefined> {
    for (const oid of this.oids.toArray()) for (const path of this.pathsOf(oid)) yield { oid, path };
  }

  async #read(path: string, names: readonly string[], pending: (readonly string[])[]): Promise<void> {
    let index: number | undefined;
    for await (const entry of await opendir(path)) {
      const kind = entry.isSymbolicLink() ? await kindOfTarget(join(path, entry.name)) : entry;
      if (kind?.isDirectory() === true) pending.push([...names, entry.name]);
      const oid = kind?.isFile() === true ? oidOfFileName(entry.name) : undefined;
      if (oid === undefined) continue;
      this.oids.add(oid);
      if (names.length === 1 && names[0] === objectDirectory(oid)) {
        this.#inPlace.add(oid);
        continue;
      }
      index ??= this.#directories.push(path) - 1;
      if (this.#elsewhere.has(oid)) this.#further.set(oid, [...(this.#further.get(oid) ?? []), index]);
      else this.#elsewhere.set(oid, index);
    }
  }
}

/** What a link leads to; undefined if its target does not exist. */
async function kindOfTarget(
  path: string,
): Promise<{ isFile(): boolean; isDirectory(): boolean } | undefined> {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}
