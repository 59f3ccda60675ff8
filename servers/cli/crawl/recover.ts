import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { configFromRoots } from '../../all-in-one/index.js';
import { listCheckpoints, restoreCheckpoint } from '../../crawler/checkpoint.js';
import { formatNumber } from '../../crawler/console/labels.js';
import { readConfiguredOrder } from '../../gatherer/gatherer.js';
import { type RecoveredJournal, recoverJournal } from '../../gatherer/recover-journal.js';
import { StopSignal } from '../../host/index.js';
import { complain, EXIT } from '../exit.js';
import { writeMessage } from '../printable.js';
import { Progress } from '../progress.js';
import { StandardOutput } from '../standard-output.js';
import { checkpointsOf } from './checkpoints.js';
import { exitStatus, gathererOf } from './find-crawl.js';

const HELP = `
With the name of a checkpoint ("newest" for the last one) the crawl returns to it: store, queues, seen URIs, counters. The
checkpoint stays usable; the previous state is kept under the printed names. The crawl must be stopped; start it again
as before.

With --journal a new run of the configuration file WHAT is created from a recovery journal: finished URIs of the journal count
as seen, queued ones are queued if the RootNodes and the scope still accept them. Give all parts, the oldest first, then start
the Gatherer. A crawl that was only killed needs neither: its next run continues.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl recover cp00007-20261121183000 --data DIR
  harvest crawl recover --journal logs/recover.gz.cp00001-20261121183000 logs/recover.gz --data DIR sample.cf

Exit status: 0 done; 1 the checkpoint is damaged or the crawl runs; 2 usage or configuration; 130 stopped.
`;

interface RecoverCommandOptions {
  readonly data: string;
  readonly journal?: readonly string[];
  readonly retainFailures: boolean;
  readonly replace: boolean;
  readonly json: boolean;
}

/** `harvest crawl recover CHECKPOINT`, `harvest crawl recover --journal FILE... CONFIGURATION` (CRAWL-17.1.2, 17.2.2). */
export function recoverCommand(): Command {
  return new Command('recover')
    .summary('restore a checkpoint, or create a run from a recovery journal')
    .description('Restores a checkpoint, or creates a run from a recovery journal.')
    .argument('<what>', 'name of a checkpoint, or newest; with --journal: the configuration file')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--journal <file...>', 'parts of a recovery journal, the oldest first')
    .option('--retain-failures', 'with --journal: do not retry failed URIs', false)
    .option('--replace', 'with --journal: discard an interrupted run', false)
    .option('--json', 'print the result as one JSON line', false)
    .addHelpText('after', HELP)
    .action(async (target: string, options: RecoverCommandOptions) => {
      process.exitCode = await exitStatus(() =>
        options.journal === undefined
          ? recoverFromCheckpoint(target, options)
          : recoverFromJournal(target, options.journal, options),
      );
    });
}

async function recoverFromCheckpoint(target: string, { data, json }: RecoverCommandOptions): Promise<number> {
  const gatherer = await gathererOf(data);
  const directory = checkpointsOf(gatherer);
  const name = target === 'newest' ? (await listCheckpoints(directory)).at(-1) : target;
  if (name === undefined) throw new UsageError(`crawl: there are no checkpoints in ${directory}`);
  const restored = await restoreCheckpoint(gatherer, directory, name);
  const { queued, succeeded } = restored.checkpoint;
  const lines = [
    `The crawl is restored to ${name}: ${formatNumber(succeeded)} succeeded, ${formatNumber(queued)} queued.`,
    ...restored.former.map((path) => `The previous state is ${path}; remove it if you do not need it.`),
    'Start the Gatherer as before: it continues from there.',
  ];
  await new StandardOutput().write(json ? `${JSON.stringify(restored)}\n` : `${lines.join('\n')}\n`);
  return EXIT.ok;
}

async function recoverFromJournal(
  file: string,
  journals: readonly string[],
  { data, json, retainFailures, replace }: RecoverCommandOptions,
): Promise<number> {
  const { config, warnings } = configFromRoots([resolve(file)], {});
  for (const { message } of warnings) writeMessage(`warning: ${message}`);
  const order = await readConfiguredOrder(config, ({ message }) => writeMessage(`warning: ${message}`));
  using stop = new StopSignal({ limit: { program: 'harvest crawl recover' } });
  let recovered: RecoveredJournal;
  try {
    using progress = new Progress({ format: 'crawl: pass {pass} of 2, {value} lines, {rate}/s' });
    recovered = await recoverJournal({
      directory: await gathererOf(data),
      config,
      order,
      configFile: file,
      journals,
      retainFailures,
      replace,
      signal: stop.signal,
      onDamage: ({ message }) => writeMessage(`warning: ${message}; the rest of the file is lost`),
      progress: ({ pass, lines }) => progress.update(lines, lines, { pass }),
    });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    complain('crawl', 'stopped; nothing is recovered');
    return EXIT.interrupted;
  }
  const { noted, queued, outOfScope, badLines } = recovered;
  const lines = [
    `${formatNumber(noted)} URIs count as seen, ${formatNumber(queued)} are queued; ${formatNumber(outOfScope)} are out of scope, ${formatNumber(badLines)} lines are not valid.`,
    `Now run: harvest gatherer ${file} --data ${data}`,
  ];
  await new StandardOutput().write(json ? `${JSON.stringify(recovered)}\n` : `${lines.join('\n')}\n`);
  return EXIT.ok;
}
