import { join } from 'node:path';
import { Command } from 'commander';
import { listCheckpoints, readCheckpointInfo, verifyCheckpoint } from '../../crawler/checkpoint.js';
import { formatNumber } from '../../crawler/console/labels.js';
import type { CheckpointInfo } from '../../crawler/control.js';
import { byteSize } from '../../web/values.js';
import { complain, EXIT, isExpected } from '../exit.js';
import { StandardOutput } from '../standard-output.js';
import { exitStatus, gathererOf } from './find-crawl.js';
import { TextTable } from './tables.js';

const HELP = `
Lists checkpoints, the newest last. A checkpoint is verified when it is taken; --verify repeats this: all files exist and are
unchanged, and the store opens. It reads every file and changes nothing.

Examples:
  harvest crawl checkpoints --data DIR
  harvest crawl checkpoints --data DIR --verify --json
  harvest crawl recover newest --data DIR          restore the last one

Exit status: 0 done; 1 a checkpoint is damaged; 2 usage.
`;

interface CheckpointsCommandOptions {
  readonly data: string;
  readonly verify: boolean;
  readonly json: boolean;
}

/** Returns the directory of a Gatherer's checkpoints. */
export function checkpointsOf(gatherer: string): string {
  return join(gatherer, 'crawl', 'checkpoints');
}

/** `harvest crawl checkpoints` (CRAWL-17.3). */
export function checkpointsCommand(): Command {
  return new Command('checkpoints')
    .summary('list and verify the checkpoints of a crawl')
    .description('Lists the checkpoints of a running or stopped crawl.')
    .option('--data <dir>', 'data directory of the crawl', './data')
    .option('--verify', 'check every file of each', false)
    .option('--json', 'JSON lines', false)
    .addHelpText('after', HELP)
    .action(async (options: CheckpointsCommandOptions) => {
      process.exitCode = await exitStatus(() => list(options));
    });
}

interface Row {
  readonly name: string;
  /** Undefined if the manifest cannot be read. */
  readonly info: CheckpointInfo | undefined;
  /** Empty if the checkpoint can be used. */
  readonly problem: string;
}

const TABLE = new TextTable<Row>([
  ['CHECKPOINT', 23, ({ name }) => name],
  ['TAKEN', 24, ({ info }) => (info === undefined ? '' : new Date(info.time).toISOString())],
  ['QUEUED', -10, ({ info }) => (info === undefined ? '' : formatNumber(info.queued))],
  ['SUCCEEDED', -10, ({ info }) => (info === undefined ? '' : formatNumber(info.succeeded))],
  ['RECEIVED', -10, ({ info }) => (info === undefined ? '' : byteSize(info.bytes))],
  ['', 0, ({ problem }) => problem],
]);

async function list({ data, verify, json }: CheckpointsCommandOptions): Promise<number> {
  const directory = checkpointsOf(await gathererOf(data));
  const output = new StandardOutput();
  const names = await listCheckpoints(directory);
  if (!json && names.length > 0) await output.write(`${TABLE.head()}\n`);
  let damaged = 0;
  for (const name of names) {
    const row = await examine(directory, name, verify);
    if (row.problem !== '') damaged++;
    const { info, problem } = row;
    const value = {
      name,
      ...info,
      ...(problem === '' ? {} : { problem }),
      ...(verify ? { whole: problem === '' } : {}),
    };
    if (!(await output.write(`${json ? JSON.stringify(value) : TABLE.row(row)}\n`))) break;
  }
  if (names.length === 0) complain('crawl', `there are no checkpoints in ${directory}`);
  if (damaged === 0) return EXIT.ok;
  complain('crawl', `${damaged} of ${names.length} checkpoints cannot be used`);
  return EXIT.failure;
}

async function examine(directory: string, name: string, verify: boolean): Promise<Row> {
  let info: CheckpointInfo | undefined;
  try {
    info = await readCheckpointInfo(directory, name);
    if (verify) await verifyCheckpoint(join(directory, name));
    return { name, info, problem: '' };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { name, info, problem: error.message };
  }
}
