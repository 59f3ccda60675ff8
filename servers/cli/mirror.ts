import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { DEFAULT_DELAY } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { configFromRoots } from '../all-in-one/index.js';
import { MIRROR_DATA, Mirror, type MirrorReport } from '../gatherer/mirror/index.js';
import { createLogger, StopSignal } from '../host/index.js';
import { EXIT } from './exit.js';
import { GatherProgress } from './gather-progress.js';
import { countOption, integerOption, secondsOption } from './option-values.js';
import { printableJson, writeMessage } from './printable.js';

const HELP = `
Copies all documents that links reach from each ROOT into DIRECTORY, as HOST/PATH of their URLs. A ROOT is a URL or a
Gatherer's configuration file. robots.txt and the delay between requests are obeyed. Documents of all types are copied.

DIRECTORY/${MIRROR_DATA} contains the summaries with full text, for "harvest gatherd -d DIRECTORY/${MIRROR_DATA}", and the
logs log.gatherer and log.errors.

The next run checks the documents whose Refresh-Rate has passed (a week; --check: all) and fetches only changed ones. A file
that you deleted is fetched again. A run that was stopped or killed continues. Files whose documents no longer exist are
counted as stale; --delete removes them: those that the server reports as gone and, if nothing failed and no limit was
reached, those without any link to them.

Examples:
  harvest mirror http://www.example.org/ ./copy
  harvest mirror --urls 5000 --delay 0.5 http://a.example.org/ http://b.example.org/ ./copies
  harvest mirror --check --delete http://www.example.org/ ./copy      like rsync: files removed there are removed here
  harvest mirror sample.cf ./copy                                     RootNodes with their own limits and filters

Exit status: 0 all documents are copied; 1 some documents failed, or the run failed; 2 usage; 130 stopped.
`;

/** The default of --urls: G-32 has no value for "unlimited". */
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
    .argument('<root-and-directory...>', 'URLs or configuration files to mirror; then the directory')
    .option('--delete', 'remove files whose documents no longer exist', false)
    .option('--check', 'also check documents that are not yet due (Refresh-Rate)', false)
    .option('--urls <number>', 'maximum number of URLs of each ROOT', countOption, MANY_URLS)
    .option('--hosts <number>', 'maximum number of hosts of each ROOT', countOption, 1)
    .option('--depth <steps>', 'maximum number of steps from each ROOT; 0 = no limit', integerOption, 0)
    .option(
      '--delay <seconds>',
      `time between requests to a server (default: ${DEFAULT_DELAY}; local files 0)`,
      secondsOption,
    )
    .option(
      '--connections <number>',
      'connections per host; more than 1 only for your own hosts',
      countOption,
      1,
    )
    .option('--max-size <MiB>', 'skip larger documents, with an error in the log', countOption, 64)
    .option('--json', 'print the counts as one JSON line', false)
    .addHelpText('after', HELP)
    .action(async (operands: string[], options: MirrorCliOptions) => {
      process.exitCode = await mirror(operands, options);
    });
}

async function mirror(operands: readonly string[], options: MirrorCliOptions): Promise<number> {
  const directory = resolve(operands.at(-1) ?? '');
  const roots = operands.slice(0, -1);
  if (roots.length === 0) throw new UsageError('at least one ROOT and a DIRECTORY are required');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(operands.at(-1) ?? ''))
    throw new UsageError('the last argument must be the directory to write to, not a URL');
  const data = join(directory, MIRROR_DATA);
  await createDirectory(data);
  const { config, warnings } = configFromRoots(roots, options);
  for (const { message } of warnings) writeMessage(`warning: ${message}`);

  using stop = new StopSignal({ limit: { program: 'mirror' } });
  // G-145: these logs contain the messages of Essence, in the original and in `harvest gatherer`.
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
    progress.showPhase('gather');
    report = await copy.run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    process.stderr.write('mirror: stopped; the copied files are kept, and the next run continues\n');
    return EXIT.interrupted;
  }
  process.stdout.write(options.json ? `${printableJson(report)}\n` : reportText(report, options, data));
  return report.gathered.counts.failed > 0 ? EXIT.failure : EXIT.ok;
}

function reportText(report: MirrorReport, options: MirrorCliOptions, data: string): string {
  const { gathered, written, writtenBytes, stale, deleted, complete } = report;
  const { summarized, unchanged, kept, failed } = gathered.counts;
  const lines = [
    `${gathered.resumed ? 'Continued' : 'Mirrored'}: ${written} files written (${(writtenBytes / MEBIBYTE).toFixed(1)} MiB); ${summarized} documents new or changed, ${unchanged} unchanged, ${kept} not due, ${failed} failed in ${gathered.seconds.toFixed(1)} s`,
  ];
  if (deleted > 0) lines.push(`Deleted: ${deleted} files whose documents no longer exist`);
  if (stale > deleted)
    lines.push(`Stale: ${stale - deleted} files whose documents no longer exist; --delete removes them`);
  if (options.delete && !complete)
    lines.push('The run did not see every document, so only files that servers report as gone were deleted');
  if (failed > 0) lines.push(`Errors: ${join(data, 'log.errors')}`);
  return `${lines.join('\n')}\n`;
}
