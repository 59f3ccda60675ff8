// What to do about a Registry that cannot be read.
import { open } from 'node:fs/promises';
import { ProtocolError, StorageError } from '../../../protocols/errors.js';
import { FILE_HEADER_BYTES } from '../../../protocols/registry/index.js';

/** Bytes of the file's header, and of the size field and the magic number of the first record. */
const HEAD_BYTES = FILE_HEADER_BYTES + 8;

/**
 * A clause for a defect of a Registry: the options for one with other magic numbers, which no source records
 * (REG-8), or the commands that mend it (REG-15). Undefined if nothing is to be done.
 */
export async function registryRemedy(
  path: string,
  { rule, offset }: { readonly rule: string; readonly offset?: number | undefined },
): Promise<string | undefined> {
  const isFirstRecord = rule === 'REG-15' && offset === FILE_HEADER_BYTES;
  if (rule !== 'REG-8' && !isFirstRecord)
    return rule === 'REG-15'
      ? '`harvest registry check` lists what is damaged, `harvest registry repair` mends it'
      : undefined;
  const head = await headOf(path);
  const options = [
    ...(rule === 'REG-8' ? [`--magic ${hexadecimal(head.readUInt32BE(0))}`] : []),
    ...(head.length < HEAD_BYTES ? [] : [`--record-magic ${hexadecimal(head.readUInt32BE(HEAD_BYTES - 4))}`]),
  ];
  return `if another broker wrote it, give its numbers: ${options.join(' ')}`;
}

/**
 * Runs work on a Registry. @throws StorageError for a file that cannot be read, with its path and the remedy
 *
 * @param prefix begins the message
 */
export async function withRemedy<T>(path: string, work: () => Promise<T>, prefix = ''): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.protocol !== 'registry') throw error;
    const { rule, offset, problem } = error;
    const remedy = await registryRemedy(path, error);
    const what = `${prefix}${path}: ${offset === 0 ? '' : `offset ${offset}: `}${problem}`;
    throw new StorageError(`${what}${remedy === undefined ? '' : `; ${remedy}`} (${rule})`, { cause: error });
  }
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

function hexadecimal(number: number): string {
  return `0x${number.toString(16).padStart(8, '0')}`;
}
