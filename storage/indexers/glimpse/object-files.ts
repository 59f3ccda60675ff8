import { mkdir, opendir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../protocols/errors.js';
import { OidSet } from '../../broker/oid-set.js';

/** Maximum number of objects in a numbered directory (BRK-6.6). */
const OBJECTS_PER_DIRECTORY = 1000;
const NAME = /^OBJ([1-9]\d{0,9})$/;

/** Returns the OID of an object file; undefined if the path is not one. */
export function oidOfFile(path: string): number | undefined {
  const digits = NAME.exec(path.slice(path.lastIndexOf('/') + 1))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** BRK-8.9: each object has a file `objects/<dir>/OBJ<n>`, which other programs may read. */
export class ObjectFiles {
  readonly #createdDirectories = new Set<number>();

  constructor(
    readonly path: string,
    /** Directory of temporary files, which are renamed into place; on the same file system. */
    readonly scratch: string,
  ) {}

  pathOf(oid: number): string {
    return join(this.path, String(Math.floor(oid / OBJECTS_PER_DIRECTORY)), `OBJ${oid}`);
  }

  /** Writes or replaces the file of an object atomically. */
  async write(oid: number, object: Uint8Array): Promise<void> {
    const number = Math.floor(oid / OBJECTS_PER_DIRECTORY);
    if (!this.#createdDirectories.has(number)) {
      await mkdir(join(this.path, String(number)), { recursive: true });
      this.#createdDirectories.add(number);
    }
    const temporary = join(this.scratch, `OBJ${oid}.new`);
    await writeFile(temporary, object);
    await rename(temporary, this.pathOf(oid));
  }

  async remove(oid: number): Promise<void> {
    await rm(this.pathOf(oid), { force: true });
  }

  /** Returns the OIDs of the objects that have a file. */
  async all(): Promise<OidSet> {
    const oids = new OidSet();
    for await (const directory of entries(this.path)) {
      for await (const name of entries(join(this.path, directory))) {
        const oid = oidOfFile(name);
        if (oid !== undefined) oids.add(oid);
      }
    }
    return oids;
  }
}

async function* entries(path: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(path)) yield entry.name;
  } catch (error) {
    // The directory does not exist yet, or the entry is not a directory.
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
  }
}
