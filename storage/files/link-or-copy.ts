import { copyFile, constants as fsConstants, link } from 'node:fs/promises';
import { errorCode } from '../../protocols/errors.js';

/** Error codes of a file system that cannot link a file: another file system, or one without hard links. */
const LINK_UNSUPPORTED = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Makes a hard link to a file that never changes, or a copy if the file system cannot link this pair of names. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!LINK_UNSUPPORTED.has(errorCode(error) ?? '')) throw error;
    await copyFile(from, to, fsConstants.COPYFILE_FICLONE);
  }
}
