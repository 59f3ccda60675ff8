import { opendir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../protocols/errors.js';
import { objectDirectory, objectName, oidOfFileName } from '../../../protocols/registry/index.js';
import { OidSet } from '../../broker/oid-set.js';
import { exists } from '../../files/exists.js';
import { createDirectory } from '../../files/make-directory.js';

/** Returns the OID of an object file; undefined if the path is not one. */
export function oidOfFile(path: string): number | undefined {
  return oidOfFileName(path.slice(path.lastIndexOf('/') + 1));
}

/** BRK-8.9, REG-34: each object has a file `objects/<dir>/OBJ<n>`, which other programs may read. */
export class ObjectFiles {
  /** Directory of temporary files, which are renamed into place; on the same file system. */
  readonly #scratch: string;
  readonly #createdDirectories = new Set<string>();

  constructor(
    readonly path: string,
    scratch: string,
  ) {
    this.#scratch = scratch;
  }

  pathOf(oid: number): string {
    return join(this.path, objectName(oid));
  }

  /** Writes or replaces the file of an object atomically. */
  async write(oid: number, object: Uint8Array): Promise<void> {
    await this.#createDirectory(objectDirectory(oid));
    const temporary = join(this.#scratch, `OBJ${oid}.new`);
    await writeFile(temporary, object);
    await rename(temporary, this.pathOf(oid));
  }

  async remove(oid: number): Promise<void> {
    await rm(this.pathOf(oid), { force: true });
  }

  /**
   * Moves the files of an earlier layout to their places. A file that is in its place already is newer than the
   * moved one.
   */
  async moveIntoPlace(): Promise<void> {
    for await (const directory of entries(this.path)) {
      for await (const name of entries(join(this.path, directory))) {
        const oid = oidOfFile(name);
        if (oid === undefined || directory === objectDirectory(oid)) continue;
        const path = join(this.path, directory, name);
        await this.#createDirectory(objectDirectory(oid));
        if (await exists(this.pathOf(oid))) await rm(path);
        else await rename(path, this.pathOf(oid));
      }
    }
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

  async #createDirectory(name: string): Promise<void> {
    if (this.#createdDirectories.has(name)) return;
    await createDirectory(join(this.path, name));
    this.#createdDirectories.add(name);
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
