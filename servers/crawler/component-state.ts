import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../../protocols/errors.js';

/** Below the crawl's directory: what the next run takes over beside the store. */
const FILE = 'restored.json';

const schema = z.object({ servers: z.unknown().optional(), statistics: z.unknown().optional() });

/** CRAWL-17.3.1: what a run goes on from beside its store; each part is checked by whom it belongs to. */
export interface ComponentState {
  /** Of `ServerCache.snapshot`. */
  readonly servers?: unknown;
  /** Of `CrawlStatistics.toJSON`. */
  readonly statistics?: unknown;
}

/** Lays them down for the next run: when a checkpoint is restored, and when a crawl stops before its end. */
export async function saveComponents(crawlDirectory: string, components: unknown): Promise<void> {
  await mkdir(crawlDirectory, { recursive: true });
  const path = join(crawlDirectory, FILE);
  await writeFile(`${path}.new`, JSON.stringify(components));
  await rename(`${path}.new`, path);
}

/**
 * What the last run, or a restored checkpoint, has left; it is taken away, so that it is taken over once. Undefined: nothing.
 * @throws StorageError when the file is damaged
 */
export async function takeComponents(crawlDirectory: string): Promise<ComponentState | undefined> {
  const path = join(crawlDirectory, FILE);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  await rm(path, { force: true });
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StorageError(`${path} is damaged; it is removed, the crawl goes on without it`, { cause });
  }
}
