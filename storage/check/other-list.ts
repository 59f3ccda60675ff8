// Whether the list of the files of a data directory is that of another directory, or of another time: then most of what
// it says about files is no damage of them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LIST_FILE } from '../files/file-kinds.js';
import type { FileList } from '../files/file-list.js';
import { type ChangedFile, compareFile, findFiles, MISSING } from '../files/list-files.js';
import { readRegular } from '../files/regular-file.js';
import { recordedProcess } from '../level/verify/log-lengths.js';
import { matchesSeal, readSeal, SEAL_FILE } from '../level/verify/seal.js';

/** The directories of stores within one with a list. */
const STORES = ['working', 'store'];

/**
 * A sentence, if a list is not that of its directory as it was when its program closed or noted it last.
 *
 * @param changed what is not as it was listed; without any the list is the right one
 */
export async function otherListProblem(
  directory: string,
  list: FileList,
  changed: readonly ChangedFile[],
): Promise<string | undefined> {
  if (changed.length === 0) return undefined;
  const found = await findFiles(directory);
  const missing = changed.filter(({ problem }) => problem === MISSING).length;
  const present = [...list.files.keys()].filter((name) => found.has(name)).length;
  let isOther = missing > 0 && missing >= present;
  for (const name of await readdir(directory)) {
    if (!STORES.includes(name)) continue;
    isOther ||= await (list.state === 'closed' ? isOtherSeal : isOtherProcess)(directory, name, list);
  }
  return isOther ? `${LIST_FILE} is the list of another directory, or of another time` : undefined;
}

/** A store is sealed before the list, and the list says that it is open before the seal is removed. */
async function isOtherSeal(directory: string, name: string, { files }: FileList): Promise<boolean> {
  const store = join(directory, name);
  try {
    const seal = await readSeal(store);
    if (seal === undefined) return (await recordedProcess(store)) !== undefined;
    const current = await readRegular(join(store, 'CURRENT'));
    if (current.toString('latin1') !== `${seal.manifest}\n` || !matchesSeal(seal, 'CURRENT', current))
      return false;
  } catch {
    return false;
  }
  const listed = files.get(`${name}/${SEAL_FILE}`);
  return listed === undefined || (await compareFile(join(store, SEAL_FILE), listed, false)) !== undefined;
}

/** The process that notes the changes of a directory has its store open, too. */
async function isOtherProcess(directory: string, name: string, { notes }: FileList): Promise<boolean> {
  const process = await recordedProcess(join(directory, name)).catch(() => undefined);
  return notes !== undefined && process !== undefined && process !== notes.process;
}
