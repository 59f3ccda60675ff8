// The pages of a Broker's index whose program was killed: it has no sums then.
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { SUMS_FILE } from '../files/checksums.js';

const INDEX = 'index.sqlite';
const NUMBER = /^[1-9]\d{0,14}$/;

/**
 * Compares the pages of the indexes of a directory with each other, in copies.
 *
 * @returns sentences; an empty list if they are sound, or have sums
 */
export async function checkIndexPages(directory: string): Promise<string[]> {
  const problems: string[] = [];
  for (const number of (await readdir(directory)).filter((name) => NUMBER.test(name))) {
    const names = await readdir(join(directory, number)).catch((): string[] => []);
    if (!names.includes(INDEX) || names.includes(SUMS_FILE)) continue;
    const problem = await problemOf(join(directory, number), names);
    if (problem !== undefined) problems.push(`${number}/${INDEX} ${problem}`);
  }
  return problems;
}

async function problemOf(index: string, names: readonly string[]): Promise<string | undefined> {
  if ((await stat(join(index, INDEX))).size === 0 && !names.includes(`${INDEX}-wal`)) return 'is empty';
  const { openIndexFile } = await import('../indexers/embedded/index/index-file.js');
  const copy = await mkdtemp(`${index}.check-`);
  try {
    for (const name of [INDEX, `${INDEX}-wal`])
      if (names.includes(name)) await copyFile(join(index, name), join(copy, name));
    openIndexFile(join(copy, INDEX), { checkPages: true }).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof StorageError) && errorCode(error) === undefined) throw error;
    return `is damaged: ${messageOf(error).replaceAll(copy, index)}`;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
