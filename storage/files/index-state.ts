// The small files of a directory of indexes: CURRENT, which names the one in use, and the state of each.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ifPresent } from './exists.js';
import { readRegular } from './regular-file.js';

export const INDEX_POINTER = 'CURRENT';
export const STATE_FILE = 'state.json';
export const INDEX_NUMBER = /^[1-9]\d{0,14}$/;

/**
 * What is wrong with CURRENT or the state of the index that it names, in a directory that no process has open; undefined
 * if both can be read, or there is no index yet.
 */
export async function indexProblem(directory: string): Promise<string | undefined> {
  const names = await readdir(directory);
  const pointer = (await ifPresent(readRegular(join(directory, INDEX_POINTER))))?.toString('utf8');
  // The first index is being built, or a crash ended it. A list of files misses a CURRENT that was deleted.
  if (pointer === undefined) return undefined;
  const number = pointer.trimEnd();
  if (pointer !== `${number}\n` || !INDEX_NUMBER.test(number))
    return `${INDEX_POINTER} does not contain an index's number`;
  if (!names.includes(number)) return `${INDEX_POINTER} names index ${number}, which is missing`;
  const state = (await ifPresent(readRegular(join(directory, number, STATE_FILE))))?.toString('utf8');
  return state !== undefined && parseState(state) === undefined
    ? `${number}/${STATE_FILE} is damaged`
    : undefined;
}

/** The state of an index in its file, which ends with a checksum; undefined if it is damaged. */
export function parseState(text: string): unknown {
  const [line = '', sum] = text.split('\n');
  // Earlier versions wrote no checksum.
  if (sum && sum !== sumOf(line)) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The content of the file with the state of an index, any value that is JSON. */
export function formatState(state: unknown): string {
  const line = JSON.stringify(state);
  return `${line}\n${sumOf(line)}\n`;
}

function sumOf(line: string): string {
  return crc32(line).toString(16).padStart(8, '0');
}
