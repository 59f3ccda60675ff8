// The crawlers that benchmark `crawl` compares: runs each of them and returns what it found.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalled } from './site.js';

/** The outcome of one crawl of the whole site. */
export interface Crawled {
  /** Number of HTML pages. */
  readonly pages: number;
  /** From the first request to the last page; for third-party programs from start to exit. */
  readonly seconds: number;
  /** Peak resident set of the process; 0 if not measured. */
  readonly maxRssBytes: number;
  /** Paths of the pages, unescaped. */
  readonly found: ReadonlySet<string>;
}

export interface Contestant {
  readonly name: string;
  readonly label: string;
  /** Why it cannot run; undefined if it can. */
  readonly missing: string | undefined;
  /** Needs a minute or more for 10 000 pages and therefore runs less often. */
  readonly slow: boolean;
  /** Crawls once; `scratch` is a folder that does not exist yet. */
  run(url: string, scratch: string): Crawled;
}

export interface ContestantOptions {
  /** Maximum number of concurrent connections. */
  readonly connections: number;
  /** Folder whose node_modules has `@crawlee/cheerio`; undefined: none. */
  readonly crawlee: string | undefined;
}

/** Returns the Gatherer first, then the others. */
export function createContestants(options: ContestantOptions): Contestant[] {
  const { connections, crawlee } = options;
  const sockets = String(connections);
  return [
    {
      name: 'ours',
      label: 'Gatherer, summarized and stored',
      missing: undefined,
      slow: false,
      run: (url, scratch) =>
        runScript('full-crawl.js', scratch, [
          '--url',
          url,
          '--connections',
          sockets,
          '--directory',
          join(scratch, 'data'),
        ]),
    },
    {
      name: 'plain',
      label: 'plain loop, nothing stored',
      missing: undefined,
      slow: false,
      run: (url, scratch) => runScript('plain-crawl.js', scratch, ['--url', url, '--connections', sockets]),
    },
    {
      name: 'wget2',
      label: 'wget2, files saved',
      missing: missingProgram('wget2'),
      slow: false,
      run: (url, scratch) => {
        const measured = runProgram('wget2', scratch, [
          ...['-q', '-r', '-l', 'inf', '--robots=off', '--max-threads=8', '--http2=off'],
          ...['-P', join(scratch, 'files'), url],
        ]);
        return { ...measured, ...listSavedPages(join(scratch, 'files')) };
      },
    },
    {
      name: 'httrack',
      label: 'httrack, files saved',
      missing: missingProgram('httrack'),
      slow: true,
      run: (url, scratch) => {
        const files = join(scratch, 'files');
        const measured = runProgram('httrack', scratch, [
          ...[url, '-O', files, '--quiet', '--disable-security-limits', '--connection-per-second=10000'],
          ...[`--sockets=${sockets}`, '--max-rate=0', '--robots=0', '--near', '+127.0.0.1*'],
        ]);
        // httrack writes its index and its cache next to the folder of the site.
        const site = readdirSync(files).find((name) => name.startsWith('127.0.0.1')) ?? '';
        return { ...measured, ...listSavedPages(join(files, site)) };
      },
    },
    {
      name: 'crawlee',
      label: 'crawlee CheerioCrawler, in memory',
      missing: missingCrawlee(crawlee),
      slow: true,
      run: (url, scratch) =>
        runScript('crawl/crawlee-crawl.js', scratch, [
          '--url',
          url,
          '--connections',
          sockets,
          '--modules',
          crawlee ?? '',
        ]),
    },
  ];
}

/** Normalizes the path of a page: unescaped, without query, a directory as its index.html. */
function pagePath(path: string): string {
  const bare = path.replace(/[?#].*$/s, '');
  let plain = bare;
  try {
    plain = decodeURIComponent(bare);
  } catch {
    // The path contains a literal percent sign.
  }
  return plain.endsWith('/') ? `${plain}index.html` : plain;
}

/**
 * Runs a script of this benchmark, which prints {pages, seconds, maxRssBytes} and writes the paths that it
 * found into a file.
 */
function runScript(script: string, scratch: string, args: readonly string[]): Crawled {
  mkdirSync(scratch, { recursive: true });
  const found = join(scratch, 'found');
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args, '--found', found], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stderr.slice(-2000)}`);
  const measured = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Omit<Crawled, 'found'>;
  const paths = readFileSync(found, 'utf8').split('\n').filter(Boolean);
  return { ...measured, found: new Set(paths.map(pagePath)) };
}

/** Runs a third-party program, under time(1) if installed. */
export function runProgram(
  name: string,
  scratch: string,
  args: readonly string[],
): { readonly seconds: number; readonly maxRssBytes: number } {
  mkdirSync(scratch, { recursive: true });
  const memory = join(scratch, 'memory');
  const hasTime = isInstalled('time');
  const command = hasTime ? ['time', '-f', '%M', '-o', memory, name, ...args] : [name, ...args];
  const begin = performance.now();
  // The exit status is ignored: broken links make it nonzero.
  const { error } = spawnSync(command[0]!, command.slice(1), { stdio: 'ignore', cwd: scratch });
  if (error !== undefined) throw error;
  const seconds = (performance.now() - begin) / 1000;
  const kilobytes = hasTime ? Number(readFileSync(memory, 'utf8').trim().split('\n').at(-1)) : 0;
  return { seconds, maxRssBytes: kilobytes * 1024 };
}

/** Lists the HTML pages below a folder into which a program saved a site. */
export function listSavedPages(folder: string): {
  readonly pages: number;
  readonly found: ReadonlySet<string>;
} {
  const found = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.html?$/i.test(entry.name)) continue;
    const path = relative(folder, join(entry.parentPath, entry.name));
    // Some programs use the host name as a folder.
    found.add(pagePath(`/${path.replace(/^127\.0\.0\.1[^/]*\//, '')}`));
  }
  rmSync(join(folder, 'hts-cache'), { recursive: true, force: true });
  return { pages: found.size, found };
}

function missingProgram(name: string): string | undefined {
  return isInstalled(name) ? undefined : `${name} is not installed`;
}

function missingCrawlee(directory: string | undefined): string | undefined {
  if (directory === undefined)
    return 'no --crawlee DIR (a folder whose node_modules contains @crawlee/cheerio)';
  if (!existsSync(join(directory, 'node_modules', '@crawlee', 'cheerio')))
    return `${directory}/node_modules does not contain @crawlee/cheerio`;
  return undefined;
}

/** Resolves a module as a program in that folder would. */
export function resolveModuleIn(directory: string, name: string): string {
  return createRequire(join(directory, 'program.js')).resolve(name);
}
