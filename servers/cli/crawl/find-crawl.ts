import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { ConnectionError, errorCode, UsageError } from '../../../protocols/errors.js';
import { CONSOLE_FILE, readConsoleFile } from '../../crawler/console/console-file.js';
import { complain, complainOrThrow, EXIT } from '../exit.js';
import { ConsoleClient } from './console-client.js';

/** The environment variable with the password of a console that `--url` names. */
export const PASSWORD_VARIABLE = 'HARVEST_CONSOLE_PASSWORD';

/** Which crawl is meant. */
export interface WhichCrawl {
  readonly data: string;
  readonly url?: string;
}

/** The options that every command about a running crawl has. */
export function withCrawlOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--url <url>', `the console itself; its password is taken from $${PASSWORD_VARIABLE}`, urlOption);
}

function urlOption(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('http://HOST:PORT/ is wanted');
  const url = new URL(text);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

/** Where a Gatherer may be: below the directory of `harvest run`, or in a directory of its own. */
function gatherersOf(data: string): readonly string[] {
  return [join(data, 'gatherer'), data];
}

/** The Gatherer's directory in a data directory: the one that has a store; none yet: the data directory itself. */
export async function gathererOf(data: string): Promise<string> {
  for (const directory of gatherersOf(data)) {
    const found = await stat(join(directory, 'working')).catch(() => undefined);
    if (found?.isDirectory() === true) return directory;
  }
  return data;
}

/** Where consoles put their file. */
function filesOf(data: string): readonly string[] {
  return gatherersOf(data).flatMap((gatherer) => [
    join(gatherer, 'crawl', CONSOLE_FILE),
    join(gatherer, CONSOLE_FILE),
  ]);
}

/**
 * The console of the crawl that is meant; undefined: no crawl runs there. With `--url` whether it answers is seen later.
 *
 * @throws UsageError without the password, StorageError when the file cannot be used
 */
export async function runningCrawl(
  { data, url }: WhichCrawl,
  signal?: AbortSignal,
): Promise<ConsoleClient | undefined> {
  if (url !== undefined) {
    const password = process.env[PASSWORD_VARIABLE];
    if (password === undefined) throw new UsageError(`$${PASSWORD_VARIABLE} is wanted with --url`);
    const words = Buffer.from(`harvest:${password}`).toString('base64');
    return new ConsoleClient(url, `Basic ${words}`, signal);
  }
  for (const file of filesOf(data)) {
    const found = await readConsoleFile(file);
    if (found === undefined) continue;
    const client = new ConsoleClient(found.url, `Bearer ${found.token}`, signal);
    try {
      await client.snapshot();
      return client;
    } catch (error) {
      // The file of a crawl that was killed stays behind.
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

/** Says that no crawl runs, and what to do; returns the exit status. */
export function sayNoCrawl({ data }: WhichCrawl): number {
  complain(
    'crawl',
    `no crawl runs on ${data}. --data names its directory, or --url its console; harvest run starts one.`,
  );
  return EXIT.failure;
}

/**
 * Runs a command. What a console refuses or cannot do ends it with status 1, one that is away with 3, and one sentence;
 * errors about the command line are thrown on.
 */
export async function exitStatus(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    return complainOrThrow('crawl', error, error instanceof ConnectionError ? EXIT.connection : EXIT.failure);
  }
}
