import { resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { configFromRoots } from '../../../all-in-one/roots.js';
import { listCheckpoints, restoreCheckpoint } from '../../../crawler/checkpoint.js';
import { formatNumber } from '../../../crawler/values.js';
import { readConfiguredOrder } from '../../../gatherer/configuration/order-seeds.js';
import { type RecoveredJournal, recoverJournal } from '../../../gatherer/run/recover-journal.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, EXIT } from '../../output/exit.js';
import { writeMessage } from '../../output/printable.js';
import { Progress } from '../../output/progress.js';
import { printResult } from '../../output/standard-output.js';
import { crawlAction, gathererOf } from '../find-crawl.js';
import { checkpointsOf } from './checkpoints.js';

interface RecoverCommandOptions {
  readonly data: string;
  readonly journal?: readonly string[];
  readonly retainFailures: boolean;
  readonly replace: boolean;
  readonly json: boolean;
}

/** The action of `harvest crawl recover`. */
export const recover = crawlAction((target: string, options: RecoverCommandOptions) =>
  options.journal === undefined
    ? recoverFromCheckpoint(target, options)
    : recoverFromJournal(target, options.journal, options),
);

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
  await printResult({ json }, restored, `${lines.join('\n')}\n`);
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
  await printResult({ json }, recovered, `${lines.join('\n')}\n`);
  return EXIT.ok;
}
