// Checks the file CURRENT of a directory of generations.
import { join } from 'node:path';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { readRegular } from '../files/regular-file.js';
import { generationNumbers, POINTER_FILE } from '../generations/directory.js';

/**
 * Compares CURRENT with the generations. A crash leaves the number of the generation before the newest one, or no file beside the first
 * generation; both are right.
 *
 * @returns sentences
 */
export async function checkPointer(directory: string): Promise<string[]> {
  const numbers = await generationNumbers(directory);
  const newest = numbers.at(-1) ?? 0;
  let text: string;
  try {
    text = (await readRegular(join(directory, POINTER_FILE))).toString('latin1');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return [`${POINTER_FILE} cannot be read: ${messageOf(error)}`];
    return newest > 1 ? [`${POINTER_FILE} is missing`] : [];
  }
  if (!/^[1-9]\d{0,14}\n$/.test(text)) return [`${POINTER_FILE} does not contain a generation's number`];
  const named = Number(text);
  if (named === newest || (named + 1 === newest && numbers.includes(named))) return [];
  return [
    `${POINTER_FILE} names generation ${named}, the newest one is ${newest === 0 ? 'missing' : newest}`,
  ];
}
