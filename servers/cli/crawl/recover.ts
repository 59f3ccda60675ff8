import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { configFromRoots } from '../../all-in-one/index.js';
import { listCheckpoints, restoreCheckpoint } from '../../crawler/checkpoint.js';
import { number } from '../../crawler/console/labels.js';
import { orderOf } from '../../gatherer/gatherer.js';
import { recoverJournal } from '../../gatherer/recover-journal.js';
import { StopSignal } from '../../host/index.js';
import { EXIT } from '../exit.js';
import { StandardOutput } from '../standard-output.js';
import { checkpointsOf } from './checkpoints.js';
import { exitStatus, gathererOf } from './find-crawl.js';

const HELP = `
With the name of a checkpoint ("newest" for the last one) the crawl goes back to it: store, queues, seen URIs, counters. The
checkpoint can be used again; what was there before is kept beside it, under the names that are printed. The crawl must not run;
start it again afterwards, as before.

With --journal a new run of the configuration file WHAT is made from a recovery journal: what the journal says is finished counts
as seen, what was queued is queued if the RootNodes and the scope still take it. Give all parts, the oldest first. Then start the
Gatherer. A crawl that was merely killed needs neither: it goes on by itself.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl recover cp00007-20261121183000 --data DIR
  harvest crawl recover --journal logs/recover.gz.cp00001-20261121183000 logs/recover.gz --data DIR sample.cf

Exit status: 0 done, 1 the checkpoint is damaged or the crawl runs, 2 usage or configuration.
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
    .summary('go back to a checkpoint, or make a run from a recovery journal')
    .description('Goes back to a checkpoint, or makes a run from a recovery journal.')
    .argument('<what>', 'name of a checkpoint, or newest; with --journal: the configuration file')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--journal <file...>', 'parts of a recovery journal, the oldest first')
    .option('--retain-failures', 'with --journal: what failed is not tried again', false)
    .option('--replace', 'with --journal: drop a run that was interrupted', false)
    .option('--json', 'print what came of it as one JSON line', false)
    .addHelpText('after', HELP)
    .action(async (what: string, options: RecoverCommandOptions) => {
      process.exitCode = await exitStatus(() =>
        options.journal === undefined
          ? fromCheckpoint(what, options)
          : fromJournal(what, options.journal, options),
      );
    });
}

async function fromCheckpoint(what: string, { data, json }: RecoverCommandOptions): Promise<number> {
  const gatherer = await gathererOf(data);
  const directory = checkpointsOf(gatherer);
  const name = what === 'newest' ? (await listCheckpoints(directory)).at(-1) : what;
  if (name === undefined) throw new UsageError(`crawl: there are no checkpoints in ${directory}`);
  const restored = await restoreCheckpoint(gatherer, directory, name);
  const { queued, succeeded } = restored.checkpoint;
  const lines = [
    `The crawl is where it was at ${name}: ${number(succeeded)} succeeded, ${number(queued)} queued.`,
    ...restored.former.map((path) => `What was there before is ${path}; remove it when it is not needed.`),
    'Start the Gatherer as before: it goes on from there.',
  ];
  await new StandardOutput().write(json ? `${JSON.stringify(restored)}\n` : `${lines.join('\n')}\n`);
  return EXIT.ok;
}

async function fromJournal(
  file: string,
  journals: readonly string[],
  { data, json, retainFailures, replace }: RecoverCommandOptions,
): Promise<number> {
  const { config, warnings } = configFromRoots([resolve(file)], {}, data);
  for (const { message } of warnings) process.stderr.write(`warning: ${message}\n`);
  const order = await orderOf(config, ({ message }) => process.stderr.write(`warning: ${message}\n`));
  using stop = new StopSignal({ reason: () => new UsageError('crawl: stopped; nothing is recovered') });
  const recovered = await recoverJournal({
    directory: await gathererOf(data),
    config,
    order,
    configFile: file,
    journals,
    retainFailures,
    replace,
    signal: stop.signal,
    onDamage: ({ message }) => process.stderr.write(`warning: ${message}; what is behind it is lost\n`),
    progress: ({ pass, lines }) => {
      if (process.stderr.isTTY) process.stderr.write(`pass ${pass} of 2: ${number(lines)} lines\n`);
    },
  });
  const { noted, queued, outOfScope, badLines } = recovered;
  const lines = [
    `${number(noted)} URIs count as seen, ${number(queued)} are queued; ${number(outOfScope)} times the scope said no, ${number(badLines)} lines were none of a journal.`,
    `Now run: harvest gatherer ${file} --data ${data}`,
  ];
  await new StandardOutput().write(json ? `${JSON.stringify(recovered)}\n` : `${lines.join('\n')}\n`);
  return EXIT.ok;
}
