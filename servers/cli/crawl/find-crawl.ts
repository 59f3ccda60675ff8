import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectionError, errorCode, UsageError } from '../../../protocols/errors.js';
import { CONSOLE_FILE, readConsoleFile } from '../../crawler/console/console-file.js';
import { complain, complainOrThrow, EXIT } from '../output/exit.js';
import { printResult } from '../output/standard-output.js';
import { ConsoleClient } from './console-client.js';
import { type ActionOptions, type CrawlSelection, PASSWORD_VARIABLE } from './crawl-options.js';

/**
 * Returns the possible directories of a Gatherer: `gatherer/` below the directory of `harvest run`, or the
 * directory itself.
 */
function gatherersOf(data: string): readonly string[] {
  return [join(data, 'gatherer'), data];
}

/**
 * Finds the Gatherer's directory in a data directory: the one with a store, by default the data directory
 * itself.
 */
export async function gathererOf(data: string): Promise<string> {
  for (const directory of gatherersOf(data)) {
    const found = await stat(join(directory, 'working')).catch(() => undefined);
    if (found?.isDirectory() === true) return directory;
  }
  return data;
}

/** Returns the paths where a console may have written its file. */
function filesOf(data: string): readonly string[] {
  return gatherersOf(data).flatMap((gatherer) => [
    join(gatherer, 'crawl', CONSOLE_FILE),
    join(gatherer, CONSOLE_FILE),
  ]);
}

/**
 * Returns a client of the selected crawl's console; undefined if no crawl is running there. With `--url` the
 * console is not contacted yet.
 *
 * @throws UsageError without a password, StorageError if the file cannot be used
 */
export async function runningCrawl(
  { data, url }: CrawlSelection,
  signal?: AbortSignal,
): Promise<ConsoleClient | undefined> {
  if (url !== undefined) {
    const password = process.env[PASSWORD_VARIABLE];
    if (password === undefined) throw new UsageError(`--url requires $${PASSWORD_VARIABLE}`);
    const credentials = Buffer.from(`harvest:${password}`).toString('base64');
    return new ConsoleClient(url, `Basic ${credentials}`, signal);
  }
  for (const file of filesOf(data)) {
    const found = await readConsoleFile(file);
    if (found === undefined) continue;
    const client = new ConsoleClient(found.url, `Bearer ${found.token}`, signal, true);
    try {
      await client.snapshot();
      return client;
    } catch (error) {
      // A crawl that was killed leaves its file behind.
      if (!(error instanceof ConnectionError) || isRunning(found.pid)) throw error;
    }
  }
  return undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Reports that no crawl is running; returns the exit status. */
export function reportNoCrawl({ data }: CrawlSelection): number {
  complain(
    'crawl',
    `no crawl is running on ${data}. --data names its directory, or --url its console; harvest run starts one.`,
  );
  return EXIT.failure;
}

/**
 * Returns the action with these exit statuses: 1 after a sentence if the console refuses, 3 if it cannot be
 * reached; errors of the command line are thrown.
 */
export function crawlAction<Args extends readonly unknown[]>(
  action: (...args: Args) => Promise<number>,
): (...args: Args) => Promise<number> {
  return async (...args) => {
    try {
      return await action(...args);
    } catch (error) {
      const status = error instanceof ConnectionError ? EXIT.connection : EXIT.failure;
      return complainOrThrow('crawl', error, status);
    }
  };
}

/** Runs an action of the console, such as `pause`. */
export const sendAction = crawlAction(
  async (name: string, fields: Readonly<Record<string, string>>, options: ActionOptions) => {
    const crawl = await runningCrawl(options);
    if (crawl === undefined) return reportNoCrawl(options);
    const reply = await crawl.runAction(name, fields);
    await printResult(options, reply, `${reply.text}\n`);
    return EXIT.ok;
  },
);
