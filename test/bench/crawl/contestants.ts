import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalled } from './site.js';

/** One crawl of the whole site by one of those who compete. */
export interface Crawled {
  /** Pages of HTML. */
  readonly pages: number;
  /** From the first request to the last page; for other people's programs from start to exit. */
  readonly seconds: number;
  /** Peak resident set of the process; 0 when nobody measured it. */
  readonly maxRssBytes: number;
  /** Paths of the pages, unescaped. */
  readonly found: ReadonlySet<string>;
}

export interface Contestant {
  readonly name: string;
  readonly label: string;
  /** What is missing for it to take part; undefined: nothing. */
  readonly missing: string | undefined;
  /** Takes a minute or more for 10 000 pages: runs less often. */
  readonly slow: boolean;
  /** Crawls once; `scratch` is a folder that does not exist yet. */
  run(url: string, scratch: string): Crawled;
}

export interface ContestantOptions {
  /** Connections at one time. */
  readonly connections: number;
  /** Folder whose node_modules has `@crawlee/cheerio`; undefined: none. */
  readonly crawlee: string | undefined;
}

/** Ours first, then the rivals. */
export function contestants(options: ContestantOptions): Contestant[] {
  const { connections, crawlee } = options;
  const sockets = String(connections);
  return [
    {
      name: 'ours',
      label: 'Gatherer, summarized and stored',
      missing: undefined,
      slow: false,
      run: (url, scratch) =>
        node('full-crawl.js', scratch, [
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
      run: (url, scratch) => node('plain-crawl.js', scratch, ['--url', url, '--connections', sockets]),
    },
    {
      name: 'wget2',
      label: 'wget2, files saved',
      missing: missingProgram('wget2'),
      slow: false,
      run: (url, scratch) => {
        const measured = program('wget2', scratch, [
          ...['-q', '-r', '-l', 'inf', '--robots=off', '--max-threads=8', '--http2=off'],
          ...['-P', join(scratch, 'files'), url],
        ]);
        return { ...measured, ...savedPages(join(scratch, 'files')) };
      },
    },
    {
      name: 'httrack',
      label: 'httrack, files saved',
      missing: missingProgram('httrack'),
      slow: true,
      run: (url, scratch) => {
        const files = join(scratch, 'files');
        const measured = program('httrack', scratch, [
          ...[url, '-O', files, '--quiet', '--disable-security-limits', '--connection-per-second=10000'],
          ...[`--sockets=${sockets}`, '--max-rate=0', '--robots=0', '--near', '+127.0.0.1*'],
        ]);
        // Its own index and cache lie beside the folder of the site.
        const site = readdirSync(files).find((name) => name.startsWith('127.0.0.1')) ?? '';
        return { ...measured, ...savedPages(join(files, site)) };
      },
    },
    {
      name: 'crawlee',
      label: 'crawlee CheerioCrawler, in memory',
      missing: missingCrawlee(crawlee),
      slow: true,
      run: (url, scratch) =>
        node('crawl/crawlee-crawl.js', scratch, [
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

/** The path of a page as all of them write it: unescaped, without query, directories by their index. */
function pagePath(path: string): string {
  const bare = path.replace(/[?#].*$/s, '');
  let plain = bare;
  try {
    plain = decodeURIComponent(bare);
  } catch {
    // A stray percent sign stands for itself.
  }
  return plain.endsWith('/') ? `${plain}index.html` : plain;
}

/** Runs one of our programs, which says {pages, seconds, maxRssBytes} and writes the paths it found into a file. */
function node(script: string, scratch: string, args: readonly string[]): Crawled {
  mkdirSync(scratch, { recursive: true });
  const found = join(scratch, 'found');
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args, '--found', found], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stderr.slice(-2000)}`);
  const said = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Omit<Crawled, 'found'>;
  const paths = readFileSync(found, 'utf8').split('\n').filter(Boolean);
  return { ...said, found: new Set(paths.map(pagePath)) };
}

/** Runs somebody else's program under time(1), when that is there. */
export function program(
  name: string,
  scratch: string,
  args: readonly string[],
): { readonly seconds: number; readonly maxRssBytes: number } {
  mkdirSync(scratch, { recursive: true });
  const memory = join(scratch, 'memory');
  const timed = isInstalled('time');
  const words = timed ? ['time', '-f', '%M', '-o', memory, name, ...args] : [name, ...args];
  const begin = performance.now();
  // Broken links give exit statuses of their own; what counts is what was found.
  const { error } = spawnSync(words[0]!, words.slice(1), { stdio: 'ignore', cwd: scratch });
  if (error !== undefined) throw error;
  const seconds = (performance.now() - begin) / 1000;
  const kilobytes = timed ? Number(readFileSync(memory, 'utf8').trim().split('\n').at(-1)) : 0;
  return { seconds, maxRssBytes: kilobytes * 1024 };
}

/** Pages of HTML below a folder that a program saved a site into. */
export function savedPages(folder: string): { readonly pages: number; readonly found: ReadonlySet<string> } {
  const found = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.html?$/i.test(entry.name)) continue;
    const path = relative(folder, join(entry.parentPath, entry.name));
    // Programs that keep the host's name as a folder.
    found.add(pagePath(`/${path.replace(/^127\.0\.0\.1[^/]*\//, '')}`));
  }
  rmSync(join(folder, 'hts-cache'), { recursive: true, force: true });
  return { pages: found.size, found };
}

function missingProgram(name: string): string | undefined {
  return isInstalled(name) ? undefined : `${name} is not installed`;
}

function missingCrawlee(directory: string | undefined): string | undefined {
  if (directory === undefined) return 'no --crawlee DIR (a folder whose node_modules has @crawlee/cheerio)';
  if (!existsSync(join(directory, 'node_modules', '@crawlee', 'cheerio')))
    return `${directory}/node_modules has no @crawlee/cheerio`;
  return undefined;
}

/** The module's file, as a program in that folder would find it. */
export function moduleIn(directory: string, name: string): string {
  return createRequire(join(directory, 'program.js')).resolve(name);
}
