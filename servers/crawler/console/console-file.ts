import { rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';
import { readRegular } from '../../../storage/files/regular-file.js';
import { replaceFile } from '../../../storage/files/replace-file.js';

/** Name of the file by which local commands find a running crawl. */
export const CONSOLE_FILE = 'console.json';

const SCHEMA = z.object({
  /** URL of the console as this machine reaches it; ends in `/`. */
  url: z.url(),
  /** Gives its bearer full access. */
  token: z.string().min(16),
  /** The process that crawls. */
  pid: z.int().positive(),
  /** The crawl's name. */
  name: z.string(),
});

type ConsoleFile = z.infer<typeof SCHEMA>;

/** Writes the file so that only its owner can read it; readers see the old one or the new one. */
export async function writeConsoleFile(path: string, content: ConsoleFile): Promise<void> {
  const text = `${JSON.stringify(content)}\n`;
  await replaceFile(path, (draft) => writeFile(draft, text, { mode: 0o600, flag: 'wx' }), { force: true });
}

/**
 * Reads the file. Returns undefined if it is absent: no crawl with a console runs here.
 *
 * @throws StorageError when the file exists and cannot be used
 */
export async function readConsoleFile(path: string): Promise<ConsoleFile | undefined> {
  let text: string;
  try {
    text = (await readRegular(path)).toString('utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') return undefined;
    throw new StorageError(`${path}: cannot be read: ${messageOf(cause)}`, { cause });
  }
  try {
    return SCHEMA.parse(JSON.parse(text));
  } catch (cause) {
    throw new StorageError(`${path}: not a console's file`, { cause });
  }
}

/** Removes the file, unless another console has written it since. */
export async function removeConsoleFile(path: string, token: string): Promise<void> {
  const current = await readConsoleFile(path).catch(() => undefined);
  if (current?.token === token) await rm(path, { force: true });
}
