import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { configFromRoots } from '../all-in-one/index.js';
import { MIRROR_DATA, Mirror, type MirrorReport } from '../gatherer/mirror/index.js';
import { createLogger, StopSignal } from '../host/index.js';
import { EXIT } from './exit.js';
import { GatherProgress } from './gather-progress.js';
import { countOption, integerOption, secondsOption } from './option-values.js';

const HELP = `
Copies the documents that can be reached from each ROOT into DIRECTORY: the host, then the path of the URL. A ROOT is a URL or a
Gatherer's configuration file; robots.txt and the delay between contacts are obeyed. Images and all other types are copied too.

Beside the files, in DIRECTORY/${MIRROR_DATA}, are the summaries with full text, ready for
"harvest gatherd -d DIRECTORY/${MIRROR_DATA}", and log.gatherer and log.errors.

A further run asks whether documents have changed, and fetches only what did, once their Refresh-Rate is over (a week;
--check asks at once). A file that you deleted is fetched again. A run that was stopped or killed goes on where it was.
Files whose documents are gone are counted as stale; --delete removes them: those that the server calls gone, and, when
nothing failed and no limit was reached, those that nothing links to any more.

Examples:
  harvest mirror http://www.example.org/ ./copy
  harvest mirror --urls 5000 --delay 0.5 http://a.example.org/ http://b.example.org/ ./copies
  harvest mirror --check --delete http://www.example.org/ ./copy      like rsync: what is gone there goes here
  harvest mirror sample.cf ./copy                                     RootNodes with their own limits and filters

Exit status: 0 done, every document; 1 some documents failed, or it could not be done; 2 usage; 130 stopped.
`;

/** G-32 knows no "unlimited". */
const MANY_URLS = 1_000_000;
const MEBIBYTE = 1024 * 1024;

interface MirrorCliOptions {
  readonly delete: boolean;
  readonly check: boolean;
  readonly urls: number;
  readonly hosts: number;
  readonly depth: number;
  readonly delay?: number;
  readonly connections: number;
  readonly maxSize: number;
  readonly json: boolean;
}

/** `harvest mirror ROOT... DIRECTORY` (G-8). */
export function mirrorCommand(): Command {
  return new Command('mirror')
    .description('Keeps a copy of the documents of sites as files, with their summaries.')
    .argument('<root-and-directory...>', 'what to mirror: URLs or configuration files; then where')
    .option('--delete', 'remove files whose documents are gone', false)
    .option('--check', 'ask about documents whose Refresh-Rate is not over, too', false)
    .option('--urls <number>', 'URLs of each ROOT at most', countOption, MANY_URLS)
    .option('--hosts <number>', 'hosts of each ROOT at most', countOption, 1)
    .option('--depth <steps>', 'steps from each ROOT; 0 = no limit', integerOption, 0)
    .option('--delay <seconds>', 'between contacts with a server (default: 1; local files 0)', secondsOption)
    .option('--connections <number>', 'connections a host; more than 1 is for your own hosts', countOption, 1)
    .option('--max-size <MiB>', 'larger documents are left out, with an error in the log', countOption, 64)
    .option('--json', 'print the counts as one JSON line', false)
    .addHelpText('after', HELP)
    .action(async (words: string[], options: MirrorCliOptions) => {
      process.exitCode = await mirror(words, options);
    });
}

async function mirror(words: readonly string[], options: MirrorCliOptions): Promise<number> {
  const directory = resolve(words.at(-1) ?? '');
  const roots = words.slice(0, -1);
  if (roots.length === 0) throw new UsageError('at least one ROOT and a DIRECTORY are wanted');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words.at(-1) ?? ''))
    throw new UsageError('the last word is the directory to write to, not a URL');
  const data = join(directory, MIRROR_DATA);
  await mkdir(data, { recursive: true });
  const { config, warnings } = configFromRoots(roots, options, data);
  for (const { message } of warnings) process.stderr.write(`warning: ${message}\n`);

  using stop = new StopSignal();
  const log = createLogger({ program: 'essence', file: join(data, 'log.gatherer') });
  const errors = createLogger({ program: 'essence', file: join(data, 'log.errors') });
  let report: MirrorReport;
  try {
    using progress = new GatherProgress();
    await using copy = await Mirror.open({
      directory,
      config: {
        ...config,
        gathererName: `Mirror of ${roots.join(' ')}`,
        gathererHost: hostname(),
        maxRetrievalSize: options.maxSize * MEBIBYTE,
      },
      delete: options.delete,
      gatherer: { queuesPerHost: options.connections, force: options.check },
      logs: { log, errors },
    });
    progress.phase('gather');
    report = await copy.run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    process.stderr.write('mirror: stopped; what was copied is kept, the next run goes on from here\n');
    return EXIT.interrupted;
  }
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : sentence(report, options, data));
  return report.gathered.counts.failed > 0 ? EXIT.failure : EXIT.ok;
}

function sentence(report: MirrorReport, options: MirrorCliOptions, data: string): string {
  const { gathered, written, writtenBytes, stale, deleted, complete } = report;
  const { summarized, unchanged, kept, failed } = gathered.counts;
  const lines = [
    `${gathered.resumed ? 'Went on' : 'Mirrored'}: ${written} files written (${(writtenBytes / MEBIBYTE).toFixed(1)} MiB); ${summarized} documents new or changed, ${unchanged} unchanged, ${kept} not due, ${failed} failed in ${gathered.seconds.toFixed(1)} s`,
  ];
  if (deleted > 0) lines.push(`Deleted: ${deleted} files whose documents are gone`);
  if (stale > deleted)
    lines.push(`Stale: ${stale - deleted} files whose documents are gone; --delete removes them`);
  if (options.delete && !complete)
    lines.push('Not everything was seen, so only what servers call gone was deleted');
  if (failed > 0) lines.push(`Errors: ${join(data, 'log.errors')}`);
  return `${lines.join('\n')}\n`;
}
