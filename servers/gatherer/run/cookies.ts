// The cookies of a run: loaded from a file when it begins, saved to a file when it ends (CRAWL-11.8).
import { open, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CloseStack } from '../../../protocols/close-stack.js';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { COOKIE_FILE_HEAD, formatCookieLine, parseCookieFile } from '../../../protocols/http/index.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import type { GathererStore } from '../../../storage/index.js';
import { announce } from '../../crawler/events.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { CookieJars } from '../../crawler/requests/cookie-jars.js';

/** Largest cookie file that is read, bytes: about 100 000 cookies. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface CrawlCookiesOptions {
  readonly store: GathererStore;
  readonly order: Pick<CrawlOrderConfig, 'cookiesLoadFile' | 'cookiesSaveFile' | 'settings' | 'sheets'>;
  /** The crawl's own directory, to which the names of the files are relative. */
  readonly directory: string;
  /** Whether the run continues an interrupted one, with its cookies. */
  readonly resumed: boolean;
}

/**
 * Opens the cookies of a run. A new one begins with those of `cookiesLoadFile`. When `resources` close, they
 * are written to `cookiesSaveFile`.
 * @returns undefined if the order keeps none
 * @throws ConfigError if the file cannot be read
 */
export async function openCrawlCookies(
  { store, order, directory, resumed }: CrawlCookiesOptions,
  resources: CloseStack,
): Promise<CookieJars | undefined> {
  if (!order.settings.cookies && order.sheets.every(({ settings }) => settings.cookies !== true))
    return undefined;
  const cookies = new CookieJars({ store, onProblem: announce });
  const { cookiesLoadFile, cookiesSaveFile } = order;
  if (cookiesLoadFile !== '' && !resumed) await loadCookies(resolve(directory, cookiesLoadFile), cookies);
  resources.defer(async () => {
    await cookies[Symbol.asyncDispose]();
    if (cookiesSaveFile === '') return;
    const file = resolve(directory, cookiesSaveFile);
    await saveCookies(file, cookies).catch((error: unknown) => {
      announce(`the cookies cannot be saved: ${messageOf(error)}`);
    });
  });
  return cookies;
}

async function loadCookies(file: string, cookies: CookieJars): Promise<void> {
  const { cookies: found, problems } = parseCookieFile(await readBounded(file));
  const [first] = problems;
  if (first !== undefined) {
    const others = problems.length === 1 ? '' : `, and ${problems.length - 1} other lines are not cookies`;
    announce(`${file}:${first.line}: not a cookie: ${first.problem}${others}; the rest is used`);
  }
  await cookies.add(found);
}

async function readBounded(file: string): Promise<string> {
  const failed = (problem: string): ConfigError => new ConfigError(file, 0, 'cookiesLoadFile', problem);
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw failed(`it has more than ${MAX_FILE_BYTES} bytes`);
    return await readFile(file, 'latin1');
  } catch (error) {
    throw error instanceof ConfigError ? error : failed(`it cannot be read: ${messageOf(error)}`);
  }
}

/** Writes all cookies, readable by their owner only: a cookie of a session is as good as a password. */
async function saveCookies(file: string, cookies: CookieJars): Promise<void> {
  const write = async (temporary: string): Promise<void> => {
    await using out = await open(temporary, 'wx', 0o600);
    // `write` may leave out the end of a text, without an error, when the disk is nearly full.
    await out.appendFile(COOKIE_FILE_HEAD);
    for await (const page of cookies.pages())
      await out.appendFile(page.map((cookie) => formatCookieLine(cookie) ?? '').join(''), 'latin1');
  };
  await replaceFile(file, write, { force: true });
}
