import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { removeNoted } from '../../storage/files/note-change.js';
import { readRegular } from '../../storage/files/regular-file.js';
import { replaceContent } from '../../storage/files/replace-file.js';

/** File name in the crawl's directory. */
const FILE = 'restored.json';

/**
 * CRAWL-17.3.1: state that a run continues from in addition to its store. Each component validates its own
 * state.
 */
export const componentStateSchema = z.object({
  /** Result of `ServerCache.snapshot`. */
  servers: z.unknown().optional(),
  /** Result of `CrawlStatistics.toJSON`. */
  statistics: z.unknown().optional(),
  /** Result of `TotalBandwidth.snapshot`. */
  bandwidth: z.unknown().optional(),
});
export type ComponentState = Readonly<z.infer<typeof componentStateSchema>>;

/** Saves the state for the next run, when a checkpoint is restored and when a crawl stops before its end. */
export async function saveComponents(crawlDirectory: string, components: unknown): Promise<void> {
  await createDirectory(crawlDirectory);
  const path = join(crawlDirectory, FILE);
  const text = JSON.stringify(components);
  await replaceContent(path, `${text}\n${sumOf(text)}\n`);
}

/**
 * Reads and removes the state that the last run or a restored checkpoint saved; undefined if no state was
 * saved.
 * @throws StorageError when the file is damaged or cannot be read; the crawl continues without it
 */
export async function takeComponents(crawlDirectory: string): Promise<ComponentState | undefined> {
  const path = join(crawlDirectory, FILE);
  let content: string;
  try {
    content = (await readRegular(path)).toString('utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new StorageError(`${path} cannot be read: ${messageOf(cause)}; the crawl continues without it`, {
      cause,
    });
  }
  await removeNoted(path);
  // Earlier versions wrote no line end and no checksum.
  const [text = '', sum] = content.split('\n');
  try {
    if (sum !== undefined && sum !== sumOf(text)) throw new StorageError('the checksum differs');
    return componentStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StorageError(`${path} is damaged; it is removed and the crawl continues without it`, { cause });
  }
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
