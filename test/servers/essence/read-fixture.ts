// Reads the documents of `fixtures/`.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zip } from '../../helpers/archives.js';

/** The folder of the sources: the compiled tree has no fixtures. */
export const FIXTURES = fileURLToPath(
  new URL('test/servers/essence/fixtures', import.meta.resolve('#package.json')),
);

/**
 * Reads a document by its path in {@link FIXTURES}. A folder stands for the zip archive of its files, by name.
 */
export async function readFixture(name: string): Promise<Uint8Array> {
  const path = join(FIXTURES, name);
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return new Uint8Array(await readFile(path));
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return zip(
    await Promise.all(
      files.sort().map(async (file) => [file.slice(path.length + 1), await readFile(file)] as const),
    ),
  );
}
