// Runs `harvest` commands on a disk whose nth change fails, for a sample of every n.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliProcess, type Finished } from '../helpers/cli.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import type { Teardown } from '../helpers/temporary-directory.js';
import { buildShim, fastDirectory, shimEnvironment } from './shim.js';

/** What is wrong with the disk. */
type Fault = 'ENOSPC' | 'EDQUOT' | 'EIO' | 'EROFS';

/** From which change on which fault occurs. */
export interface FaultPoint {
  readonly fault: Fault;
  readonly at: number;
  /** Reads are counted and fail instead of changes. Default false. */
  readonly reads?: boolean;
}

/** How a message tells what was wrong with the disk. */
export const FAULT_SENTENCE =
  /ENOSPC|EDQUOT|EIO|EROFS|[Nn]o space left|disk is full|[Ii]\/O error|[Rr]ead-only|IO error/;
/** What no user should see. */
export const CRASH =
  /internal error|\n {4}at |UnhandledPromise|uncaught|TypeError|RangeError|AssertionError|suppressed during disposal|ConnectionFailed|Unknown system error/i;

/** Starts commands whose changes below one directory fail. */
export class FaultSweep {
  /** Where the changes fail. */
  readonly root: string;
  readonly #place: string;
  readonly #shim: string;
  #commands = 0;

  private constructor(place: string, shim: string) {
    this.#place = place;
    this.#shim = shim;
    this.root = join(place, 'root');
  }

  /** @returns undefined, with a comment of the test, if the shim cannot be built here */
  static async create(t: Teardown & { comment(text: string): void }): Promise<FaultSweep | undefined> {
    const place = await fastDirectory(t);
    const shim = await buildShim(place);
    if (shim !== undefined) return new FaultSweep(place, shim);
    t.comment('gcc is missing: failing disks are not examined');
    return undefined;
  }

  /** Starts a command. Without a point nothing fails. */
  async start(args: readonly string[], point?: FaultPoint, reads = point?.reads): Promise<CliProcess> {
    await rm(this.#remoteFile, { force: true });
    const variables = await shimEnvironment({ shim: this.#shim, root: this.root });
    return new CliProcess(args, {
      ...variables,
      HARVEST_DISK_REMOTE: this.#remoteFile,
      HARVEST_DISK_COUNT: this.#countFile,
      ...(reads === true && { HARVEST_DISK_READS: '1' }),
      ...(point !== undefined && {
        HARVEST_DISK_ERRNO: point.fault,
        HARVEST_DISK_FAIL_AT: String(point.at),
      }),
    });
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], point?: FaultPoint): Promise<Finished> {
    return (await this.start(args, point)).finished;
  }

  /** Running commands obey this file. */
  get #remoteFile(): string {
    return join(this.#place, 'remote');
  }

  get #countFile(): string {
    return join(this.#place, 'count');
  }

  /** From the nth change on, counted from now, the changes of the running commands fail. */
  fail({ fault, at }: FaultPoint): Promise<void> {
    return this.#command(`fail ${at} ${fault}`);
  }

  /** From now on changes succeed. */
  mend(): Promise<void> {
    return this.#command('ok');
  }

  async #command(command: string): Promise<void> {
    await writeFile(`${this.#remoteFile}.new`, `${++this.#commands} ${command}\n`);
    await rename(`${this.#remoteFile}.new`, this.#remoteFile);
  }

  /** The number of changes that a command makes, or of its reads. */
  async changesOf(args: readonly string[], reads = false): Promise<number> {
    await rm(this.#countFile, { force: true });
    const { code, stderr } = await (await this.start(args, undefined, reads)).finished;
    if (code !== 0) throw new Error(`${args[0]} failed (${code}): ${stderr}`);
    return this.counted();
  }

  /** The largest number of changes of a process that has ended. */
  async counted(): Promise<number> {
    return Math.max(...(await readFile(this.#countFile, 'utf8')).trim().split('\n').map(Number));
  }
}

/**
 * A sample of the numbers from 1 to `last`, evenly spread. `SWEEP_POINTS` replaces `count`, for a longer sweep
 * by hand.
 */
export function sample(last: number, count: number): number[] {
  return new Random(SEED).sample(last, Number(process.env.SWEEP_POINTS ?? count)).map((index) => index + 1);
}

/** Waits until a program prints a text. @returns false if it ends first */
export function printed(program: CliProcess, pattern: RegExp): Promise<boolean> {
  return Promise.any([program.output(pattern), program.output(pattern, 'stderr')])
    .then(Boolean)
    .catch(() => false);
}
