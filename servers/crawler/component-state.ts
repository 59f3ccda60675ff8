import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../../protocols/errors.js';

/** File name in the crawl's directory. */
const FILE = 'restored.json';

const stateSchema = z.object({ servers: z.unknown().optional(), statistics: z.unknown().optional() });

/** CRAWL-17.3.1: state that a run continues from in addition to its store. Each component validates its own state. */
export interface ComponentState {
  /** Result of `ServerCache.snapshot`. */
  readonly servers?: unknown;
  /** Result of `CrawlStatistics.toJSON`. */
  readonly statistics?: unknown;
}

/** Saves the state for the next run, when a checkpoint is restored and when a crawl stops before its end. */
export async function saveComponents(crawlDirectory: string, components: unknown): Promise<void> {
  await mkdir(crawlDirectory, { recursive: true });
  const path = join(crawlDirectory, FILE);
  await writeFile(`${path}.new`, JSON.stringify(components));
  await rename(`${path}.new`, path);
}

/**
 * Reads and removes the state that the last run or a restored checkpoint saved; undefined if no state was saved.
 * @throws StorageError when the file is damaged
 */
export async function takeComponents(crawlDirectory: string): Promise<ComponentState | undefined> {
  const path = join(crawlDirectory, FILE);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  await rm(path, { force: true });
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StorageError(`${path} is damaged; it is removed and the crawl continues without it`, { cause });
  }
}
