// Writes and reads the file of one object (REG-36).
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../protocols/errors.js';
import { encodeSoif, SoifDecoder, type SoifObject } from '../../protocols/soif/index.js';
import { objectFilePath } from './broker-directory.js';

/** An object with its bytes in the layout of SOIF-2.2 (REG-36). */
export interface FileObject {
  readonly object: SoifObject;
  readonly bytes: Uint8Array;
}

/** Writes an object's file atomically (REG-36); creates its directory. */
export async function writeObjectFile(directory: string, oid: number, bytes: Uint8Array): Promise<void> {
  const path = objectFilePath(directory, oid);
  const temporary = `${path}.new`;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/**
 * Reads an object's file.
 *
 * @returns a sentence if the file has no object or is larger than `maxBytes`; undefined if there is no file (REG-38)
 */
export async function readObjectFile(
  directory: string,
  oid: number,
  maxBytes: number,
): Promise<FileObject | string | undefined> {
  const path = objectFilePath(directory, oid);
  try {
    const { size } = await stat(path);
    if (size > maxBytes) return `its file has ${size} bytes, more than ${maxBytes}`;
    const file = await open(path, 'r');
    try {
      return decodeObjectFile(await file.readFile(), maxBytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code?.startsWith('E') === true) return `its file cannot be read: ${code}`;
    throw error;
  }
}

/** The first object of a file; the Broker stores one object in a file. */
function decodeObjectFile(content: Uint8Array, maxObjectBytes: number): FileObject | string {
  const decoder = new SoifDecoder({ maxObjectBytes: Math.max(1, maxObjectBytes) });
  let problem = 'its file has no object';
  for (const items of [decoder.push(content), decoder.end()]) {
    for (const item of items) {
      if (item.kind === 'warning') {
        problem = `its file has no object: ${item.message} (${item.rule})`;
        continue;
      }
      const { object, offset, length, exact } = item;
      return { object, bytes: exact ? content.subarray(offset, offset + length) : encodeSoif(object) };
    }
  }
  return problem;
}
