import { join } from 'node:path';
import { listCheckpoints, readCheckpointInfo, verifyCheckpoint } from '../../../crawler/checkpoint.js';
import type { CheckpointInfo } from '../../../crawler/control.js';
import { formatNumber } from '../../../crawler/values.js';
import { byteSize } from '../../../web/values.js';
import { complain, EXIT, isExpected } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';
import { crawlAction, gathererOf } from '../find-crawl.js';
import { TextTable } from '../tables.js';

interface Row {
  readonly name: string;
  /** Undefined if the manifest cannot be read. */
  readonly info: CheckpointInfo | undefined;
  /** Empty if the checkpoint can be used. */
  readonly problem: string;
}

/** Returns the directory of a Gatherer's checkpoints. */
export function checkpointsOf(gatherer: string): string {
  return join(gatherer, 'crawl', 'checkpoints');
}

const TABLE = new TextTable<Row>([
  ['CHECKPOINT', 23, ({ name }) => name],
  ['TAKEN', 24, ({ info }) => (info === undefined ? '' : new Date(info.time).toISOString())],
  ['QUEUED', -10, ({ info }) => (info === undefined ? '' : formatNumber(info.queued))],
  ['SUCCEEDED', -10, ({ info }) => (info === undefined ? '' : formatNumber(info.succeeded))],
  ['RECEIVED', -10, ({ info }) => (info === undefined ? '' : byteSize(info.bytes))],
  ['', 0, ({ problem }) => problem],
]);

/** The action of `harvest crawl checkpoints`. */
export const checkpoints = crawlAction(
  async ({
    data,
    verify,
    json,
  }: {
    readonly data: string;
    readonly verify: boolean;
    readonly json: boolean;
  }) => {
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
  },
);

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
